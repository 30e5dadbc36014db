"""The gradients of a level, in sweeps of their own: their rows, and what makes their transposes.

A gradient G is stored with S = G + G^T, so that a reader has G^T = S - G. Inside lattices G is
antisymmetric, so S has entries next to sides and masks only.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.lattice_rows import CopiedRows, SmallLattice
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.sweeps import Sweep
from cheblienet_graphs.gradients.fields import FieldRows, Fields, norms
from cheblienet_graphs.gradients.lattice import WINDOW, LatticeGradient
from cheblienet_graphs.gradients.source import Source
from cheblienet_graphs.machine import kept
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.manifolds.base import NO_FIBER
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.sparse import RowBlock, rows
from cheblienet_graphs.spec.fibers import units
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import GradientFacts
from cheblienet_graphs.store.staged import Range, Result, Writer, cut
from cheblienet_graphs.typing import Indices

MARGIN = WINDOW + 1
"""Places from a side of a lattice whose rows are no copies: one-sided rows reach WINDOW of them."""
REGULAR = ("icosahedral", "healpix")
"""Samplings of the sphere whose points are about equally far apart: few neighbors are enough."""
FEWEST = {False: (6, 16), True: (16, 32)}
"""Neighbors on regular spheres and elsewhere, without and with orientations."""
MORE = 24
"""Neighbors that are looked for beyond the fewest, so that their last shell is whole."""
PARTS = (layout.FIELDS, layout.SYMMETRIC)
ROWS_AT_ONCE = 2**16
"""Rows of which entries are looked through together."""


class CopiedGradients:
    """The rows of both matrices of a whole lattice: copies of those of a small one.

    Args:
        level: of a lattice, without a mask.

    Attributes:
        matrix: the fields of the small lattice, which have the same norms.
    """

    def __init__(self, level: Level) -> None:
        lattice = level.full
        if not isinstance(lattice, Lattice):
            raise TypeError("copies are those of a lattice")
        small = SmallLattice(lattice, (MARGIN for _ in lattice.shape))
        source = LatticeGradient(small.lattice, None, lattice.relative / lattice.width)
        fields = Fields(source, small.lattice, turned=level.spec.geometry.oriented)
        self.matrix = _matrix(fields.of(0, small.lattice.num_points), small.lattice.num_vertices)
        every = np.arange(small.lattice.num_vertices)
        sums = [_sum_with_transpose(of, every, [every]) for of in _by_field(self.matrix)]
        self._lattice, self._small = lattice, small
        self._rows = len(sums) * lattice.num_vertices
        self._copied = {
            part: CopiedRows(small, _block(matrix), matrix.data)
            for part, matrix in zip(PARTS, (self.matrix, scipy.sparse.vstack(sums)), strict=True)
        }

    def entries(self, part: str) -> int:
        """How many there are on the large lattice."""
        counts = np.diff(self._copied[part].block.indptr)
        return int(counts @ np.resize(self._small.times, len(counts)))

    def of(self, part: str, start: int, stop: int) -> Iterator[FieldRows]:
        """Those of a part, layout.FIELDS or layout.SYMMETRIC, over the points of whole lines."""
        lattice, copied = self._lattice, self._copied[part]
        few = max(1, ROWS_AT_ONCE // lattice.width) * lattice.width
        turns = range(0, self._rows, lattice.num_points)
        for first, last in cut([(turn + start, turn + stop) for turn in turns], few):
            counts = copied.counts(first, last)
            entries = copied.entries(first, np.append(0, np.cumsum(counts)))
            yield FieldRows(first, counts, entries.columns, entries.values)


class ComputedGradients:
    """The same of a part of a lattice, or of points off lattices.

    Args:
        level: as far as its build has come.
    """

    def __init__(self, level: Level) -> None:
        self._level, geometry = level, level.spec.geometry
        turned = geometry.base.flat and geometry.oriented
        self._fields = Fields(_source(level, turned=turned), level.sampling, turned=turned)
        self._made = lru_cache(1)(self._computed)  # a level often is one block

    def of(self, part: str, start: int, stop: int) -> Iterable[FieldRows]:
        """As of copies, over any points; sums with transposes are made from the staged fields."""
        return self._made(part, start, stop)

    def _computed(self, part: str, start: int, stop: int) -> list[FieldRows]:
        return [*(self._fields.of if part == layout.FIELDS else self._sums)(start, stop)]

    def _sums(self, start: int, stop: int) -> Iterator[FieldRows]:
        """G + G^T of all fields."""
        own, count, vertices = self._over(start, stop), stop - start, self._level.num_vertices
        near = cut(self._reaching(start, stop), ROWS_AT_ONCE)
        for field, matrix in enumerate(_by_field(self.matrix)):
            total = _sum_with_transpose(matrix, own, (self._over(*points) for points in near))
            for first in range(0, len(own), count):
                some = rows(total, first, first + count)
                row = field * vertices + int(own[first])
                yield FieldRows(row, np.diff(some.indptr), some.indices, some.data)

    def _over(self, start: int, stop: int) -> Indices:
        """The vertices over some points, ascending."""
        turns = np.arange(0, self._level.num_vertices, self._level.sampling.num_points)
        return (turns[:, None] + np.arange(start, stop)).ravel()

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The fields, mapped, once they are staged."""
        return self._level.gradients(layout.FIELDS)

    def _reaching(self, start: int, stop: int) -> list[Range]:
        """Ranges of points whose rows may reach some points."""
        inside, full, points = self._level.inside, self._level.full, self._level.sampling.num_points
        if inside is None or not isinstance(full, Lattice):
            return [(0, points)]
        across = MARGIN * int(np.cumprod([1, *full.shape[:0:-1]]).sum())
        lo, hi = int(inside.places[start]) - across, int(inside.places[stop - 1]) + across + 1
        if full.periodic and hi - lo >= full.num_points:
            return [(0, points)]
        around = (-full.num_points, 0, full.num_points) if full.periodic else (0,)
        ranges = [np.searchsorted(inside.places, [lo + turn, hi + turn]) for turn in around]
        return [(int(first), int(last)) for first, last in ranges if first < last]


