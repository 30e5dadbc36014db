"""Edges of a lattice inside a mask, counted and looked up, against all pairs of pixels."""

import numpy as np
import pytest

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.masked import MaskedStencils
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import StencilEngine

NEAR = [(-1, 0), (0, -1), (0, 1), (1, 0)]
FAR = [(-3, 2), (-2, -4), (2, 4), (3, -2)]


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("offsets", [NEAR, NEAR + FAR])
def test_edges_are_those_of_pairs_inside(offsets: list[tuple[int, int]], periodic: bool) -> None:
    shape = (11, 13)
    inside = np.random.default_rng(0).random(shape) < 0.7
    number = np.where(inside, np.cumsum(inside).reshape(shape) - 1, -1)
    expected = set()
    for y, x in np.argwhere(inside).tolist():
        for dy, dx in offsets:
            there = y + dy, x + dx
            if periodic:
                there = there[0] % shape[0], there[1] % shape[1]
            if 0 <= there[0] < shape[0] and 0 <= there[1] < shape[1] and inside[there]:
                expected.add((int(number[y, x]), int(number[there])))
    steps = np.array(sorted(offsets))
    stencil = Stencil(np.zeros(len(steps), np.int64), steps, np.ones(len(steps)))
    places = np.flatnonzero(inside)
    engine = StencilEngine(Lattice(shape, periodic=periodic), [stencil])
    masked = MaskedStencils(engine, places)
    assert masked.total_degree == len(expected)
    [(orientation, numbers)] = masked.pieces(0, len(places))
    counts, columns, _ = masked.look_up(orientation, numbers, [np.ones(len(steps))])
    pairs = list(zip(np.repeat(numbers, counts).tolist(), columns.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert set(pairs) == expected | {(v, v) for v in range(len(places))}
    assert masked.cut(0, numbers).tolist() == np.flatnonzero(counts <= len(steps)).tolist()
