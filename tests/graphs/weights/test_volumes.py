"""Selling's and matched weights of positions and axes: second moments, symmetries, classes."""

import numpy as np
import pytest
from axes_truth import logarithm_moments, tilt_residual

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.weights.lattice import LatticeWeights, lattice_weights


def weights_of(weights: str, axes: str, **fields: object) -> tuple[GraphSpec, LatticeWeights]:
    spec = GraphSpec(
        "r3s2", 16, axes=axes, weights=weights, levels=1, boundary="periodic", **fields
    )
    lattice = spec.full_sampling(0)
    assert isinstance(lattice, Lattice)
    return spec, lattice_weights(spec, SampledManifold(lattice, spec.geometry, spec.metric(0)))


def listed(found: LatticeWeights) -> dict[tuple[int, ...], float]:
    """(i, dz, dy, dx, j) -> weight."""
    return {
        (i, *offset, j): weight
        for i, (stencil, values) in enumerate(zip(found.stencils, found.values, strict=True))
        for offset, j, weight in zip(
            stencil.offsets.tolist(), stencil.orientation.tolist(), values.tolist(), strict=True
        )
    }


CASES = [
    ("selling", "12", {}),
    ("selling", "13", {"spacing": "1,1,2"}),
    ("selling", "ico21", {"eps": 0.1}),
    ("matched", "4", {}),
    ("matched", "7", {"spacing": "1,1.5,0.7"}),
    ("matched", "12", {"xi": 0.316}),
    ("matched", "3", {"eps": 0.1}),
    ("matched", "ico6", {"eps_squared": 0.3, "neighbors": 48}),
]


@pytest.mark.parametrize(("weights", "name", "fields"), CASES)
def test_moments_are_those_of_the_metric(weights: str, name: str, fields: dict) -> None:
    """Along space by matrix logarithms, between axes by the tensors n n^T."""
    spec, found = weights_of(weights, name, **fields)
    axes, metric = axis_set(name), spec.metric(0)
    moments, tilts = np.zeros((len(axes), 3, 3)), np.zeros((len(axes),) * 2)
    sides = found.lattice.relative[::-1] / found.lattice.width
    for (i, dz, dy, dx, j), weight in listed(found).items():
        assert weight > 0
        step = np.array([dx, dy, dz]) * sides
        if (dz, dy, dx) > (0, 0, 0):  # the opposite step has the same moments
            moments[i] += 2 * weight * logarithm_moments(axes.points[i], axes.points[j], step)
        tilts[i, j] += weight * (i != j)
    along = axes.points[:, :, None] * axes.points[:, None]
    wanted = metric.eps**2 * np.eye(3) + (1 - metric.eps**2) * along
    assert moments == pytest.approx(2 * axes.areas[:, None, None] * wanted, abs=1e-9)
    assert tilt_residual(axes.points, axes.areas, tilts * metric.xi**2) <= 1e-9


@pytest.mark.parametrize(("weights", "name", "fields"), CASES)
def test_edges_have_one_weight_in_all_directions(weights: str, name: str, fields: dict) -> None:
    """Both ends of an edge agree, and edges that the reflection through a point maps to another."""
    edges = listed(weights_of(weights, name, **fields)[1])
    for (i, dz, dy, dx, j), weight in edges.items():
        assert edges[j, -dz, -dy, -dx, i] == weight
        assert edges[j, dz, dy, dx, i] == weight


@pytest.mark.parametrize("weights", ["selling", "matched"])
def test_stencils_turn_with_the_cube(weights: str) -> None:
    edges = listed(weights_of(weights, "12")[1])
    for matrix, image in axis_set("12").rotations:
        for (i, dz, dy, dx, j), weight in edges.items():
            x, y, z = (matrix @ (dx, dy, dz)).tolist()
            assert edges[image[i], z, y, x, image[j]] == pytest.approx(weight, rel=1e-9)


def test_degrees_of_sellings_stencils() -> None:
    """At most what the manifold says: 12 along space, and those between axes."""
    for name, most in (("12", 19), ("43", 22), ("ico81", 27)):
        spec, found = weights_of("selling", name)
        degrees = [len(stencil) for stencil in found.stencils]
        assert 12 < max(degrees) <= most <= spec.neighbors
