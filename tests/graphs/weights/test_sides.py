"""What open sides take, against least squares over whole strips; edges along sides, one by one."""

from collections.abc import Iterator

import numpy as np
import pytest
from all_pairs import pairs
from moments import of_lattice
from truth import STRIP, strip_energies

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.search.connected import lattice_components
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import MaskedStencils, StencilEngine
from cheblienet_graphs.weights.sides import missing


def edges_from(
    place: tuple[int, ...], stencil: Stencil, values: np.ndarray
) -> Iterator[tuple[tuple[int, int], float]]:
    """The edges from a place of 6 x 7 x 9 to others on it, each with its value."""
    k, y, x = place
    for j, (dy, dx), value in zip(stencil.orientation, stencil.offsets, values, strict=True):
        if 0 <= y + dy < 7 and 0 <= x + dx < 9:
            yield ((k * 7 + y) * 9 + x, (int(j) * 7 + y + int(dy)) * 9 + x + int(dx)), value


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
    _, least = strip_energies(steps, values, p)
    assert STRIP * whole - least == pytest.approx(2 * form, rel=1e-7)
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
    whole = MaskedStencils(engine, np.arange(lattice.num_points))
    block, given = whole.rows(0, lattice.num_vertices, weighed.offset_values)
    given = given[block.rows != block.columns]
    np.testing.assert_array_equal(given, [expected[edge] for edge in sorted(expected)])
    assert engine.total_degree > StencilEngine(weighed.lattice, weighed.stencils).total_degree
    assert lattice_components(engine) == (1, 1)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"weights": "selling", "eps": 0.2}, True),  # 4.0 times
        ({"weights": "matched", "eps": 1}, True),  # 2.3 times
        ({"weights": "matched", "eps": 0.6}, False),  # 1.7 times
    ],
)
def test_whether_edges_that_lead_out_outweigh_those_added(fields: dict, expected: bool) -> None:
    """Twice, against a loop over all vertices."""
    weighed = of_lattice(GraphSpec("se2", (9, 7), orientations=6, levels=1, **fields))
    holds = []
    for k, y, x in np.ndindex(6, 7, 9):
        there = weighed.stencils[k], weighed.values[k]
        lost = sum(there[1]) - sum(value for _, value in edges_from((k, y, x), *there))
        sides = [weighed.sides[axis] for axis, at in enumerate((y in {0, 6}, x in {0, 8})) if at]
        added = [edges_from((k, y, x), *(part[k] for part in side)) for side in sides]
        holds.append(lost >= 2 * sum(value for edges in added for _, value in edges))
    assert weighed.outweighed_at_sides == all(holds) == expected


@pytest.mark.parametrize("corrected", [True, False])
def test_dropped_edges_are_of_the_union_and_without_weight(corrected: bool) -> None:
    fields = {"orientations": 6, "eps": 0.1, "neighbors": 32, "boundary_correction": corrected}
    weighed = of_lattice(GraphSpec("se2", (9, 7), weights="matched", levels=1, **fields))
    union: set[tuple[int, int]] = set()
    for place in np.ndindex(6, 7, 9):
        stencil = weighed.united[place[0]]
        union |= {edge for edge, _ in edges_from(place, stencil, stencil.squared_distance)}
    dropped = union - set(pairs(weighed.engine, weighed.lattice.num_vertices))
    assert weighed.with_left_out.total_degree - weighed.engine.total_degree == len(dropped) > 0


def test_sides_that_no_edge_crosses_take_nothing() -> None:
    """Of an axis all whose edges lead along x, only the side across x has something to take."""
    steps = np.array([(0, 0, 2), (0, 0, -2), (0, 1, 1), (0, -1, -1)])
    weights = np.array([1.0, 1.0, 0.5, 0.5])
    assert (missing(steps, weights, 0) == 0).all()
    assert missing(steps, weights, 2)[1, 1] > 0


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
