"""Rows of the gradients of a part of a lattice, or of points off lattices."""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.copies import (
    MARGIN,
    PARTS,
    ROWS_AT_ONCE,
    by_field,
    sum_with_transpose,
)
from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.gradients.fields import Valued, field_rows
from cheblienet_graphs.gradients.lattice import WINDOW, LatticeGradient
from cheblienet_graphs.gradients.source import Source
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.sparse import RowBlock, rows
from cheblienet_graphs.spec.fibers import field_spacings
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.staged import Range, cut
from cheblienet_graphs.typing import Indices

if TYPE_CHECKING:
    from cheblienet_graphs.assembly.staged_level import StagedLevel

REGULAR = ("icosahedral", "healpix")
"""Samplings of the sphere with about equally spaced points: few neighbors are enough."""
FEWEST = {False: (6, 16), True: (16, 32)}
"""Neighbors on regular spheres and elsewhere, without and with orientations."""
MORE = 24
"""Neighbors that are looked for beyond the fewest, so that their last shell is whole."""


class ComputedGradients:
    """The rows of both matrices, few at a time.

    Args:
        level: as far as its build has come.
    """

    def __init__(self, level: "StagedLevel") -> None:
        self._level = level
        self._domain = level.plan.domain
        geometry = level.plan.spec.geometry
        turned = geometry.base.flat and geometry.oriented
        source = _source(level.plan, turned=turned)
        self._fields = partial(field_rows, source, self._domain, turned=turned)
        self._made = lru_cache(1)(self._computed)  # a level often is one block

    def of(self, part: str, start: int, stop: int) -> Iterable[Valued]:
        """Rows of a part over any points; sums with transposes are made from the staged fields."""
        return self._made(part, start, stop)

    def _computed(self, part: str, start: int, stop: int) -> list[Valued]:
        return [*(self._fields if part == layout.FIELDS else self._sums)(start, stop)]

    def _sums(self, start: int, stop: int) -> Iterator[Valued]:
        """G + G^T of all fields."""
        own = self._over(start, stop)
        count = stop - start
        vertices = self._domain.num_vertices
        near = cut(self._reaching(start, stop), ROWS_AT_ONCE)
        for field, matrix in enumerate(by_field(self.matrix)):
            total = sum_with_transpose(matrix, own, (self._over(*points) for points in near))
            for first in range(0, len(own), count):
                some = rows(total, first, first + count)
                row = field * vertices + int(own[first])
                yield RowBlock(row, row + count, some.indptr, some.indices), some.data

    def _over(self, start: int, stop: int) -> Indices:
        """The vertices over some points, ascending."""
        turns = np.arange(0, self._domain.num_vertices, self._domain.num_points)
        return (turns[:, None] + np.arange(start, stop)).ravel()

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The fields, mapped, once they are staged."""
        return self._level.gradients(layout.FIELDS)

    def _reaching(self, start: int, stop: int) -> list[Range]:
        """Ranges of points from which rows may reach some points."""
        domain = self._domain
        points = self._domain.num_points
        lattice, places = domain.lattice, domain.places
        if lattice is None or places is None:
            return [(0, points)]
        across = MARGIN * int(np.cumprod([1, *lattice.shape[:0:-1]]).sum())
        lo = int(places[start]) - across
        hi = int(places[stop - 1]) + across + 1
        if lattice.periodic and hi - lo >= lattice.num_points:
            return [(0, points)]
        around = (-lattice.num_points, 0, lattice.num_points) if lattice.periodic else (0,)
        ranges = [np.searchsorted(places, [lo + turn, hi + turn]) for turn in around]
        return [(int(first), int(last)) for first, last in ranges if first < last]


def _source(plan: LevelPlan, *, turned: bool) -> Source:
    """The source of a level's rows; rows of the base where fields turn with theta."""
    spec, domain = plan.spec, plan.domain
    if domain.lattice is not None:
        return LatticeGradient(domain.lattice, domain).rows
    # It needs torch, which lattices do without.
    from cheblienet_graphs.gradients.searched import SearchedGradient

    manifold = MANIFOLDS["r2"] if turned else spec.geometry
    sampling = domain.without_fiber() if turned else domain
    fewest = FEWEST[manifold.oriented][spec.sampling not in REGULAR]
    searches = plan.choice.engine in {"pruned", "keops"}
    choice = plan.choice if searches else Choice("pruned", "cpu")
    spacings = field_spacings(spec, plan.number)[: len(manifold.frame)]
    counts = fewest, fewest + MORE
    return SearchedGradient(sampling, manifold, spacings, counts, choice).rows


def gradient_entries(plan: LevelPlan) -> dict[str, int]:
    """The number of entries of each part: exact on whole lattices, else an upper bound."""
    spec = plan.spec
    points = plan.spec.base_points(plan.number)
    if not spec.sampling_kind.regular:
        one = points * (max(FEWEST[spec.geometry.oriented]) + MORE + 1)
        both = 2 * one
    elif (copied := plan.copied_gradients) is not None:
        return {part: copied.entries(part) for part in PARTS}
    else:
        dimension = spec.geometry.base.dimension
        cut = plan.domain.points_at_edge
        at_edges = cut * (2 * WINDOW + 1) ** dimension
        one = (points - cut) * 3**dimension + at_edges
        both = 2 * at_edges
    times = len(spec.geometry.frame) * spec.orientations
    return {layout.FIELDS: times * one, layout.SYMMETRIC: times * both}
