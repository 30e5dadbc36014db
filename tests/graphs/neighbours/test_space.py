"""Lattices in space: every engine against all pairs, offsets against every offset of a box."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from space_truth import edges, radius_of_lattice

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.connected import lattice_components
from cheblienet_graphs.neighbours.offsets import OffsetDistances, Stencil
from cheblienet_graphs.neighbours.stencil import StencilEngine, Stencils
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold

R3 = MANIFOLDS["r3"]
SHELLS = [6, 18, 26, 32, 56, 80]
"""Numbers of neighbours in whole shells of the cubic lattice."""


def listed(engine: StencilEngine, vertices: int) -> set[tuple[int, int]]:
    degrees, columns = engine.degrees(0, vertices), engine.columns(0, vertices)
    rows = np.repeat(np.arange(vertices), degrees)
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.parametrize("engine", ["stencil", "pruned"])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("count", [6, 18, 26, 31])
@pytest.mark.parametrize("size", ["7x7x7", "6x5x8"])
def test_edges_equal_all_pairs(size: str, count: int, boundary: str, engine: str) -> None:
    spec = GraphSpec("r3", size, neighbors=count, boundary=boundary, levels=1)
    found = Level(spec, Choice(engine, "cpu")).neighbours.engine()
    width, height, depth = spec.size
    expected = edges((depth, height, width), count, periodic=boundary == "periodic")
    assert listed(found, spec.num_vertices) == expected
    assert found.total_degree == found.in_plane_degree == len(expected)


@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_brute_force_finds_the_same(boundary: str) -> None:
    spec = GraphSpec("r3", "6x5x7", neighbors=18, boundary=boundary, levels=1)
    found = Level(spec, Choice("keops", "cpu")).neighbours.engine()
    assert listed(found, spec.num_vertices) == edges((7, 5, 6), 18, periodic=boundary == "periodic")


@pytest.mark.parametrize("count", SHELLS)
def test_whole_shells(count: int) -> None:
    lattice = Lattice((20, 20, 20))
    (stencil,) = Stencils.of(SampledManifold(lattice, R3, Metric(1.0)), count + 5).stencils
    assert len(stencil) == count


def test_fewer_neighbours_than_the_first_shell() -> None:
    spec = GraphSpec("r3", 6, neighbors=5, levels=1)
    with pytest.raises(SpecError, match="at least 6 here"):
        Level(spec, Choice("stencil", "cpu")).neighbours.engine()


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


@settings(max_examples=40)
@given(
    sides=st.tuples(*[st.sampled_from([0.5, 1.0, 1.7])] * 2),
    radius=st.floats(0.3, 5),
)
def test_offsets_within_a_radius_are_all_there(sides: tuple[float, ...], radius: float) -> None:
    """Against every offset of a box that holds the ball."""
    lattice = Lattice((4, 4, 4), spacings=(*sides, 1.0))
    distances = OffsetDistances(SampledManifold(lattice, R3, Metric(1.0)))
    found = distances.within(0, radius**2)
    box = np.stack(np.meshgrid(*[np.arange(-20, 21)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    squared = ((box * np.array(lattice.sides)) ** 2).sum(axis=1)
    inside = {tuple(o) for o in box[squared <= radius**2 * (1 - 1e-9)].tolist()}
    listed_once = [tuple(o) for o in found.offsets.tolist()]
    assert inside <= set(listed_once)
    assert listed_once == sorted(set(listed_once))
    assert (found.squared_distance <= radius**2 * (1 + 1e-3) + 1e-3).all()


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
