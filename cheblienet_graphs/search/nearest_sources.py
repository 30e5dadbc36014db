"""The sources of each target of a map: the nearest ones, or all within a radius, exactly.

A tree finds the nearest of the sources on the base, to which the projection is 1-Lipschitz: sources
that are not among them are at least as far as the last of them. More are looked at for targets
where that is not far enough.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial import KDTree

from cheblienet_graphs.errors import MISSING, SpecError, Unquoted
from cheblienet_graphs.manifolds.moments import array
from cheblienet_graphs.search.positions import PlacedPoints, first_of_each
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats, Indices

SHELL = 1e-6
"""Relative difference of d^2 below which sources are equally far."""
PAIRS_AT_ONCE = 2**20
"""Distances that are in memory together."""
SPARE = 8
"""Number of sources looked at first beyond the number asked for."""
LOOKED_AT = 24
"""Sources looked at first where there is a radius."""
CHORD = 1e-15
"""Error of distances between points of the base."""
ROUNDING = 1e-9
"""Relative error of lengths."""


Entries = tuple[Indices, Indices, Floats]
"""Rows, columns and d^2."""


class Crossing:
    """Searches for the sources of targets, on the same manifold with the same metric.

    Args:
        sources: on a torus in [0, period).
        targets: likewise.
        neighbors: K, where a target lists the K nearest sources, and all as far as the last of
            them, to SHELL of d^2; else None.
        radius: within which it lists all, in units of length of the metric; else None.
    """

    def __init__(
        self,
        sources: PlacedPoints,
        targets: PlacedPoints,
        neighbors: int | None,
        radius: float | None = None,
    ) -> None:
        self._sources, self._targets, self._radius = sources, targets, radius
        self._own = targets.cloud()
        self._count = neighbors or LOOKED_AT
        self._look(sources.likely_reach(self._count + 1))

    def _look(self, reach: float) -> None:
        """Have the images of sources within a distance of the domain."""
        try:
            self._cloud = self._sources.cloud(reach)
        except SpecError as error:
            accepted = f"less here: sources would be looked for {reach:.3g} away, over many periods"
            field = "neighbors" if self._radius is None else "radius"
            raise SpecError(field, accepted, MISSING) from error
        self._reach, self._tree = reach, KDTree(self._cloud.base)

    def blocks(self) -> Iterator[tuple[RowBlock, Floats]]:
        """The sources of all targets, as rows of a matrix, and (nnz,) d^2 to them.

        Raises:
            SpecError: a radius holds no source of some target, or too many images are within reach.
        """
        first = min(self._count + SPARE, len(self._sources))
        step = max(1, PAIRS_AT_ONCE // (4 * first))
        for start in range(0, len(self._targets), step):
            yield self._block(np.arange(start, min(start + step, len(self._targets))), first)

    def _block(self, rows: Indices, looked_at: int) -> tuple[RowBlock, Floats]:
        """The sources of some targets; more are looked at where these are not enough."""
        pieces, pending = [], rows
        while len(pending):
            looked_at = min(looked_at, self._cloud.images)
            step = max(1, PAIRS_AT_ONCE // looked_at)
            some = [pending[lo : lo + step] for lo in range(0, len(pending), step)]
            parts = [self._listed(each, looked_at) for each in some]
            pieces += [entries for entries, _ in parts]
            pending = np.concatenate([missed for _, missed in parts])
            if looked_at == self._cloud.images and len(pending):
                self._look(2 * self._reach)
            looked_at *= 2
        row, columns, squared = (np.concatenate(part) for part in zip(*pieces, strict=True))
        order = np.lexsort((columns, row))
        counts = np.bincount(row - rows[0], minlength=len(rows))
        if not counts.all():
            raise self._too_small(rows[counts == 0])
        ends = np.append(0, np.cumsum(counts))
        start, stop = int(rows[0]), int(rows[-1]) + 1
        return RowBlock(start, stop, ends, columns[order]), squared[order]

    def _limits(self, squared: Floats) -> Floats:
        """(rows,) d^2 up to which sources are listed, of (rows, M) d^2; inf where M is too few."""
        if self._radius is not None:
            return np.full(len(squared), self._radius**2)
        last: Floats = np.partition(squared, self._count - 1, axis=1)[:, self._count - 1]
        return last * (1 + SHELL)

    def _listed(self, rows: Indices, count: int) -> tuple[Entries, Indices]:
        """Entries of targets, by (rows, columns, d^2), and the targets that need more looked at."""
        near = self._tree.query(self._targets.base[rows], count)
        chords, images = (np.reshape(part, (len(rows), -1)) for part in near)
        sources = self._cloud.source[images]
        squared = self._measured(rows, images)
        if self._sources.periods is not None:
            nearest_first = np.lexsort((squared, sources), axis=1)
            squared[~first_of_each(sources, nearest_first)] = np.inf
        limits = self._limits(squared)
        bound = self._cloud.bound(np.maximum(chords[:, -1] - CHORD, 0), count)
        done = limits * (1 + ROUNDING) < np.minimum(bound, self._cloud.complete_within**2)
        chosen = done[:, None] & (squared <= limits[:, None])
        entries = np.nonzero(chosen)[0]
        return (rows[entries], sources[chosen], squared[chosen]), rows[~done]

    def _measured(self, rows: Indices, images: Indices) -> Floats:
        """(rows, M) d^2 between targets and images of sources."""
        end = tuple(array(element[0][images]) for element in self._cloud.elements)
        return self._own.measured(self._own.at(rows[:, None]), end)

    def _too_small(self, rows: Indices) -> SpecError:
        """The error where a radius leaves targets without sources; names one that does not."""
        alone = replace(
            self._targets, columns=self._targets.columns[rows], base=self._targets.base[rows]
        )
        nearest = Crossing(self._sources, alone, 1).blocks()
        least = math.sqrt(max(float(squared.max()) for _, squared in nearest))
        found = Unquoted(f"none of target {rows[0]:,}, whose nearest source is farther")
        fewer = f"Use `radius={1.001 * least:.4g}` or more."
        return SpecError("radius", "such that each target has a source", found, fewer)
