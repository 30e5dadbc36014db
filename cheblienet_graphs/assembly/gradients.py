"""The gradients of a level, in sweeps of their own: their rows, and what makes their transposes.

A gradient G is stored with S = G + G^T, so that a reader has G^T = S - G. Inside lattices G is
antisymmetric, so S has entries next to sides and masks only.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.lattice_rows import CopiedRows, SmallLattice
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.sweeps import Sweep
from cheblienet_graphs.gradients.fields import FieldRows, Fields, norms
from cheblienet_graphs.gradients.lattice import WINDOW, LatticeGradient
from cheblienet_graphs.gradients.source import Source, units
from cheblienet_graphs.machine import kept
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.manifolds.base import NO_FIBER
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.sparse import RowBlock, rows
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import GradientFacts
from cheblienet_graphs.store.staged import Range, Result, Writer, cut
from cheblienet_graphs.typing import Floats, Indices

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


class GradientRows(ABC):
    """The rows of both matrices of a level.

    Attributes:
        matrix: the fields, or those of a part of them with the same norms, once they are staged.
    """

    matrix: scipy.sparse.csr_array

    @abstractmethod
    def of(self, part: str, start: int, stop: int) -> Iterable[FieldRows]:
        """Those of a part, layout.FIELDS or layout.SYMMETRIC, over some points."""


class CopiedGradients(GradientRows):
    """Those of a whole lattice: copies of the rows of a small one.

    Args:
        level: of a lattice, without a mask.
    """

    def __init__(self, level: Level) -> None:
        lattice = level.full
        if not isinstance(lattice, Lattice):
            raise TypeError("copies are those of a lattice")
        small = SmallLattice(lattice, (MARGIN for _ in lattice.shape))
        source = LatticeGradient(small.lattice, None, lattice.relative / lattice.width)
        fields = Fields(source, small.lattice, turned=level.spec.geometry.oriented)
        matrices = _matrices(fields, small.lattice)
        self.matrix = scipy.sparse.vstack(matrices, "csr")
        summed = [_sum_with_transpose(matrix) for matrix in matrices]
        self._lattice = lattice
        self._small = small
        self._copied = {
            part: [CopiedRows(small, _block(matrix), matrix.data) for matrix in of]
            for part, of in zip(PARTS, (matrices, summed), strict=True)
        }

    def entries(self, part: str) -> int:
        """How many there are on the large lattice."""
        blocks = [copied.block for copied in self._copied[part]]
        return int(sum(np.diff(block.indptr) @ self._small.times for block in blocks))

    def of(self, part: str, start: int, stop: int) -> Iterator[FieldRows]:
        """As `GradientRows.of`, of whole lines, few at a time."""
        lattice, few = self._lattice, max(1, ROWS_AT_ONCE // self._lattice.width)
        turns = range(0, lattice.num_vertices, lattice.num_points)
        slabs = [(turn + start, turn + stop) for turn in turns]
        for field, copied in enumerate(self._copied[part]):
            for first, last in cut(slabs, few * lattice.width):
                counts = copied.counts(first, last)
                entries = copied.entries(first, np.append(0, np.cumsum(counts)))
                yield FieldRows(field, first, counts, entries.columns, entries.values)


class ComputedGradients(GradientRows):
    """Those of a part of a lattice, or of points off lattices.

    Args:
        level: as far as its build has come.
    """

    def __init__(self, level: Level) -> None:
        self._level, geometry = level, level.spec.geometry
        turned = geometry.base.flat and geometry.oriented
        self._last: tuple[tuple[str, int, int], list[FieldRows]] | None = None
        self._fields = Fields(_source(level, turned=turned), level.sampling, turned=turned)

    def of(self, part: str, start: int, stop: int) -> Iterable[FieldRows]:
        """As `GradientRows.of`; sums with transposes are made from the fields, once staged.

        The last ones are kept, as a level often is one block.
        """
        last = self._last  # another thread may replace it
        if last is None or last[0] != (part, start, stop):
            made = self._fields.of if part == layout.FIELDS else self._sums
            self._last = last = (part, start, stop), [*made(start, stop)]
        return last[1]

    def _sums(self, start: int, stop: int) -> Iterator[FieldRows]:
        """G + G^T of all fields."""
        points, count = self._level.sampling.num_points, stop - start
        for field in range(len(self._level.spec.geometry.frame)):
            matrix = self._sum_with_transpose(field, start, stop)
            for k in range(self._level.spec.orientations):
                some = rows(matrix, k * count, (k + 1) * count)
                first = start + k * points
                yield FieldRows(field, first, np.diff(some.indptr), some.indices, some.data)

    def _sum_with_transpose(self, field: int, start: int, stop: int) -> scipy.sparse.csr_array:
        """(n_o (stop - start), V) G + G^T of a field, in the rows over some points."""
        level, points, count = self._level, self._level.sampling.num_points, stop - start
        parts = [self._entries(field, start, stop)]
        for lo, hi in self._reaching(start, stop):
            for first in range(lo, hi, ROWS_AT_ONCE):
                row, column, values = self._entries(field, first, min(first + ROWS_AT_ONCE, hi))
                point = column % points
                among = (point >= start) & (point < stop)
                parts.append((column[among], row[among], values[among]))
        row, column, values = map(np.concatenate, zip(*parts, strict=True))
        among_these = row // points * count + row % points - start
        shape = count * level.spec.orientations, level.num_vertices
        total = scipy.sparse.coo_array((values, (among_these, column)), shape).tocsr()
        total.eliminate_zeros()
        total.sort_indices()
        return total

    def _entries(self, field: int, start: int, stop: int) -> tuple[Indices, Indices, Floats]:
        """Rows, columns and values of a field over some points, at all orientations."""
        level = self._level
        parts = []
        for first in range(start, level.num_vertices, level.sampling.num_points):
            row = field * level.num_vertices + first
            block = rows(self.matrix, row, row + stop - start)
            own = np.repeat(np.arange(first, first + stop - start), np.diff(block.indptr))
            parts.append((own, block.indices.astype(np.int64), block.data.astype(np.float64)))
        row_of, column, values = map(np.concatenate, zip(*parts, strict=True))
        return row_of, column, values

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The fields, mapped."""
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
        return LatticeGradient(full, None if level.inside is None else level.inside.places)
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