def _source(level: Level, *, turned: bool) -> Source:
    """Where the rows of a level come from; those of the base where fields turn with theta."""
    spec, full = level.spec, level.full
    if isinstance(full, Lattice):
        return LatticeGradient(full, level.inside)
    # It needs torch, which lattices do without.
    from cheblienet_graphs.gradients.searched import SearchedGradient

    manifold = MANIFOLDS["r2"] if turned else spec.geometry
    sampling = _base(level.sampling) if turned else level.sampling
    fewest = FEWEST[manifold.oriented][spec.sampling not in REGULAR]
    searches = level.choice.engine in {"pruned", "keops"}
    choice = level.choice if searches else Choice("pruned", "cpu")
    spacings = units(spec, level.number)[: len(manifold.frame)]
    return SearchedGradient(sampling, manifold, spacings, (fewest, fewest + MORE), choice)


def _base(sampling: Sampling) -> Sampling:
    """The points alone, without orientations."""
    if isinstance(sampling, MaskedSampling):
        full: Any = _base(sampling.full)
        return MaskedSampling(full, sampling.places)
    given: Any = sampling
    base: Sampling = replace(given, orientations=1, fiber=NO_FIBER)
    return base


def _matrix(pieces: Iterable[FieldRows], vertices: int) -> scipy.sparse.csr_array:
    """(rows, V) all rows, which are in pieces in any order, float32."""
    by_row = sorted(pieces, key=lambda piece: piece.row)
    _, *parts = zip(*by_row, strict=True)
    counts, columns, values = map(np.concatenate, parts)
    entries = values.astype(np.float32), columns, np.append(0, np.cumsum(counts))
    return scipy.sparse.csr_array(entries, shape=(len(counts), vertices))


def _by_field(matrix: scipy.sparse.csr_array) -> Iterator[scipy.sparse.csr_array]:
    """The matrix of each field, (V, V), from those of all, one below the other."""
    vertices = matrix.shape[1]
    return (rows(matrix, first, first + vertices) for first in range(0, matrix.shape[0], vertices))


def _sum_with_transpose(
    matrix: scipy.sparse.csr_array, own: Indices, near: Iterable[Indices]
) -> scipy.sparse.csr_array:
    """(N, V) float64 some rows of G + G^T, without zeros.

    Args:
        matrix: (V, V) G.
        own: (N,) which rows, ascending.
        near: all rows with entries in these columns, some after others, each ascending.
    """
    total = matrix[own].astype(np.float64)
    for some in near:
        turned = matrix[some][:, own].T.tocsr()
        columns = some[turned.indices]
        total += scipy.sparse.csr_array((turned.data, columns, turned.indptr), total.shape)
    total.eliminate_zeros()
    total.sort_indices()
    return total


