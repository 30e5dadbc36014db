"""The example for Lightning trains: in reduced precision, compiled, in two processes, and saved."""

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from programs import printed_by
from torch import Tensor, nn
from torch.utils.data import DataLoader

from cheblienet_graphs import GraphSpec, StoreError
from cheblienet_graphs.assembly import pipeline
from cheblienet_models import BatchNorm

pytestmark = [
    # It counts cores; digits in memory need no processes that load them.
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
    # Its loops make a LeafSpec, which torch 2.13 deprecates.
    pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec"),
]
EXAMPLES = Path(__file__).parents[1] / "examples"
QUIET = {
    "accelerator": "cpu",
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
}
RANKS = """
import os
import sys

import lightning_digits as example
import torch

from cheblienet_graphs.assembly import pipeline
from cheblienet_models import BatchNorm

rank = os.environ.get("LOCAL_RANK", "0")  # the second process is started with one
if rank == "1":
    pipeline.build = None  # the first has built the graph
of_example = example.trained

def trained(model, **options):
    trainer = of_example(model, accelerator="cpu", **options)
    torch.save(model.state_dict(), f"example{rank}.pt")
    return trainer

example.trained = trained
example.main()

torch.manual_seed(int(rank))
model = example.Classifier(example.SPEC.to_dict(), "graphs.zarr")
for layer in model.modules():
    layer.train(not isinstance(layer, BatchNorm))
of_example(model, epochs=6, batch=1500, devices=2, accelerator="cpu", enable_checkpointing=False)
torch.save(model.state_dict(), f"whole{rank}.pt")
"""
"""The example, and then steps of all digits at once, which batch normalization does not see."""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, here: Path) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("lightning_digits")


def untrained(example: ModuleType) -> Any:
    torch.manual_seed(0)
    return example.Classifier(example.SPEC.to_dict(), "graphs.zarr")


def validation(example: ModuleType) -> tuple[Tensor, Tensor]:
    _, batches = example.loaders(200)
    [(images, labels)] = batches
    return images, labels


@torch.no_grad()
def evaluated(model: nn.Module, images: Tensor) -> Tensor:
    return model.eval()(images)


def test_training(example: ModuleType) -> None:
    images, labels = validation(example)
    model = untrained(example)
    before = nn.functional.nll_loss(evaluated(model, images), labels)
    trainer = example.trained(model.train(), epochs=3, **QUIET)
    after = evaluated(model, images)
    assert nn.functional.nll_loss(after, labels) < before / 2
    accuracy = (after.argmax(1) == labels).float().mean()
    assert accuracy > 0.6
    assert trainer.callback_metrics["accuracy"].item() == pytest.approx(accuracy.item())


def test_mixed_precision(example: ModuleType) -> None:
    """Weights and the Laplacian are of 32 bits."""
    images, _ = validation(example)
    model = untrained(example)
    trainer = example.trained(model, epochs=1, precision="bf16-mixed", **QUIET)
    assert {weights.dtype for weights in model.parameters()} == {torch.float32}
    assert model.network.pyramid.levels[0].laplacian.dtype == torch.float32
    [found] = trainer.predict(model, DataLoader(images, len(images)))
    assert found.dtype == torch.bfloat16
    assert found.isfinite().all()
    assert torch.allclose(found.float().exp(), evaluated(model, images).exp(), atol=0.05)


def same(one: dict[str, Tensor], other: dict[str, Tensor], **tolerance: float) -> bool:
    assert one.keys() == other.keys()
    return all(torch.allclose(one[name], other[name], **tolerance) for name in one)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Found 7 module.s. in eval mode")  # Lightning's, of `whole`
