"""Optional arrays of a level: whether eigenpairs are the Laplacian's, and gradients derivatives."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.gradients.fields import norms
from cheblienet_graphs.gradients.source import components
from cheblienet_graphs.sparse import (
    ENTRIES,
    ROUNDING,
    Product,
    mapped_product,
    near,
    row_blocks,
    rows,
)
from cheblienet_graphs.spec.fibers import field_spacings
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.typing import Floats

EIGENPAIR = 1e-4
"""Largest |L v - lambda v| that a stored eigenpair may have, and |V'V - I|, in float32."""
EIGENVALUE = 1e-6
"""Largest |v'L v - lambda|, which errors of v change little."""
VECTORS_AT_ONCE = 4
"""Stored eigenvectors that are in memory together."""


def eigenpair_faults(arrays: LevelFolder) -> Iterator[str]:
    """Stored eigenpairs must be eigenpairs of the stored Laplacian."""
    values, vectors = arrays.eigenvalues, arrays.eigenvectors
    if values is not None and vectors is not None:
        rescaled = values * (2 / arrays.of_level.lambda_max) - 1
        product = arrays.laplacian
        with np.errstate(invalid="ignore"):  # of infinite entries
            residual, shift = _residuals(mapped_product(product), rescaled, vectors)
            errors = residual / EIGENPAIR, shift / EIGENVALUE, _skewness(vectors) / EIGENPAIR
        if not all(error <= 1 for error in errors):
            yield "are not the Laplacian's"


def _residuals(
    product: Product, values: Floats, vectors: npt.NDArray[np.float32]
) -> tuple[float, float]:
    """Max |L v - lambda v| and |v'L v - lambda|, some vectors at a time; NaN where there is one."""
    residuals, shifts = [], []
    for start in range(0, len(values), VECTORS_AT_ONCE):
        some = slice(start, start + VECTORS_AT_ONCE)
        wide = vectors[:, some].astype(np.float64)
        image = product(wide)
        image -= wide * values[some]
        shifts.append(abs((image * wide).sum(axis=0)).max())
        residuals.append(np.abs(image, out=image).max())
    return float(np.max(residuals)), float(np.max(shifts))


def _skewness(vectors: npt.NDArray[np.float32]) -> float:
    """Max |V'V - I|."""
    size, count = vectors.shape
    products = -np.eye(count)
    step = max(1, ENTRIES // count)
    for start in range(0, size, step):
        wide = vectors[start : start + step].astype(np.float64)
        products += wide.T @ wide
    return float(abs(products).max())


def gradient_faults(arrays: LevelFolder) -> Iterator[str]:
    """Gradients are 0 on constants, exact on linear functions, and sums match their transposes.

    Where neighbors do not lie in all directions, they are exact along the others.
    """
    known = arrays.of_level.gradients
    spacings = field_spacings(arrays.spec, arrays.level)
    if known is None:
        return
    parts = layout.FIELDS, layout.SYMMETRIC
    fields, sums = (arrays.finite_gradients(part).scipy() for part in parts)
    stated = np.array([*known.norms, known.largest])
    bounds, largest = norms(fields, spacings)
    if not near(stated, np.array([*bounds, largest]), ROUNDING * stated):
        yield "have other norms than its facts say"
    if not _are_sums(fields, sums):
        yield "have other sums with their transposes than are stored"
    if not all(_is_gradient(arrays, block, spacings) for block in _vertex_blocks(fields)):
        yield "do not vanish on constants, or are not exact on linear functions"


def _are_sums(fields: scipy.sparse.csr_array, sums: scipy.sparse.csr_array) -> bool:
    """True if sums are G + G^T, by their products with a random vector."""
    vertices = fields.shape[1]
    probe = np.random.default_rng(0).uniform(1, 2, vertices)
    for first in range(0, fields.shape[0], vertices):
        own, both = (rows(matrix, first, first + vertices) for matrix in (fields, sums))
        expected = own @ probe + own.T @ probe
        sizes = abs(own) @ probe + abs(own).T @ probe
        if not near(both @ probe, expected, ROUNDING * sizes):
            return False
    return True


def _vertex_blocks(fields: scipy.sparse.csr_array) -> Iterator[tuple[int, list[Any]]]:
    """First vertex, and the rows of each field, of some vertices after others."""
    vertices = fields.shape[1]
    for start, stop in row_blocks(fields.indptr[: vertices + 1]):
        firsts = range(start, fields.shape[0], vertices)
        yield start, [rows(fields, first, first + stop - start) for first in firsts]


def _is_gradient(arrays: LevelFolder, block: tuple[int, Sequence[Any]], spacings: Floats) -> bool:
    """True if rows are exact on constants, and on linear functions along what they see."""
    start, of_fields = block
    geometry, coordinates = arrays.spec.geometry, arrays.coordinates
    count, along = of_fields[0].shape[0], len(spacings)
    moments, sizes = np.zeros((count, along, along)), np.zeros(count)
    for field, matrix in enumerate(of_fields):
        (row, column), values = matrix.tocoo().coords, matrix.data.astype(np.float64)
        starts, ends = coordinates[start + row], coordinates[column]
        parts = components(geometry, arrays.sampling, spacings, starts, ends)
        weights = values * spacings[field]
        if geometry.base.flat and field >= geometry.base.dimension:  # exact for modes, not angles
            turn = len(geometry.fiber.turns) * geometry.fiber.step(arrays.spec.orientations)
            parts *= math.sin(turn) / turn
        terms = abs(weights) * (1 + np.sqrt((parts**2).sum(axis=1)))
        np.add.at(moments[:, field], row, weights[:, None] * parts)
        np.add.at(sizes, row, terms)
        if not near(np.bincount(row, weights, count), np.zeros(count), ROUNDING * sizes):
            return False
    seen: Floats = moments @ moments
    allowed = 2 * along * ROUNDING * sizes * (1 + abs(moments).max(axis=(1, 2)))
    return near(seen, moments, allowed[:, None, None])
