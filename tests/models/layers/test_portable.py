"""Modules that leave the process: exported, decomposed, saved, as ONNX, traced."""

import functools
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from masked import images_on
from torch import nn

from cheblienet_models import (
    ChebConv,
    Gradient,
    Graph,
    Lift,
    Modulus,
    OrientedLift,
    Pyramid,
    Store,
    UNet,
    WideResNet,
    open_store,
    portable,
)

# Of torch's own, in its decompositions.
pytestmark = pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")


def convolved(pyramid: Pyramid, *sizes: tuple[int, int, int], **kind: Any) -> nn.Module:
    """A lift and convolutions, by channels and kernel sizes."""
    finest = pyramid.levels[0]
    return nn.Sequential(Lift(finest), *(ChebConv(*size, finest, **kind) for size in sizes))


class Lowered(nn.Module):
    """Divergence and curl."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.gradient = Gradient(graph, spin=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gradient(x)[1]


MODULES: dict[str, Callable[[Pyramid], nn.Module]] = {
    "unet": lambda p: UNet(p, 2, 3, kernel_size=3, channels=(3, 4, 5)),
    "wide": lambda p: WideResNet(p, 2, 3, kernel_size=2, depth=1, widen=1),
    "basis": lambda p: convolved(p, (2, 5, 4), (5, 2, 1), save_basis=True),
    "filters": lambda p: nn.Sequential(
        OrientedLift(p.levels[0], scales=2), ChebConv(4, 4, 3, p.levels[0])
    ),
    "directional": lambda p: convolved(p, (2, 3, 3), operators="directional"),
    "winds": lambda p: nn.Sequential(
        Lift(p.levels[0]),
        ChebConv(1, 2, 3, p.levels[0], spin=1),
        Modulus(2),
        ChebConv(2, 1, 3, p.levels[0], spin=1, low_pass=True, handed=False),
        Lowered(p.levels[0]),
    ),
    "arrows": lambda p: convolved(p, (2, 3, 3), operators="first-order", low_pass=True),
}
ON_MASKS = {"unet": "ring", "wide": "healpix"}


def made(pyramid: Pyramid, name: str) -> nn.Module:
    module = MODULES[name](pyramid)
    module(images_on(pyramid, 4))  # so that running statistics are not at their start
    return module.eval()


Exported = tuple[Pyramid, nn.Module, torch.export.ExportedProgram, torch.export.ExportedProgram]


@pytest.fixture(scope="module")
def exported(
    store: Path, masked_graphs: Path, directional: Store, gradient_graphs: Store
) -> Callable[[str], Exported]:
    """A module, its program for batches of any size and the portable one, made once."""

    @functools.cache
    def of(name: str) -> Exported:
        whole = directional["whole"] if name == "directional" else open_store(store)["torus"]
        graphs = {"arrows": "arrows", "winds": "sphere"}
        whole = gradient_graphs[graphs[name]] if name in graphs else whole
        pyramid = open_store(masked_graphs)[ON_MASKS[name]] if name in ON_MASKS else whole
        module = made(pyramid, name)
        dimensions = ({0: torch.export.Dim("batch", min=1, max=64)},)
        program = torch.export.export(module, (images_on(pyramid),), dynamic_shapes=dimensions)
        return pyramid, module, program, portable(program)

    return of


def operators(program: torch.export.ExportedProgram) -> set[str]:
    targets = (node.target for node in program.graph.nodes if node.op == "call_function")
    return {t.namespace for t in targets if isinstance(t, torch._ops.OpOverload)}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_programs_compute_the_same_and_portable_ones_with_torchs_operators(
    exported: Callable[[str], Exported], name: str
) -> None:
    pyramid, module, program, plain = exported(name)
    assert operators(program) == {"aten", "cheblienet_models"}
    assert operators(plain) == {"aten"}
    for count in (1, 3):
        images = images_on(pyramid, count)
        expected = module(images).nan_to_num()
        for each in (program, plain):
            difference = each.module()(images).nan_to_num() - expected
            assert difference.abs().max() <= 1e-5 * max(1, expected.abs().max())


def test_portable_programs_in_double_precision(pyramid: Pyramid) -> None:
    network, images = made(pyramid, "basis").double(), images_on(pyramid).double()
    plain = portable(torch.export.export(network, (images,)))
    assert torch.allclose(plain.module()(images), network(images), rtol=1e-12, atol=1e-12)


LOAD = """
import sys, torch
from pathlib import Path
folder = Path(sys.argv[1])
program = torch.export.load(folder / "portable.pt2")
torch.save(program.module()(torch.load(folder / "images.pt")), folder / "computed.pt")
assert not any(name.startswith("cheblienet") for name in sys.modules)
"""


@pytest.mark.slow
def test_portable_programs_need_no_package(
    exported: Callable[[str], Exported], tmp_path: Path
) -> None:
    """In one process, where the package is not imported."""
    pyramid, network, program, plain = exported("filters")
    images = images_on(pyramid, 3)
    torch.export.save(plain, tmp_path / "portable.pt2")
    torch.export.save(program, tmp_path / "network.pt2")
    torch.save(images, tmp_path / "images.pt")
    subprocess.run([sys.executable, "-c", LOAD, str(tmp_path)], check=True)
    again = torch.export.load(tmp_path / "network.pt2")  # here it is imported
    for computed in (torch.load(tmp_path / "computed.pt"), again.module()(images)):
        assert torch.allclose(computed, network(images), atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's exporter has several of its own
def test_onnx(exported: Callable[[str], Exported], tmp_path: Path) -> None:
    for module in ("onnx", "onnxscript"):
        pytest.importorskip(module)
    runtime = pytest.importorskip("onnxruntime")
    pyramid, network, _, plain = exported("unet")
    path = str(tmp_path / "network.onnx")
    torch.onnx.export(plain, (), path, dynamo=True, verbose=False)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 4  # among which terms of a scattered sum would be lost
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for count in (1, 3) * 10:
        images = images_on(pyramid, count)
        (computed,) = session.run(None, {session.get_inputs()[0].name: images.numpy()})
        computed, expected = torch.from_numpy(computed), network(images)
        torch.testing.assert_close(computed, expected, rtol=0, atol=1e-4, equal_nan=True)


# Traced sizes are compared with numbers, of which torch warns, and tracing itself is deprecated.
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_traced(pyramid: Pyramid) -> None:
    """Also on graphs without eigenpairs, whose attribute of that name is not there."""
    assert not hasattr(pyramid.levels[0], "eigenpairs")
    for name in ("unet", "wide", "basis"):
        network, file = made(pyramid, name), io.BytesIO()
        torch.jit.save(torch.jit.trace(network, (images_on(pyramid),)), file)
        file.seek(0)
        traced, images = torch.jit.load(file), images_on(pyramid, 3)
        assert torch.allclose(traced(images), network(images), atol=1e-5)
