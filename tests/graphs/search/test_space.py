"""Lattices in space: every engine against all pairs, offsets against every offset of a box."""

from dataclasses import replace

import numpy as np
import pytest
from space_truth import edges, radius_of_lattice

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.connected import lattice_components
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import StencilEngine, Stencils

R3 = MANIFOLDS["r3"]


def listed(engine: StencilEngine, vertices: int) -> set[tuple[int, int]]:
    degrees, columns = engine.neighbors(0, vertices)
    rows = np.repeat(np.arange(vertices), degrees)
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.parametrize(
    "engine", ["stencil", "pruned", pytest.param("keops", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("count", [6, 18, 26, 31])
@pytest.mark.parametrize("size", ["7x7x7", "6x5x8"])
def test_edges_equal_all_pairs(size: str, count: int, boundary: str, engine: str) -> None:
    spec = GraphSpec("r3", size, neighbors=count, boundary=boundary, levels=1)
    found = Level(spec, Choice(engine, "cpu")).neighbors.engine()
    width, height, depth = spec.size
    expected = edges((depth, height, width), count, periodic=boundary == "periodic")
    assert listed(found, spec.num_vertices) == expected
    assert found.total_degree == found.in_plane_degree == len(expected)


@pytest.mark.parametrize("sides", [(1.0, 1.0, 2.0), (1.0, 1.5, 3.0)])
@pytest.mark.parametrize("count", [6, 10, 18])
def test_voxels_with_unequal_sides(sides: tuple[float, float, float], count: int) -> None:
    lattice = Lattice((5, 6, 9), spacings=sides[::-1])
    found = Stencils.of(SampledManifold(lattice, R3, Metric(1.0)), count)
    expected = edges((5, 6, 9), count, sides)
    assert listed(StencilEngine(lattice, found.stencils), lattice.num_vertices) == expected
    radius = radius_of_lattice(sides, count) / 9**2  # in widths of the domain
    assert found.squared_radii == pytest.approx([radius])
    assert lattice.extent == pytest.approx((1, 6 * sides[1] / 9, 5 * sides[2] / 9))
    rows, columns = np.array(sorted(expected)).T
    ends = lattice.coordinates()
    squared = ((ends[columns] - ends[rows]) ** 2).sum(axis=1)
    assert found.squared_distances(rows, columns) == pytest.approx(squared)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(
    ("steps", "components"),
    [
        ([(0, 0, 1), (0, 1, 0), (1, 0, 0)], 1),
        ([(0, 0, 1), (0, 1, 0)], 4),
        ([(0, 0, 2), (0, 2, 0), (2, 0, 0)], 8),
        ([(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, -1, 0), (1, 0, -1), (0, 1, -1)], 2),
        ([(0, 0, 1)], 24),
    ],
)
def test_components_are_counted(
    steps: list[tuple[int, int, int]], components: int, periodic: bool
) -> None:
    """By the subgroup that the offsets generate, or a window, against labels of all vertices."""
    offsets = np.array(sorted([*steps, *(tuple(-n for n in s) for s in steps)]))
    stencil = Stencil(np.zeros(len(offsets), int), offsets, np.ones(len(offsets)))
    lattice = replace(Lattice((4, 6, 8)), periodic=periodic)
    found = lattice_components(StencilEngine(lattice, [stencil]))
    assert found.exact == components
    assert found.least <= components