def _matrices(fields: Fields, lattice: Lattice) -> list[scipy.sparse.csr_array]:
    """The matrix of each field, float32."""
    of_field: dict[int, list[FieldRows]] = {}
    for piece in fields.of(0, lattice.num_points):
        of_field.setdefault(piece.field, []).append(piece)
    return [_matrix(pieces, lattice.num_vertices) for pieces in of_field.values()]


def _matrix(pieces: Sequence[FieldRows], vertices: int) -> scipy.sparse.csr_array:
    """One of all rows, which are in pieces in any order."""
    _, _, counts, columns, values = zip(*sorted(pieces, key=lambda piece: piece.start), strict=True)
    indptr = np.append(0, np.cumsum(np.concatenate(counts)))
    parts = np.concatenate(values).astype(np.float32), np.concatenate(columns), indptr
    return scipy.sparse.csr_array(parts, shape=(vertices, vertices))


def _sum_with_transpose(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """G + G^T without zeros, float32."""
    wide = matrix.astype(np.float64)
    total = (wide + wide.T).tocsr()
    total.eliminate_zeros()
    total.sort_indices()
    return total.astype(np.float32)


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


def gradient_rows(level: Level) -> GradientRows:
    """The rows of a level's gradients, as this process keeps them."""
    return kept(CopiedGradients if level.whole_lattice else ComputedGradients, level)


@dataclass(frozen=True)
class GradientSweep(Sweep):
    """A sweep over the points of a level, for one part of its gradients.

    Args:
        part: layout.FIELDS or layout.SYMMETRIC.
    """

    part: str

    @property
    def key(self) -> str:
        """The name of its records."""
        return self.level.key(f"{self.part}-{self.name}")

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
            row = piece.field * level.num_vertices + piece.start
            out.write(level.scratch(f"{layout.GRADIENTS}-{self.part}"), row, piece.counts)
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
            row = piece.field * self.level.num_vertices + piece.start
            first = int(csr.indptr.part(row, row + 1)[0])
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
