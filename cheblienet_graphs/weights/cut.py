"""Weights at the edge of a domain that cuts pixels: the rows that differ from a lattice's own.

The weight of an edge is that of its offset, times the part in the domain of the unit square, or
cube, about its midpoint; that of an edge along the fiber, times the mass of its vertices. So the
energy of smooth functions is right up to second order, whatever the edge of the domain.

An end that is no vertex, as its pixel has a small part, takes the mean of the vertices that edges
of its orientation join it to, by weight, which is the value of least energy unless it has edges to
others of its kind. So the energy stays a form in the values of the vertices: an end alone joins any
two of its vertices a, b with w_a w_b / sum w, unless nothing of the domain is midway, as across a
gap one pixel wide. Weights stay from 0 where edges to others of its kind weigh no more than edges
to vertices. What exceeds that, and edges to other orientations, is moved to the nearest edges of
the same offset between vertices.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from cheblienet_graphs.samplings.lattice import nearest_image
from cheblienet_graphs.samplings.masked import FAR, CutSampling, shells
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import MaskedStencils, reach
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.weights.lattice import LatticeWeights

VANISHED = 1e-9
"""Weights up to this share of the largest one of the lattice are left out."""


def rows_at_edge(
    cut: CutSampling, stencils: MaskedStencils, weights: "LatticeWeights", halves: Floats
) -> scipy.sparse.csr_array:
    """(V, V) the rows of W at the edge of a domain, each with a diagonal of 0; others are empty.

    Args:
        cut: the vertices.
        stencils: edges of the lattice with both ends among them.
        weights: of the lattice; opposite edges are both there.
        halves: (2 height, 2 width), in space (2 depth, 2 height, 2 width): the part of each half
            pixel in the domain.
    """
    vertices, largest = cut.num_vertices, max(values.max() for values in weights.values)
    near = _Near(cut, max(reach(weights.stencils)), halves)
    parts = [
        part
        for k, of_orientation in enumerate(zip(weights.stencils, weights.values, strict=True))
        for part in near.changes(k, *of_orientation)
    ]
    row, column, change = map(np.concatenate, zip(*parts, strict=True))
    low, high = np.minimum(row, column), np.maximum(row, column)
    upper = scipy.sparse.coo_array((change, (low, high)), (vertices, vertices)).tocsr()
    changes = (upper + upper.T).tocsr()
    # With diagonals, as rows of Laplacians have: their numbers are only there to be kept.
    rows = (_inside(cut, stencils, changes, weights.values) + changes).tocsr()
    rows.sum_duplicates()
    row = np.repeat(np.arange(vertices), np.diff(rows.indptr))
    diagonal = rows.indices == row
    kept = diagonal | (rows.data > VANISHED * largest)
    values = np.where(diagonal, 0.0, rows.data)[kept]
    indptr = np.append(0, np.cumsum(np.bincount(row[kept], minlength=vertices)))
    return scipy.sparse.csr_array((values, rows.indices[kept], indptr), rows.shape)


def _inside(
    cut: CutSampling,
    stencils: MaskedStencils,
    changes: scipy.sparse.csr_array,
    values: Sequence[Floats],
) -> scipy.sparse.csr_array:
    """(V, V) the lattice's own weights of the rows that change, 1 on the diagonal."""
    counts = np.zeros(changes.shape[0], np.int64)
    parts = [(np.empty(0, np.int64), np.empty(0))]
    by_orientation = np.split(np.diff(changes.indptr) > 0, len(values))
    for k, numbers in enumerate(map(np.flatnonzero, by_orientation)):
        own = numbers + k * cut.num_points
        counts[own], columns, weights = stencils.look_up(k, numbers, [values[k]])
        parts.append((columns, np.where(np.repeat(own, counts[own]) == columns, 1.0, weights)))
    columns, weights = map(np.concatenate, zip(*parts, strict=True))
    entries = weights, columns, np.append(0, np.cumsum(counts))
    return scipy.sparse.csr_array(entries, shape=changes.shape)


Changes = tuple[Indices, Indices, Floats]
"""(N,) rows and columns, in any order, each edge once, and what is added to its weight."""
Links = tuple[Indices, Indices, Floats]
"""(N,) places of both ends of edges in a wide map, and weights."""


