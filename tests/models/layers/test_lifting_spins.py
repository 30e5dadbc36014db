"""Lifts of fields of spin to orientations and back: waves along fibers, equivariance, refusals."""

import math

import numpy as np
import pytest
import spin_truth as truth
import torch
from marks import OFF_THEIR_METRIC
from masks import disc
from refusing import refused
from stores import store_of
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Lift, Project, Pyramid, Store
from cheblienet_models.testing import assert_equivariant

pytestmark = OFF_THEIR_METRIC
ARROWS = {"orientations": 8, "period": "2pi", "gradients": True, "levels": 1}
SPECS = {
    "plane": GraphSpec("se2", 8, **ARROWS),
    "masked": GraphSpec("se2", mask=disc(10), **ARROWS),
    "sphere": GraphSpec("so3", nside=2, **ARROWS),
    "lines": GraphSpec("se2", 8, orientations=4, levels=1),
    "few": GraphSpec("so3", nside=2, orientations=4, period="2pi", levels=1),
    "vertices": GraphSpec("s2", nside=2, levels=1),
}
graphs = store_of(SPECS, opened=True)


class Lifted(nn.Module):
    """Nonlinear, on orientations."""

    def __init__(self, pyramid: Pyramid, spins: tuple[int, int], *, handed: bool) -> None:
        super().__init__()
        graph, how = pyramid.levels[0], {"operators": "first-order", "handed": handed}
        layers = [Lift(graph, spin=spins[0]), ChebConv(1, 3, 3, graph, **how), nn.ReLU()]
        last = Project(graph, spin=spins[1]) if spins[1] else Project(graph, "mean")
        self.layers = nn.Sequential(*layers, ChebConv(3, 1, 3, graph, **how), last)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def base(pyramid: Pyramid, channels: int = 2) -> Tensor:
    return torch.randn(2, channels, *pyramid.levels[0].grid[1:])


@pytest.mark.parametrize("name", ["plane", "sphere", "masked", "lines"])
def test_fibers_are_waves_of_the_orientation(graphs: Store, name: str) -> None:
    """f(theta) = a cos(s theta) + b sin(s theta); the field comes back from its harmonic."""
    pyramid = graphs[name]
    graph = pyramid.levels[0]
    angles = graph.coordinates[:, 0 if name == "sphere" else 2].numpy()
    points = graph.num_points
    for spin in (1, 2, 3) if name != "lines" else (2,):
        x = torch.randn(2, 6, points)
        lifted = Lift(graph, spin=spin)(x)
        fields = np.tile(truth.as_fields(x), graph.orientations)
        wanted = (fields * np.exp(-1j * spin * angles)).real
        np.testing.assert_allclose(lifted.numpy(), wanted, atol=1e-5)
        assert lifted.permute(2, 0, 1).is_contiguous()
        torch.testing.assert_close(Project(graph, spin=spin)(lifted), x, atol=1e-5, rtol=0)
        constant = Project(graph, spin=spin)(torch.ones(1, 1, graph.num_vertices))
        assert float(constant.abs().max()) < 1e-6


def test_a_wind_is_what_blows_along(graphs: Store) -> None:
    """Of a wind from the west nothing blows southward, all of it eastward."""
    graph = graphs["sphere"].levels[0]
    u, v = torch.ones(graph.num_points), torch.zeros(graph.num_points)
    along = Lift(graph, spin=1)(torch.stack([-v, u])[None])[0, 0]
    alpha = graph.coordinates[:, 0]
    assert float(along[alpha.abs() < 1e-9].abs().max()) < 1e-6
    east = (alpha - math.pi / 2).abs() < 1e-9
    torch.testing.assert_close(along[east], torch.ones(int(east.sum())))


@pytest.mark.parametrize("name", ["plane", "sphere", "masked"])
@pytest.mark.parametrize("spins", [(1, 1), (1, 2), (2, 1), (2, 0), (0, 1)])
def test_networks_on_orientations_are_equivariant(
    graphs: Store, name: str, spins: tuple[int, int]
) -> None:
    pyramid = graphs[name]
    x = base(pyramid, 2 if spins[0] else 1)
    for handed in (True, False):
        network = Lifted(pyramid, spins, handed=handed)
        found = assert_equivariant(network, pyramid, x, spin=spins, tolerance=1e-5, output="base")
        assert len(found) >= 2


def test_without_orientations_pairs_stay_pairs(graphs: Store) -> None:
    graph, x = graphs["vertices"].levels[0], torch.randn(1, 4, 48)
    assert torch.equal(Lift(graph, "ring", spin=2)(x), Lift(graph, "ring")(x))
    assert torch.equal(Project(graph, spin=2)(x), x)


def test_refusals(graphs: Store, gradient_graphs: Store) -> None:
    lines, few, plane = (graphs[name].levels[0] for name in ("lines", "few", "plane"))
    for layer in (Lift, Project):
        refused('spin=1 has a sense, .*: build with `period="2pi"`', layer, lines, spin=1)
        refused(
            "spin=4 needs more than 8 orientations .*or 5 modulo pi.*has 4", layer, lines, spin=4
        )
        refused("spin=2 needs more than 4 orientations", layer, few, spin=2)
        refused("spin=5 needs more than 10 orientations modulo 2 pi. ", layer, plane, spin=5)
        refused("takes spin fields on s2 and r2", layer, gradient_graphs["space"].levels[0], spin=1)
        refused("spin must be an integer", layer, plane, spin=1.0, error=TypeError)
    refused("spin=1 needs pairs", Lift(plane, spin=1), torch.randn(1, 3, 8, 8))
    refused("floating point", Lift(plane, spin=1), torch.ones(1, 2, 8, 8, dtype=torch.int64))
    refused("floating point", Project(plane, spin=1), torch.ones(1, 2, 512, dtype=torch.int64))
    assert "spin=1" in repr(Lift(plane, spin=1))
    assert "spin=1" in repr(Project(plane, spin=1))