def test_two_processes(example: ModuleType, here: Path) -> None:
    """The second maps the graph, and gets the first one's weights before they train.

    Batch normalization takes the digits of its own process. Without it two processes have the
    weights of one that is trained with the same digits in each step.
    """
    Path("ranks.py").write_text(RANKS)
    environment = {"PYTHONPATH": str(EXAMPLES), "GLOO_SOCKET_IFNAME": "lo"}
    options = "--devices", 2, "--epochs", 1
    printed = printed_by("ranks.py", *options, cwd=here, env=os.environ | environment)
    assert printed.count("digits.ckpt: accuracy 0.") == 1
    first, second, *whole = (
        torch.load(f"{name}{rank}.pt") for name in ("example", "whole") for rank in (0, 1)
    )
    exactly = {"rtol": 0, "atol": 0}
    assert same(first, second, **exactly)
    assert same(first, torch.load("digits.ckpt")["state_dict"], **exactly)
    assert same(*whole, **exactly)
    model = untrained(example)
    at_first = {name: entries.clone() for name, entries in model.state_dict().items()}
    for layer in model.modules():
        layer.train(not isinstance(layer, BatchNorm))
    example.trained(model, epochs=6, batch=1500, **QUIET)
    assert same(whole[0], model.state_dict(), rtol=0, atol=1e-4)
    assert not same(whole[0], at_first, rtol=0, atol=1e-2)


def test_checkpoint(example: ModuleType, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded elsewhere it is the same network, on the graph of the same store."""
    images, _ = validation(example)
    model = untrained(example)
    file = here / "digits.ckpt"
    example.trained(model, epochs=1, **QUIET).save_checkpoint(file)
    other = GraphSpec("r2", 8, levels=1).to_dict()
    example.Classifier(other, "graphs.zarr")
    (here / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    monkeypatch.setattr(pipeline, "build", None)
    loaded = example.Classifier.load_from_checkpoint(file, weights_only=True)
    assert torch.equal(evaluated(loaded, images), evaluated(model, images))
    assert loaded.network.pyramid.identity == model.network.pyramid.identity
    assert [*Path().iterdir()] == []
    with pytest.raises(StoreError, match=r"was trained on r2-8x8-levels2@v001 .* is on r2-8x8@v"):
        example.Classifier.load_from_checkpoint(file, weights_only=True, spec=other)


def test_checkpoint_has_no_graph(example: ModuleType, here: Path) -> None:
    model = untrained(example)
    file = here / "digits.ckpt"
    example.trained(model, epochs=1, limit_train_batches=1, **QUIET).save_checkpoint(file)
    saved = torch.load(file, weights_only=True)
    assert saved["hyper_parameters"] == {
        "spec": example.SPEC.to_dict(),
        "store": str(here / "graphs.zarr"),
        "rate": 2e-2,
    }
    weights = {name for name, _ in (*model.named_parameters(), *model.named_buffers())}
    more = saved["state_dict"].keys() - weights
    assert all(name.endswith("._extra_state") for name in more)
    assert max(saved["state_dict"][name].nbytes for name in more) < 1000
    written = file.read_bytes()
    assert model.network.conv.weight.detach().numpy().tobytes() in written
    for graph in model.network.pyramid.levels:
        assert graph.laplacian.values()[:16].numpy().tobytes() not in written


def recorder(losses: list[float]) -> Any:
    """A callback that appends the loss of each step."""
    from lightning.pytorch.callbacks import LambdaCallback  # takes seconds to import

    def append(_trainer: object, _module: object, outputs: Any, *_: object) -> None:
        losses.append(outputs["loss"].item())

    return LambdaCallback(on_train_batch_end=append)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["network", "module"])
def test_compiled(example: ModuleType, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """As without, in place or as a whole; then the names of weights are the same, too."""
    if part == "module":  # what Lightning's `log` looks at can't be compiled by torch 2.13
        monkeypatch.setattr(example.Classifier, "log", lambda *_, **__: None)
    how: dict[str, Any] = {"backend": "aot_eager"}
    plain, compiled = list[float](), list[float]()
    short = {"epochs": 1, "limit_train_batches": 4, "limit_val_batches": 1, **QUIET}
    example.trained(untrained(example), callbacks=[recorder(plain)], **short)
    model = untrained(example)
    names = [*model.state_dict()]
    if part == "network":
        model.network.compile(fullgraph=True, **how)
    whole = torch.compile(model, **how) if part == "module" else model
    example.trained(whole, callbacks=[recorder(compiled)], **short)
    assert plain[-1] < plain[0]
    assert compiled == pytest.approx(plain, abs=1e-4)
    assert [*model.state_dict()] == names
