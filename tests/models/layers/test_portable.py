"""Networks that leave the process: traced, exported, decomposed, as ONNX."""

import functools
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from cheblienet_models import (
    ChebConv,
    Lift,
    Pyramid,
    StoreError,
    UNet,
    WideResNet,
    open_store,
    portable,
)
from cheblienet_models.layers.portable import _padded

# Of torch's own, in its decompositions.
pytestmark = pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")


def networks(pyramid: Pyramid) -> list[nn.Module]:
    torch.manual_seed(0)
    found = [
        UNet(pyramid, 2, 3, kernel_size=4, channels=(3, 4, 5)),
        WideResNet(pyramid, 2, 3, kernel_size=3, depth=1, widen=1),
        nn.Sequential(
            Lift(pyramid.levels[0]),
            ChebConv(2, 5, 4, pyramid.levels[0], save_basis=True),
            ChebConv(5, 2, 1, pyramid.levels[0], save_basis=True),
        ),
    ]
    for network in found:
        network(torch.randn(4, 2, 16, 16))  # so that running statistics are not at their start
    return [network.eval() for network in found]


Exported = tuple[nn.Module, torch.export.ExportedProgram, torch.export.ExportedProgram]


@pytest.fixture(scope="module")
def exported(store: Path) -> Callable[[int], Exported]:
    """One of `networks`, its program for batches of any size and the portable one, made once."""
    found = networks(open_store(store)["torus"])

    @functools.cache
    def of(which: int) -> Exported:
        batch, images = torch.export.Dim("batch", min=1, max=64), torch.randn(2, 2, 16, 16)
        program = torch.export.export(found[which], (images,), dynamic_shapes=({0: batch},))
        return found[which], program, portable(program)

    return of


def operators(program: torch.export.ExportedProgram) -> set[str]:
    targets = (node.target for node in program.graph.nodes if node.op == "call_function")
    return {t.namespace for t in targets if isinstance(t, torch._ops.OpOverload)}


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1, 2])
def test_portable_programs_compute_the_same_with_torchs_operators(
    exported: Callable[[int], Exported], which: int
) -> None:
    network, program, plain = exported(which)
    assert operators(program) == {"aten", "cheblienet_models"}
    assert operators(plain) == {"aten"}
    for count in (1, 3):
        images = torch.randn(count, 2, 16, 16)
        with torch.no_grad():
            expected = network(images)
            found = plain.module()(images)
        assert (found - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_rows_are_padded_with_nothing() -> None:
    for counts in ([3, 0, 0, 2], [0, 1, 4, 0], [1], [0, 0, 5]):
        lengths, count = torch.tensor(counts), sum(counts)
        pointers = torch.cat([torch.zeros(1), lengths.cumsum(0)]).to(torch.int32)
        values, columns = torch.arange(1.0, count + 1), torch.arange(count, dtype=torch.int32)
        sources, entries = _padded(pointers, columns, values, max(counts))
        assert sources.shape == entries.shape == (len(counts), max(counts))
        rows = torch.arange(len(counts)).repeat_interleave(lengths)
        for row, (where, what) in enumerate(zip(sources, entries, strict=True)):
            assert torch.equal(where[: counts[row]], columns[rows == row])
            assert torch.equal(what[: counts[row]], values[rows == row])
            assert not what[counts[row] :].any()


def test_portable_programs_in_double_precision(pyramid: Pyramid) -> None:
    network = networks(pyramid)[2].double()
    images = torch.randn(2, 2, 16, 16, dtype=torch.float64)
    plain = portable(torch.export.export(network, (images,)))
    with torch.no_grad():
        assert torch.allclose(plain.module()(images), network(images), rtol=1e-12, atol=1e-12)


LOAD = """
import sys, torch
from pathlib import Path
folder = Path(sys.argv[1])
program = torch.export.load(folder / "portable.pt2")
torch.save(program.module()(torch.load(folder / "images.pt")), folder / "found.pt")
assert not any(name.startswith("cheblienet") for name in sys.modules)
print("computed", flush=True)
torch.export.load(folder / "network.pt2")
"""


@pytest.mark.slow
def test_portable_programs_need_no_package_and_others_name_it(
    exported: Callable[[int], Exported], tmp_path: Path
) -> None:
    """In one process, where the package is not imported."""
    (network, program, plain), images = exported(0), torch.randn(3, 2, 16, 16)
    torch.export.save(plain, tmp_path / "portable.pt2")
    torch.export.save(program, tmp_path / "network.pt2")
    torch.save(images, tmp_path / "images.pt")
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.stdout == "computed\n", process.stderr
    assert process.returncode != 0
    assert "failed to resolve torch.ops.cheblienet_models.chebyshev" in process.stderr
    found = torch.load(tmp_path / "found.pt")
    again = torch.export.load(tmp_path / "network.pt2")  # here it is imported
    with torch.no_grad():
        expected = network(images)
        assert torch.allclose(found, expected, atol=1e-5)
        assert torch.allclose(again.module()(images), expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's exporter has several of its own
@pytest.mark.parametrize("which", [0, 1])
def test_onnx(exported: Callable[[int], Exported], tmp_path: Path, which: int) -> None:
    for module in ("onnx", "onnxscript"):
        pytest.importorskip(module)
    runtime = pytest.importorskip("onnxruntime")
    network, _, plain = exported(which)
    path = str(tmp_path / "network.onnx")
    torch.onnx.export(plain, (), path, dynamo=True, verbose=False)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 4  # among which terms of a scattered sum would be lost
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for count in (1, 3) * 10:
        images = torch.randn(count, 2, 16, 16)
        (found,) = session.run(None, {session.get_inputs()[0].name: images.numpy()})
        with torch.no_grad():
            expected = network(images)
        assert (torch.from_numpy(found) - expected).abs().max() <= 1e-4


# Traced sizes are compared with numbers, of which torch warns, and tracing itself is deprecated.
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_traced(pyramid: Pyramid) -> None:
    """Also on graphs without eigenpairs, whose attribute of that name is not there."""
    assert not hasattr(pyramid.levels[0], "eigenpairs")
    with pytest.raises(StoreError, match="level 0 has no stored eigenpairs; build it with"):
        _ = pyramid.levels[0].eigenpairs
    for network in networks(pyramid):
        images, file = torch.randn(2, 2, 16, 16), io.BytesIO()
        torch.jit.save(torch.jit.trace(network, (images,)), file)
        file.seek(0)
        traced = torch.jit.load(file)
        for signal in (images, torch.randn(3, 2, 16, 16)):
            assert torch.allclose(traced(signal), network(signal), atol=1e-5)
