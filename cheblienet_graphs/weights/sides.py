"""Edges along an open lattice's sides, which give back the energy that the sides take.

A solution lets no heat flow through a side: its gradient p has n^T D p = 0, with n across the side
and D half the second moments. There is one such p for each gradient along the side. Cut off at the
side, a stencil has less energy than p^T D p for each vertex. For each vertex at the side,

- 1/2 sum |c_n| w_c (c^T p)^2 over the offsets c that lead across are left out;
- r^T L^+ r is what a layer takes besides. First moments r = sum w_c c^T p cancel in the rows next
  to the side altogether, but not in each, so that p^T x is not the function of least energy: that
  has a layer, which dies away from the side. L is the stencil's, by rows alone.

Neither is negative. Together they are small by one power of the spacing, which is why eigenvalues
would converge at first order. Edges along the side with the same energy mend it: their offsets and
weights follow from Selling's formula, as the stencils themselves do. Gradients along the fiber are
free; what is cut off of them comes back on the steps from each orientation to the next.
"""

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from cheblienet_graphs.machine.threads import one_blas_thread
from cheblienet_graphs.samplings.lattice import nearest_image
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.superbases import OBTUSE, FiberEdges, base_offsets

FEWEST_ROWS, MOST_ROWS = 64, 2**15
"""Numbers of rows of the layer at a side; they are doubled until they do not matter."""
CLOSE = 1e-13
"""Then what it takes changes by less than this, D being of order 1."""

Edges = tuple[Indices, Indices, Floats]
"""(N,) orientations, (N, d) offsets and (N,) weights, in pixels^-2."""


def along_sides(
    stencils: Sequence[Stencil], values: Sequence[Floats], *, cyclic: bool = True
) -> list[list[Edges]]:
    """The edges along sides: for each axis that a side is across, for each orientation.

    Both sides across an axis have the same ones, as the half turn maps them to one another.

    Args:
        stencils: of an infinite lattice, by orientation.
        values: weights in pixels^-2, the same for opposite offsets.
        cyclic: whether orientations are angles, each next to the one before; not so of axes.
    """
    with one_blas_thread():
        dimension = stencils[0].offsets.shape[1]
        along_fiber = _steps if cyclic else _tilts
        return [
            _across(axis, stencils, values, along_fiber(axis, stencils, values))
            for axis in range(dimension)
        ]


def _across(
    axis: int,
    stencils: Sequence[Stencil],
    values: Sequence[Floats],
    along_fiber: Sequence[FiberEdges],
) -> list[Edges]:
    by_orientation = []
    for k, (stencil, weights) in enumerate(zip(stencils, values, strict=True)):
        still = [0] * stencil.offsets.shape[1]
        edges = [
            (k, *np.insert(v, axis, 0).tolist(), weight)
            for v, weight in _realized(missing(stencil.offsets, weights, axis))
        ]
        edges += [(other, *still, weight) for other, weight in along_fiber[k] if weight > OBTUSE]
        columns = np.array(edges).reshape(-1, 2 + len(still))
        # Of two orientations each is the next one and the one before.
        keys, place = np.unique(columns[:, :-1].astype(np.int64), axis=0, return_inverse=True)
        summed = np.bincount(place.ravel(), columns[:, -1], len(keys)).astype(np.float64)
        by_orientation.append((keys[:, 0], keys[:, 1:], summed))
    return by_orientation


def missing(offsets: Indices, weights: Floats, axis: int) -> Floats:
    """(d - 1, d - 1) the form Q of what a side across an axis takes: t^T Q t for each vertex there.

    Args:
        offsets: (N, d) of a stencil, opposite ones with the same weight.
        weights: (N,) in pixels^-2.
        axis: that the side is across.
    """
    if not offsets[:, axis].any():  # as of few axes, all sideways edges may lead to others
        return np.zeros((offsets.shape[1] - 1,) * 2)
    diffusion = np.einsum("j,ja,jb->ab", weights, offsets, offsets) / 2
    gradients = np.delete(np.eye(len(diffusion)), axis, axis=0)
    gradients[:, axis] = -np.delete(diffusion[axis], axis) / diffusion[axis, axis]
    rises = offsets @ gradients.T
    across = offsets[:, axis]
    out = across < 0
    cut = np.einsum("j,ja,jb->ab", (weights * -across / 2)[out], rises[out], rises[out])
    reach = int(abs(across).max())
    inside = np.arange(reach)[:, None] + across >= 0
    moments = (inside * weights) @ rises
    both_ways = np.bincount(abs(across), weights).astype(np.float64)
    form: Floats = cut + _layer(moments, both_ways / 2)
    return form


