"""Connected components of a lattice's graph, from its stencils.

On the infinite lattice, as on a torus, the orientations are the vertices of a voltage graph: closed
walks through them move by the offsets of a group H, and components are the cosets of H. The
infinite lattice has all edges of an open one, so it has at least as many components as there are
cosets with points in it. It is connected where a smaller window is: windows a pixel apart overlap,
and all have the same edges, without the ones along sides.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import StencilEngine, reach
from cheblienet_graphs.typing import Indices

ENTRIES = 2**17
"""Edges of a window, both directions, that are always few enough to be counted."""
SHARE = 64
"""Larger windows are counted up to one in this many of the lattice's edges."""


def lattice_components(engine: StencilEngine) -> tuple[int, int | None]:
    """Count without visiting the vertices: O(n_o K), and the edges of a small window."""
    lattice, stencils = engine.lattice, engine.stencils
    # Edges along sides join no more than they would if they were everywhere.
    groups = list(_groups([around.stencil for around in engine.neighborhoods]))
    if lattice.periodic:
        around = np.diag(lattice.shape).tolist()
        exact = sum(cosets([*group, *around], lattice.shape) for group in groups)
        return exact, exact
    limit = max(ENTRIES, engine.total_degree // SHARE)
    for window in _windows(lattice, max(reach(stencils))):
        part = engine if window == lattice else StencilEngine(window, stencils)
        if part.total_degree > limit:
            break
        count = _counted(part)
        if count == 1 or window == lattice:
            return count, count
    least = sum(cosets(group, lattice.shape) for group in groups)
    return least, None


def _windows(lattice: Lattice, longest: int) -> Iterator[Lattice]:
    """Ever larger windows, the lattice itself last; each overlaps with itself moved by a pixel."""
    side = 2 * longest + 2
    while side < max(lattice.shape):
        yield replace(lattice, shape=tuple(min(side, n) for n in lattice.shape))
        side *= 2
    yield lattice


def _counted(engine: StencilEngine) -> int:
    """The number of components: every vertex takes the least label that it can reach.

    Each round follows labels twice as far.

    Source: Zhang, Azad, Hu, "FastSV", 2020. Importing scipy's would take longer than this runs.
    """
    vertices = engine.lattice.num_vertices
    numbers, columns = engine.neighbors(0, vertices)
    rows = np.repeat(np.arange(vertices), numbers)
    label = np.arange(vertices)
    while True:
        further = label[label]
        near = further[columns]
        lowest = further.copy()
        np.minimum.at(lowest, label[rows], near)
        np.minimum.at(lowest, rows, near)
        if np.array_equal(lowest, label):
            return int((label == np.arange(vertices)).sum())
        label = lowest


def cosets(vectors: Iterable[Sequence[int]], sides: Sequence[int]) -> int:
    """The number of cosets with points in a box, of the subgroup of Z^d that vectors generate.

    It is a lower bound where the box is tiny, and exact on a torus with its periods among them.
    With several generators in echelon form: points with a place along each one's axis below its
    first entry are in different cosets. With one: every point but the first of each coset is that
    generator away from another point of the box.
    """
    rows: dict[int, tuple[int, ...]] = {}
    for vector in vectors:
        _insert(rows, tuple(vector))
    if len(rows) == 1:
        (row,) = rows.values()
        inner = [max(side - abs(step), 0) for side, step in zip(sides, row, strict=True)]
        return math.prod(sides) - math.prod(inner)
    firsts = (rows[axis][axis] if axis in rows else side for axis, side in enumerate(sides))
    return math.prod(map(min, sides, firsts))


def _insert(rows: dict[int, tuple[int, ...]], vector: tuple[int, ...]) -> None:
    """Add a vector to generators in echelon form, by the axis of their first, positive entry.

    By Euclid's algorithm.
    """
    for axis in range(len(vector)):
        if vector[axis] == 0:
            continue
        known = rows.get(axis)
        if known is None:
            rows[axis] = vector if vector[axis] > 0 else tuple(-n for n in vector)
            return
        while vector[axis]:
            times = known[axis] // vector[axis]
            known, vector = vector, tuple(a - times * b for a, b in zip(known, vector, strict=True))
        rows[axis] = known if known[axis] > 0 else tuple(-n for n in known)


def _groups(stencils: Sequence[Stencil]) -> Iterator[list[tuple[int, ...]]]:
    """For each set of linked orientations, offsets of closed walks that generate its group H."""
    origin: dict[int, Indices] = {}
    for start in range(len(stencils)):
        if start in origin:
            continue
        origin[start] = np.zeros(stencils[start].offsets.shape[1], np.int64)
        linked = [start]
        for k in linked:
            first = np.unique(stencils[k].orientation, return_index=True)
            for other, place in zip(*(part.tolist() for part in first), strict=True):
                if other not in origin:
                    origin[other] = origin[k] + stencils[k].offsets[place]
                    linked.append(other)
        moves = [
            origin[k] + stencils[k].offsets - _origins(origin, stencils[k].orientation)
            for k in linked
        ]
        yield [tuple(move) for move in np.unique(np.concatenate(moves), axis=0).tolist()]


def _origins(origin: dict[int, Indices], orientations: Indices) -> Indices:
    """(N, d) offset at which the walk first reaches each of these orientations."""
    size = len(next(iter(origin.values())))
    return np.array([origin[j] for j in orientations.tolist()]).reshape(-1, size)