class _Near:
    """The pixels near the edge of a domain, in a wide map of the lattice.

    In the map, flat, `_numbers` has the vertices, -1 where there is none, and `_names` what all
    images of a pixel have in common.

    Args:
        cut: the vertices.
        reach: the largest offset along any axis.
        halves: the part of each half pixel in the domain.
    """

    def __init__(self, cut: CutSampling, reach: int, halves: Floats) -> None:
        from scipy.ndimage import maximum_filter, minimum_filter  # slow to import

        self._cut, lattice = cut, cut.full
        _, self._own = lattice.decode(cut.places)
        shape, margin = lattice.shape, 2 * reach + 2 + FAR
        self._margin = margin
        beyond: dict[str, Any] = {"mode": "wrap" if lattice.periodic else "constant"}
        fraction = np.pad(cut.fraction.reshape(shape), margin, **beyond)
        self._halves = np.pad(halves, 2 * margin, **beyond)
        outside: dict[str, Any] = beyond if lattice.periodic else {"constant_values": -1}
        numbers = np.pad(cut.inside.reshape(shape), margin, **outside)
        own = np.arange(numbers.size).reshape(numbers.shape)
        core = tuple(slice(margin, margin + side) for side in shape)
        names = np.pad(own[core], margin, **beyond) if lattice.periodic else own
        self._numbers: Indices = numbers.ravel()
        self._names: Indices = names.ravel()
        self._strides = np.array(own.strides) // own.itemsize
        window = 2 * reach + 3
        near = (minimum_filter(fraction, window) < 1) & (maximum_filter(fraction, window) > 0)
        around = 0 if lattice.periodic else reach + 1
        kept = np.zeros(near.shape, bool)
        kept[tuple(slice(s.start - around, s.stop + around) for s in core)] = True
        self._places = np.argwhere(near & kept)
        self._wide = self._places @ self._strides
        self._shells = shells(lattice.sides)

    def changes(self, k: int, stencil: Stencil, weights: Floats) -> Iterator[Changes]:
        """The changes at an orientation; edges to others are edges to later ones."""
        count, arms, links = self._cut.num_points, list[Changes](), list[Links]()
        # Of two opposite offsets one.
        later = stencil.orientation > k
        first = np.take_along_axis(
            stencil.offsets, (stencil.offsets != 0).argmax(axis=1)[:, None], axis=1
        ).ravel()
        once = np.flatnonzero(later | ((stencil.orientation == k) & (first > 0)))
        for n in once.tolist():
            offset, j, weight = stencil.offsets[n], int(stencil.orientation[n]), weights[n]
            start, end = self._wide, self._wide + int(offset @ self._strides)
            one, other = self._numbers[start], self._numbers[end]
            both, part = (one >= 0) & (other >= 0), self._part(offset)
            here = both & (part != 1)
            yield k * count + one[here], j * count + other[here], weight * (part[here] - 1)
            if not offset.any():
                continue
            rest = ~both & (part > 0)
            if j > k:
                moved = self._moved(start[rest], end[rest], weight * part[rest])
                yield from ((k * count + a, j * count + b, value) for a, b, value in moved)
                continue
            for vertex, none in ((one, end), (other, start)):
                arm = rest & (vertex >= 0)
                arms.append((self._names[none[arm]], vertex[arm], weight * part[arm]))
            rest &= (one < 0) & (other < 0)
            links.append((start[rest], end[rest], weight * part[rest]))
        if arms:
            for a, b, value in self._means(*map(_joined, (arms, links))):
                yield k * count + a, k * count + b, value

    def _means(self, arms: Changes, links: Links) -> Iterator[Changes]:
        """The edges with one or both ends replaced by means of vertices, in one orientation.

        Args:
            arms: names of such ends, vertices, and the weights of edges between them.
            links: both ends' places in the wide map, and weights.
        """
        (names, vertices, weights), (start, end, between) = arms, links
        every, which = np.unique(names, return_inverse=True)
        total = np.bincount(which, weights, len(every)).astype(np.float64)  # also of none
        shape = len(every), self._cut.num_points
        shares = weights / total[which]
        means = scipy.sparse.coo_array((shares, (which, vertices)), shape).tocsr()
        ends = [np.searchsorted(every, self._names[wide]) for wide in (start, end)]
        known = np.append(every, -1)
        there = np.all(
            [known[e] == self._names[w] for e, w in zip(ends, (start, end), strict=True)], axis=0
        )
        one, other = (e[there] for e in ends)
        load = np.bincount(np.append(one, other), np.tile(between[there], 2), len(every)) * 1.0
        spare = np.minimum(1, np.divide(total, load, out=np.ones_like(total), where=load > 0))
        kept = between[there] * np.minimum(spare[one], spare[other])
        apart = means[one] - means[other]
        form = means.T @ (total[:, None] * means) - apart.T @ (kept[:, None] * apart)
        joined = scipy.sparse.triu(form, 1).tocoo()
        row, column = (ends.astype(np.int64) for ends in joined.coords)
        near = self._midway(row, column) > 0
        yield row[near], column[near], joined.data[near]
        rest = between.copy()
        rest[there] -= kept
        left = rest > 0
        yield from self._moved(start[left], end[left], rest[left])

    def _part(self, offset: Indices) -> Floats:
        """The part in the domain about midpoints, or the mass of vertices where nothing moves."""
        if not offset.any():
            number = self._numbers[self._wide]
            return np.where(number >= 0, self._cut.masses[number], 0.0)
        return self._about(2 * self._places + offset)

    def _midway(self, one: Indices, other: Indices) -> Floats:
        """The part in the domain about the midpoints of vertices; 0 across a gap between parts."""
        lattice = self._cut.full
        places = np.array(self._own)
        steps = places[:, other] - places[:, one]
        if lattice.periodic:
            steps = nearest_image(steps, np.array(lattice.shape)[:, None])
        return self._about(2 * (places[:, one] + self._margin).T + steps.T)

    def _about(self, corners: Indices) -> Floats:
        """The part of squares in the domain, by their first half pixels, (N, d)."""
        every = itertools.product((0, 1), repeat=corners.shape[1])
        part: Floats = np.mean([self._halves[tuple((corners + c).T)] for c in every], axis=0)
        return part

    def _moved(self, start: Indices, end: Indices, values: Floats) -> Iterator[Changes]:
        """Weights at the nearest edges of the same offset, in equal parts."""
        for offsets in self._shells:
            steps = offsets @ self._strides
            one, other = self._numbers[start[:, None] + steps], self._numbers[end[:, None] + steps]
            there = (one >= 0) & (other >= 0)
            row = np.nonzero(there)[0]
            shares = values / np.maximum(there.sum(axis=1), 1)
            yield one[there], other[there], shares[row]
            left = ~there.any(axis=1)
            start, end, values = start[left], end[left], values[left]


def _joined(parts: Sequence[Changes]) -> Changes:
    """Several of them as one."""
    row, column, values = map(np.concatenate, zip(*parts, strict=True))
    return row, column, values