def _layer(moments: Floats, coupling: Floats) -> Floats:
    """r^T L^+ r, for rows that have no end away from the side.

    Args:
        moments: (rows, d - 1) r, of the rows next to the side, 0 in all others; columns sum to 0.
        coupling: (reach + 1,) weight of the edges between two rows, by their distance; the first is
            not looked at.
    """
    if abs(moments).max(initial=0) <= OBTUSE:
        return np.zeros((moments.shape[1],) * 2)
    rows = max(FEWEST_ROWS, 8 * len(coupling))
    before = None
    while True:
        taken = _layer_of(rows, moments, coupling)
        if rows >= MOST_ROWS or (before is not None and abs(taken - before).max() <= CLOSE):
            return taken
        rows = 2 * rows
        before = taken


def _layer_of(rows: int, moments: Floats, coupling: Floats) -> Floats:
    """The same for so many rows; the layer is 0 in the last one, as constants do not matter."""
    reach = len(coupling) - 1
    bands = np.zeros((reach + 1, rows))
    for distance in range(1, reach + 1):
        bands[0, : rows - distance] += coupling[distance]
        bands[0, distance:] += coupling[distance]
        bands[distance, : rows - distance] = -coupling[distance]
    force = np.zeros((rows, moments.shape[1]))
    force[: len(moments)] = moments
    layer = scipy.linalg.solveh_banded(bands[:, :-1], force[:-1], lower=True)
    taken: Floats = force[:-1].T @ layer
    return (taken + taken.T) / 2


def _realized(form: Floats) -> list[tuple[tuple[int, ...], float]]:
    """Offsets v along a side, both v and -v, and weights with sum of weight v v^T = 2 Q."""
    if len(form) == 1:
        (weight,) = form.ravel().tolist()
        return [((1,), weight), ((-1,), weight)] if weight > OBTUSE else []
    if abs(form - np.diag(np.diag(form))).max() <= OBTUSE:
        rates = np.diag(form)
        directions = np.eye(len(form))
    else:
        rates, directions = np.linalg.eigh(form)
    return base_offsets([*zip(rates.clip(min=0).tolist(), directions.T.tolist(), strict=True)])


def _steps(axis: int, stencils: Sequence[Stencil], values: Sequence[Floats]) -> list[FiberEdges]:
    """The steps from each orientation to the next and to the one before, at a side across an axis.

    An edge over several orientations is given back on each step between them.
    """
    count = len(stencils)
    steps = np.zeros(count)
    for k, (stencil, weights) in enumerate(zip(stencils, values, strict=True)):
        turn = nearest_image(stencil.orientation - k, count)
        across = stencil.offsets[:, axis]
        chosen = (across < 0) & (turn != 0)
        for n in np.flatnonzero(chosen).tolist():
            over = int(turn[n])
            first = k if over > 0 else k + over
            for step in range(first, first + abs(over)):
                steps[step % count] += weights[n] * -across[n] * abs(over) / 2
    return [
        [((k + 1) % count, float(steps[k])), ((k - 1) % count, float(steps[k - 1]))]
        for k in range(count)
    ]


def _tilts(axis: int, stencils: Sequence[Stencil], values: Sequence[Floats]) -> list[FiberEdges]:
    """The edges from each sample of the fiber to others; cut-off ones come without their step.

    Args:
        axis: that the side is across.
        stencils: of an infinite lattice, by sample.
        values: their weights.
    """
    cut = np.zeros((len(stencils),) * 2)
    for row, stencil, weights in zip(cut, stencils, values, strict=True):
        across = stencil.offsets[:, axis]
        np.add.at(row, stencil.orientation, weights * -across.clip(max=0) / 2)
    np.fill_diagonal(cut, 0)
    return [[(j, float(row[j])) for j in np.flatnonzero(row).tolist()] for row in cut + cut.T]
