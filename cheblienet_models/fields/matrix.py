"""Smoothing as a sparse matrix, made by squaring that of a short time again and again."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from cheblienet_models.arguments import flag, number
from cheblienet_models.fields.smoothing import Beam, beam_of
from cheblienet_models.graphs.families import check_family
from cheblienet_models.graphs.filters import exact
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid, level_of
from cheblienet_models.tensors import Csr, csr_tensor

if TYPE_CHECKING:
    import scipy.sparse

SHORT = 0.25
"""Largest exponent of the time that is squared: polynomials of few terms do for it."""
FINER = 100
"""Entries of factors are left out below the tolerance over this."""


def smoothing_matrix(
    pyramid: Pyramid,
    fwhm: float,
    *,
    level: int = 0,
    tolerance: float = 1e-4,
    allow_inconsistent: bool = False,
) -> Tensor:
    """`smooth` of fields without missing values, as a sparse matrix whose rows sum to 1.

    On graphs with a mask or a region, rows are means at the sides, where `smooth` fits planes.

    `save_npz` writes it in the layout of scipy.sparse.save_npz, as weather models read smoothing
    matrices. A row has about 2.6 log10(1 / tolerance) (fwhm / spacing)^2 entries on s2, the
    spacing being the root of a point's area; time goes with the square of that.

    Args:
        pyramid: of the fields.
        fwhm: as of `smooth`.
        level: of the pyramid, 0 the finest.
        tolerance: in [1e-8, 0.1]: entries are left out that are smaller than this times the largest
            of their row, and the rest divided by its sum.
        allow_inconsistent: as of `smooth`.

    Returns:
        (V, V) sparse CSR float32, on the CPU. Entries below 0, of the size of the tolerance, occur.

    Raises:
        TypeError: an argument is of another type.
        ValueError: fwhm or the tolerance is out of range, there is no such level, or the graph has
            no `eigenvalue_scale`, or does not converge to its metric.
    """
    graph = level_of(pyramid, level)
    if not 1e-8 <= number("tolerance", tolerance) <= 0.1:
        raise ValueError(f"tolerance must be in [1e-08, 0.1]. Got {tolerance!r}.")
    beam = beam_of(pyramid, graph, fwhm)
    if not flag("allow_inconsistent", allow_inconsistent):
        check_family("smoothing_matrix", graph)
    longest = float(beam.exponent(torch.tensor(graph.lambda_max, dtype=torch.float64)))
    squarings = max(0, math.ceil(math.log2(longest / SHORT)))
    brief = replace(beam, time=beam.time / 2**squarings)
    matrix = _series(graph, brief, tolerance / FINER)
    for _ in range(squarings):
        matrix = _sparse(matrix @ matrix, tolerance / FINER)
    return _tensor(_sparse(matrix, tolerance))


def _series(graph: Graph, beam: Beam, tolerance: float) -> "scipy.sparse.csr_array":
    """The beam as a matrix of values, by the recursion of Chebyshev's polynomials."""
    import scipy.sparse  # networks and graphs do without scipy

    step = _random_walk(graph)
    coefficients = beam.blur().polynomial.coefficients[:, 0].tolist()
    before, last = scipy.sparse.eye_array(step.shape[0], format="csr"), step
    total = coefficients[0] * before
    for coefficient in coefficients[1:]:
        total = total + coefficient * last
        before, last = last, 2 * (step @ last) - before
    return _sparse(total, tolerance)


def _random_walk(graph: Graph) -> "scipy.sparse.csr_array":
    """N^-1/2 L N^1/2, which acts on values."""
    import scipy.sparse

    operator = graph.operator()
    pointers, columns, values = (
        part.cpu().numpy() for part in exact(operator.laplacian, operator.mass)
    )
    mass = operator.mass.double().cpu().numpy()
    root = np.sqrt(np.where(mass > 0, mass, 1))
    parts = values * root[columns] / np.repeat(root, np.diff(pointers)), columns, pointers
    return scipy.sparse.csr_array(parts, shape=(len(root), len(root)))


def _sparse(matrix: Any, tolerance: float) -> "scipy.sparse.csr_array":
    """Without the small entries of each row, and divided by its sum."""
    lengths = np.diff(matrix.indptr)
    size = np.abs(matrix.data)
    least = tolerance * np.maximum.reduceat(size, matrix.indptr[:-1])
    matrix.data[size < np.repeat(least, lengths)] = 0
    matrix.eliminate_zeros()
    matrix.data /= np.repeat(matrix.sum(1), np.diff(matrix.indptr))
    return matrix


def _tensor(matrix: Any) -> Tensor:
    matrix.sort_indices()
    parts = matrix.indptr, matrix.indices, matrix.data.astype(np.float32)
    return csr_tensor(Csr._make(map(torch.from_numpy, parts)), matrix.shape[1])
