"""What open sides take, against least squares over whole strips; edges along sides, one by one."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from all_pairs import pairs
from moments import of_lattice

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.connected import Components, lattice_components
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import StencilEngine
from cheblienet_graphs.sparse import with_diagonal
from cheblienet_graphs.weights.boundary import missing

ROWS, LINES = 40, 11


def edges_from(
    place: tuple[int, ...], stencil: Stencil, values: np.ndarray
) -> Iterator[tuple[tuple[int, int], float]]:
    """The edges from a place of 6 x 7 x 9 to others on it, each with its value."""
    k, y, x = place
    for j, (dy, dx), value in zip(stencil.orientation, stencil.offsets, values, strict=True):
        if 0 <= y + dy < 7 and 0 <= x + dx < 9:
            yield ((k * 7 + y) * 9 + x, (int(j) * 7 + y + int(dy)) * 9 + x + int(dx)), value


def least_energy(steps: np.ndarray, weights: np.ndarray, p: np.ndarray) -> float:
    """Of all functions p^T x + f on a strip, f periodic along it, for each pixel of a side.

    The strip has ROWS rows along the first axis; each edge is one row of a least-squares problem.
    """
    row, line = np.divmod(np.arange(ROWS * LINES), LINES)
    equations, targets = [], []
    for (step, along), weight in zip(steps.tolist(), weights.tolist(), strict=True):
        inside = (row + step >= 0) & (row + step < ROWS)
        there = (row + step) * LINES + (line + along) % LINES
        for here, end in zip(np.flatnonzero(inside), there[inside], strict=True):
            equation = np.zeros(ROWS * LINES)
            equation[end] += 1
            equation[here] -= 1
            equations.append(math.sqrt(weight / 2) * equation)
            targets.append(-math.sqrt(weight / 2) * float(p @ (step, along)))
    matrix, target = np.array(equations), np.array(targets)
    normal = matrix.T @ matrix
    solution = np.linalg.lstsq(normal, matrix.T @ target, rcond=None)[0]
    return float(((matrix @ solution - target) ** 2).sum()) / LINES


@pytest.mark.parametrize(
    ("weights", "eps", "k", "axis"),
    [("selling", 0.1, 2, 0), ("selling", 0.1, 1, 1), ("matched", 0.3, 1, 0)],
)
def test_missing_is_what_strips_lack(weights: str, eps: float, k: int, axis: int) -> None:
    spec = GraphSpec("se2", 32, orientations=6, eps=eps, weights=weights, levels=1)
    weighed = of_lattice(spec)
    values = weighed.values[k] / 32**2
    steps = weighed.stencils[k].offsets[:, [axis, 1 - axis]]
    (form,) = missing(steps, values, 0).ravel()
    across, mixed = (steps[:, [0]] * steps * values[:, None]).sum(axis=0) / 2
    p = np.array([-mixed / across, 1.0])
    whole = (values * (steps @ p) ** 2).sum() / 2
    assert form > 1e-3
    assert ROWS * whole - least_energy(steps, values, p) == pytest.approx(2 * form, rel=1e-7)
    assert p[0] * across + mixed == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("weights", "eps"), [("selling", 0.2), ("matched", 0.3)])
def test_engine_has_the_edges_of_sides_at_sides_alone(weights: str, eps: float) -> None:
    """Against a loop over all vertices, on a lattice with every kind of corner."""
    fields = {"orientations": 6, "eps": eps, "weights": weights, "levels": 1}
    weighed = of_lattice(GraphSpec("se2", (9, 7), **fields))
    lattice, engine, expected = weighed.lattice, weighed.engine, {}
    for k, y, x in np.ndindex(6, 7, 9):
        parts = [(weighed.stencils[k], weighed.values[k])]
        for axis, there in enumerate((y in {0, 6}, x in {0, 8})):
            if there:
                parts.append(tuple(part[k] for part in weighed.sides[axis]))
        for stencil, values in parts:
            for edge, weight in edges_from((k, y, x), stencil, values):
                expected[edge] = expected.get(edge, 0.0) + float(weight)
    assert pairs(engine, lattice.num_vertices) == sorted(expected)
    assert engine.total_degree == len(expected)
    assert engine.in_plane_degree == sum(a // 63 == b // 63 for a, b in expected)
    block = with_diagonal(0, *engine.neighbors(0, lattice.num_vertices))
    given = weighed.weights(block)[block.rows != block.columns]
    np.testing.assert_array_equal(given, [expected[edge] for edge in sorted(expected)])
    bare = replace(weighed, sides=()).engine
    assert engine.total_degree > bare.total_degree
    assert lattice_components(engine) == Components(1, 1)


@pytest.mark.parametrize("corrected", [True, False])
def test_dropped_edges_are_of_the_union_and_without_weight(corrected: bool) -> None:
    fields = {"orientations": 6, "eps": 0.1, "neighbors": 32, "boundary_correction": corrected}
    weighed = of_lattice(GraphSpec("se2", (9, 7), weights="matched", levels=1, **fields))
    union: set[tuple[int, int]] = set()
    for place in np.ndindex(6, 7, 9):
        stencil = weighed.united[place[0]]
        union |= {edge for edge, _ in edges_from(place, stencil, stencil.squared_distance)}
    dropped = union - set(pairs(weighed.engine, weighed.lattice.num_vertices))
    assert weighed.dropped_edges == len(dropped) / 2 > 0


def test_edges_along_sides_join_components_of_the_stencils() -> None:
    """Diagonal steps alone leave two parts, which any step along a side joins."""
    diagonal = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    across = Stencil(np.zeros(4, int), diagonal, np.ones(4))
    along = Stencil(np.zeros(2, int), np.array([[0, -1], [0, 1]]), np.ones(2))
    none = along.only(np.zeros(2, bool))
    for side in (6, 400):
        lattice = Lattice((side, side))
        assert lattice_components(StencilEngine(lattice, [across])).least == 2
        joined = lattice_components(StencilEngine(lattice, [across], [[along], [none]]))
        assert joined.least == 1
        assert joined.exact in {1, None}


def test_sides_that_no_edge_crosses_take_nothing() -> None:
    """Of an axis all whose edges lead along x, only the side across x has something to take."""
    cross = of_lattice(GraphSpec("r3", 8, weights="selling"))
    assert all(
        (missing(cross.stencils[0].offsets, cross.values[0], n) == 0).all() for n in range(3)
    )
    steps = np.array([(0, 0, 2), (0, 0, -2), (0, 1, 1), (0, -1, -1)])
    weights = np.array([1.0, 1.0, 0.5, 0.5])
    assert (missing(steps, weights, 0) == 0).all()
    assert missing(steps, weights, 2)[1, 1] > 0


@pytest.mark.parametrize("orientations", [5, 6])
def test_steps_along_the_fiber_give_back_what_sides_cut(orientations: int) -> None:
    """The energy of a function that rises evenly with the angle, row by row next to a side."""
    spec = GraphSpec("se2", 24, orientations=orientations, eps=0.3, weights="matched", levels=1)
    weighed = of_lattice(spec)

    def energies(stencil: Stencil, weights: np.ndarray, k: int) -> np.ndarray:
        turn = (stencil.orientation - k + orientations // 2) % orientations - orientations // 2
        return weights * turn**2 / 2

    for axis, (sides, values) in enumerate(weighed.sides):
        cut = given = 0.0
        for k, stencil in enumerate(weighed.stencils):
            across = stencil.offsets[:, axis]
            for row in range(abs(across).max()):
                cut += energies(stencil, weighed.values[k], k)[row + across < 0].sum()
            given += energies(sides[k], values[k], k).sum()
            assert set((sides[k].orientation - k) % orientations) <= {0, 1, orientations - 1}
        assert cut > 1
        assert given == pytest.approx(cut, rel=1e-9)


def test_edges_between_axes_give_back_what_sides_cut() -> None:
    """Pair by pair of axes, half of each of both directions, row by row next to a side."""
    fields = {"axes": "ico6", "eps_squared": 0.3, "neighbors": 80, "weights": "matched"}
    weighed = of_lattice(GraphSpec("r3s2", 12, levels=1, **fields))
    for axis, (sides, values) in enumerate(weighed.sides):
        cut, given = np.zeros((2, 6, 6))
        for k, stencil in enumerate(weighed.stencils):
            across = stencil.offsets[:, axis]
            for row in range(abs(across).max()):
                lost = row + across < 0
                np.add.at(cut[k], stencil.orientation[lost], weighed.values[k][lost])
            np.add.at(given[k], sides[k].orientation, values[k])
        for weights in (cut, given):
            np.fill_diagonal(weights, 0)  # edges within an axis give back other terms
        assert cut.max() > 1
        assert given == pytest.approx((cut + cut.T) / 2, rel=1e-9)