def _block(matrix: scipy.sparse.csr_array) -> RowBlock:
    """All rows of a matrix."""
    indptr, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return RowBlock(0, matrix.shape[0], indptr, columns)


def gradient_entries(level: Level) -> dict[str, int]:
    """How many entries each part has: exactly on whole lattices, else upper bounds."""
    spec, fields = level.spec, len(level.spec.geometry.frame)
    if level.whole_lattice:
        copied = CopiedGradients(level)
        return {part: copied.entries(part) for part in PARTS}
    if spec.sampling_kind.regular and level.inside is not None:
        dimension, inside = spec.geometry.base.dimension, level.inside
        cut = int((inside.depth[inside.places] <= 1).sum())
        at_edges = cut * (2 * WINDOW + 1) ** dimension
        one = (inside.num_points - cut) * 3**dimension + at_edges
        both = 2 * at_edges
    else:
        one = level.sampling.num_points * (max(FEWEST[spec.geometry.oriented]) + MORE + 1)
        both = 2 * one
    times = fields * spec.orientations
    return {layout.FIELDS: times * one, layout.SYMMETRIC: times * both}


def gradient_rows(level: Level) -> CopiedGradients | ComputedGradients:
    """The rows of a level's gradients, as this process keeps them."""
    if level.whole_lattice:
        return kept(CopiedGradients, level)
    return kept(ComputedGradients, level)


@dataclass(frozen=True)
class GradientSweep(Sweep):
    """A sweep over the points of a level, for one part of its gradients.

    Args:
        part: layout.FIELDS or layout.SYMMETRIC.
    """

    part: str

    @property
    def total(self) -> int:
        """The points."""
        return self.level.sampling.num_points

    @property
    def each(self) -> int:
        """All orientations."""
        return self.level.spec.orientations

    @property
    def unit(self) -> int:
        """A line of a whole lattice."""
        level = self.level
        return level.spec.grid(level.number)[-1] if level.whole_lattice else 1


@dataclass(frozen=True)
class CountedGradients(GradientSweep):
    """Counts the entries of each row."""

    name: ClassVar[str] = "gradients-counted"
    shown: ClassVar[str] = "counting entries of gradients"

    def write(self, out: Writer, block: Range) -> Result:
        """Write the counts of rows over some points."""
        level, entries = self.level, 0
        for piece in gradient_rows(level).of(self.part, *block):
            out.write(level.scratch(f"{layout.GRADIENTS}-{self.part}"), piece.row, piece.counts)
            entries += int(piece.counts.sum())
        return {"entries": entries}


@dataclass(frozen=True)
class FilledGradients(GradientSweep):
    """Writes columns and values."""

    name: ClassVar[str] = "gradients-filled"
    shown: ClassVar[str] = "writing gradients"

    def write(self, out: Writer, block: Range) -> Result:
        """Write the rows over some points."""
        csr = self.level.gradient_csr(self.part)
        for piece in gradient_rows(self.level).of(self.part, *block):
            first = int(csr.indptr.part(piece.row, piece.row + 1)[0])
            out.write(csr.indices, first, piece.columns)
            out.write(csr.data, first, piece.values)
        return {}


def write_gradients(build: Build, level: Level) -> GradientFacts:
    """Stage the gradients of a level, and what makes their transposes; their facts."""
    fields, vertices = len(level.spec.geometry.frame), level.num_vertices
    shape, nnz = (fields * vertices, vertices), {}
    for part in PARTS:
        counts = build.scratch(level, f"{layout.GRADIENTS}-{part}", (shape[0],), "int64")
        counted = build.sweep(CountedGradients(level, part), shape[0])
        nnz[part] = sum(result["entries"] for result in counted)
        if not nnz[part]:
            continue
        csr = build.staging.csr(level.gradient_path(part), shape, nnz[part])
        build.write_row_pointers(counts.part, csr.indptr)
        build.sweep(FilledGradients(level, part), nnz[part])
    spacings = units(level.spec, level.number)
    bounds, largest = norms(gradient_rows(level).matrix, spacings)
    lengths = tuple(spacings.tolist())
    entries = nnz[layout.FIELDS], nnz[layout.SYMMETRIC]
    return GradientFacts(*entries, tuple(bounds), lengths, largest)
