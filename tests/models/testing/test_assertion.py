"""assert_equivariant: what passes, what it finds, what it refuses."""

from pathlib import Path

import pytest
import torch
from refusing import refused
from torch import Tensor, nn

from cheblienet_models import BatchNorm, ChebConv, GlobalPool, Project, SpatialPool, open_store
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant


class Broken(nn.Module):
    """Adds a fixed random field."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.field = nn.Parameter(torch.randn(size))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.field


class Noted(nn.Module):
    """Notes what it is given, and returns something of its own making."""

    def __init__(self, make: object) -> None:
        super().__init__()
        self.make, self.seen = make, []

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x)
        assert not self.training
        assert not torch.is_grad_enabled()
        return self.make(x)


@pytest.mark.parametrize("name", ["arrows", "icosahedral", "healpix", "s2-equiangular"])
def test_fixed_fields_fail(symmetric_graphs: Path, name: str) -> None:
    pyramid = open_store(symmetric_graphs)[name]
    size = pyramid.levels[0].num_vertices
    for symmetry in symmetries(pyramid, [0]):
        message = rf"Broken is not equivariant under {symmetry} of .* is \d.*, the tolerance 0.0001"
        how = {"output": "vertices", "symmetries": [symmetry], "error": AssertionError}
        refused(message, assert_equivariant, Broken(size), pyramid, **how)


def test_signals_of_images_turn_as_images_do(symmetric_graphs: Path) -> None:
    pyramid = open_store(symmetric_graphs)["open"]
    x = torch.randn(1, 2, 12, 12)
    noted = Noted(lambda x: x.mean((2, 3)))
    assert_equivariant(noted, pyramid, x, symmetries=["rotation_90", "rotation_180", "flip"])
    upright, quarter, half, flipped = noted.seen
    assert torch.equal(upright, x)
    assert any(torch.equal(quarter, torch.rot90(x, turns, (2, 3))) for turns in (1, 3))
    assert torch.equal(half, torch.rot90(x, 2, (2, 3)))
    assert torch.equal(flipped, x.flip(2))
    flat = Noted(lambda x: x)
    assert_equivariant(flat, pyramid, x.flatten(2), symmetries=["flip"])
    assert torch.equal(flat.seen[1], x.flip(2).flatten(2))


def test_outputs_that_could_be_two_things(symmetric_graphs: Path) -> None:
    """At 4 orientations level 1 has as many vertices as level 0 has pixels."""
    pyramid = open_store(symmetric_graphs)["torus"]
    project, pool = Project(pyramid.levels[0]), SpatialPool(pyramid, 0)
    for module in (project, pool):
        refused("base of level 0 or the vertices of level", assert_equivariant, module, pyramid)
    assert assert_equivariant(project, pyramid, output="base")
    assert assert_equivariant(pool, pyramid, output="vertices")
    for module, output in ((pool, "base"), (project, "invariant")):
        with pytest.raises(AssertionError):
            assert_equivariant(module, pyramid, output=output)


def test_refusals(symmetric_graphs: Path) -> None:
    store = open_store(symmetric_graphs)
    of = pyramid, odd, _ = [store[name] for name in ("open", "odd", "random-plane")]
    conv, turned, lone = (ChebConv(1, 1, 2, each.levels[0]) for each in of)
    calls = [
        ((conv, pyramid, torch.zeros(1, 1, 863)), {}, r"signal on .* takes \(B, C, 864\) or"),
        ((conv, pyramid), {"level": 2}, r"level must be in \[0, 1\]\. Got 2"),
        ((conv, pyramid), {"output": "other"}, "output must be 'auto', 'invariant'"),
        ((GlobalPool(), pyramid), {"output": "vertices"}, r"\(2, 1\) fits no level of open@v001"),
        ((conv, pyramid), {"symmetries": []}, r"symmetries must have a name at least.* Got \[\]"),
        ((turned, odd), {"symmetries": ["flip", "rotation_90"]}, "There: rotation_180, flip"),
        ((lone, store["random-plane"]), {}, r"random-plane@v001.*have no symmetry"),
    ]
    for arguments, options, message in calls:
        refused(message, assert_equivariant, *arguments, **options)
    pairs, message = Noted(lambda x: (x, x)), "Noted must return one tensor. Got tuple"
    refused(message, assert_equivariant, pairs, pyramid, error=TypeError)
    sizes = iter(range(1, 9))
    for make, message in (
        (lambda x: x * torch.nan, "nan"),
        (lambda _: torch.zeros(next(sizes)), "inf"),
    ):
        of = Noted(make), pyramid
        refused(f"difference is {message}", assert_equivariant, *of, error=AssertionError)


def test_numbers_of_a_batch_are_no_image(symmetric_graphs: Path) -> None:
    """12 samples with 12 classes each, as many as the image has rows and columns."""
    pyramid = open_store(symmetric_graphs)["open"]
    module = nn.Sequential(ChebConv(1, 12, 2, pyramid.levels[0]), GlobalPool())
    assert len(assert_equivariant(module, pyramid, torch.randn(12, 1, 864))) == 3


def test_modes_are_restored(symmetric_graphs: Path) -> None:
    pyramid = open_store(symmetric_graphs)["open"]
    graph = pyramid.levels[0]
    module = nn.Sequential(ChebConv(1, 2, 2, graph), BatchNorm(2), Broken(graph.num_vertices))
    module[1].eval()
    before, mean = [part.training for part in module.modules()], module[1].running_mean.clone()
    for signal, error in ((None, AssertionError), (torch.zeros(1, 1, 12, 12), ValueError)):
        with pytest.raises(error):
            assert_equivariant(module, pyramid, signal)
    assert [part.training for part in module.modules()] == before
    assert set(before) == {True, False}
    assert torch.equal(module[1].running_mean, mean)


def test_signals_follow_the_parameters(symmetric_graphs: Path) -> None:
    pyramid = open_store(symmetric_graphs)["open"]
    noted, plain, again = (Noted(lambda x: x) for _ in range(3))
    noted.conv = ChebConv(5, 1, 2, pyramid.levels[0])
    assert_equivariant(noted.double(), pyramid)
    assert_equivariant(plain, pyramid, level=1)
    assert_equivariant(again, pyramid, level=1, seed=1)
    given = [(one.seen[0].shape, one.seen[0].dtype) for one in (noted, plain)]
    assert given == [((2, 5, 864), torch.float64), ((2, 1, 216), torch.float32)]
    assert not torch.equal(again.seen[0], plain.seen[0])
