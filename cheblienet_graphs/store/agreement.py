"""Agreement of a level's arrays with its facts.

The number of edges, those within an orientation, and the mass that it was divided by follow from a
level's Laplacian; facts that differ are wrong even where the digests are right.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.sparse import ENTRIES, row_blocks, rows
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats, Indices

ROUNDING = 1e-6
"""Rounding errors of sums of float32 numbers, in units of their terms."""


@dataclass
class Counted:
    """Counts over the rows of a Laplacian."""

    diagonal: int = 0
    isolated: int = 0
    in_plane: int = 0
    far_off: list[str] = field(default_factory=list)


def disagreements(arrays: LevelArrays, entries: int = ENTRIES) -> Iterator[tuple[str, str]]:
    """(path below the version, fault) for each contradiction between a level's arrays and facts.

    Args:
        arrays: of the level; the Laplacian symmetric.
        entries: stored entries that are checked together.

    Raises:
        StoreError: an array can't be read, or isn't of the shape that the facts imply.
    """
    facts, here = arrays.of_level, f"levels/{arrays.level}"
    mean = float(np.mean(arrays.area, dtype=np.float64))
    if abs(mean - 1) > 1e-5:
        yield f"{here}/area", f"must have mean 1; it has {mean:.6g}"
    mask, places = arrays.facts.spec.mask, arrays.base_index
    if mask is not None and arrays.level == 0 and _mask_digest(arrays) != mask.sha256:
        yield f"{here}/base_index", "are not the points inside the mask of the spec's digest"
    _ = (
        places,
        arrays.coordinates,
        arrays.eigenvalues,
        arrays.eigenvectors,
    )  # reading them checks their shapes
    counts = _counted(arrays, entries)
    if counts.diagonal != facts.vertices:
        yield f"{here}/laplacian", "lacks entries of its diagonal"
        return
    share = counts.in_plane / (2 * facts.edges)
    for name, counted, recorded in (
        ("isolated", counts.isolated, facts.isolated),
        ("in_plane_fraction", share, facts.in_plane_fraction),
    ):
        if abs(counted - recorded) > 1e-9:
            yield (
                "zarr.json",
                f"level {arrays.level} has {name} {recorded:.9g}; its array {counted:.9g}",
            )
    for what in dict.fromkeys(counts.far_off):
        yield f"{here}/laplacian", what
    for direction in arrays.directional:
        for what in dict.fromkeys(_directional_faults(arrays, direction, entries)):
            yield f"{here}/directional/{direction}", what


def _directional_faults(arrays: LevelArrays, direction: str, entries: int) -> Iterator[str]:
    """What is wrong with a directional Laplacian: combinatorial, its edges along its direction."""
    matrix = arrays.directional[direction]
    root = np.sqrt(arrays.area.astype(np.float64))
    base = arrays.of_level.vertices // arrays.facts.spec.orientations
    for start, stop in row_blocks(matrix.indptr, entries):
        block = rows(matrix, start, stop)
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
        if int((block.indices == row).sum()) != stop - start:
            yield "lacks entries of its diagonal"
            return
        if direction == "rotation":
            along = row % base == block.indices % base
        else:
            along = row // base == block.indices // base
        if not along.all():
            yield "has edges along another direction"
        values = block.data.astype(np.float64)
        if _off_its_kernel(row - start, values, block.indices, root, slice(start, stop)):
            yield "does not vanish on the square roots of the areas"


def _mask_digest(arrays: LevelArrays) -> str:
    """SHA-256 of the mask that has these points inside."""
    inside = np.zeros(arrays.facts.spec.full_points(arrays.level), np.uint8)
    inside[arrays.base_index] = 1
    return hashlib.sha256(inside.tobytes()).hexdigest()


def _counted(arrays: LevelArrays, entries: int) -> Counted:
    """Count over all rows."""
    matrix, counted = arrays.laplacian, Counted()
    mass = arrays.mass.astype(np.float64)
    degree = arrays.degree.astype(np.float64)
    root = np.sqrt(mass)
    base = arrays.of_level.vertices // arrays.facts.spec.orientations
    for start, stop in row_blocks(matrix.indptr, entries):
        block = rows(matrix, start, stop)
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
        values = block.data.astype(np.float64)
        own = block.indices == row
        counted.diagonal += int(own.sum())
        counted.isolated += int((np.diff(block.indptr) == 1).sum())
        counted.in_plane += int((row // base == block.indices // base).sum() - own.sum())
        if own.sum() == stop - start:
            here = slice(start, stop)
            diagonal = (values[own] + 1) * (arrays.of_level.lambda_max / 2)
            if _far(diagonal * mass[here], degree[here], arrays.of_level.lambda_max * mass[here]):
                counted.far_off.append(
                    "has another diagonal than its rescaling and the degrees say"
                )
            if _off_its_kernel(row - start, values, block.indices, root, here):
                counted.far_off.append(
                    "does not vanish on the square roots of the degrees or areas"
                )
    return counted


def _off_its_kernel(
    row: Indices, values: Floats, columns: Indices, root: Floats, here: slice
) -> bool:
    """Whether rows of a rescaled Laplacian do not map the kernel of Delta, `root`, to its negative.

    Args:
        row: (nnz,) of the entries, counted from the first.
        values: (nnz,).
        columns: (nnz,).
        root: (V,).
        here: the rows.
    """
    terms, own = values * root[columns], root[here]
    sums, sizes = (
        np.bincount(row, part, len(own)).astype(np.float64) for part in (terms, abs(terms))
    )
    return _far(sums, -own, sizes + own)


def _far(actual: Floats, expected: Floats, scale: Floats) -> bool:
    """Whether numbers differ by more than rounding, in units of a scale."""
    return bool((abs(actual - expected) > ROUNDING * scale).any())


def map_disagreement(values: npt.NDArray[np.float32], indptr: npt.NDArray[np.int64]) -> str | None:
    """The fault of a map between levels, whose rows must be averages; None if it has none."""
    if not len(values) or not (np.diff(indptr) > 0).all() or not (values >= 0).all():
        return "must have weights from 0 in every row"
    sums = np.add.reduceat(values.astype(np.float64), indptr[:-1])
    return None if (abs(sums - 1) <= 1e-5).all() else "must have rows that sum to 1"
