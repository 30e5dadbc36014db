"""Estimated errors of eigenvalues, from the next coarser level and the fiber.

Where errors fall with the square of the spacing, an eigenvalue is below the operator's by about
(value - coarser value) / (r^2 - 1), r the ratio of the two spacings. A pyramid has the same fiber
on all levels, so what sampling it does to eigenvalues is no part of that: to first order it is the
sum over the fiber's modes of each mode's share of an eigenvector times the error of the mode's own
eigenvalue. Source: Richardson's extrapolation, and first-order perturbation theory.

Both are first terms of expansions, which hold where they are small: a bar beyond a tenth of its
eigenvalue is none. Larger eigenvalues have none either, as their order is not known.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from cheblienet_graphs.measure.comparison import AGREEING
from cheblienet_graphs.measure.faults import faults, few_samples
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.measure.spectra import computed_eigenvalues
from cheblienet_graphs.sparse import CAST_AT_ONCE
from cheblienet_graphs.spec import GraphSpec, fibers
from cheblienet_graphs.spectrum.lanczos import Eigenvalues
from cheblienet_graphs.spectrum.numeric import ROUNDING, Eigenpairs, extreme_eigenpairs
from cheblienet_graphs.typing import Floats

STORED = 2.0**-22
"""Relative change of eigenvalues by storing weights and masses in float32, at most."""


@dataclass(frozen=True)
class ErrorBars:
    """Estimated errors of the smallest eigenvalues, in the operator's units.

    Args:
        unknown: why nothing is estimated; None where something is.
        bars: of the first of them, up to the one where the estimate does not hold: |error|, as
            estimated.
        extrapolated: the same eigenvalues less their estimated errors.
    """

    unknown: str | None
    bars: tuple[float, ...] = ()
    extrapolated: tuple[float, ...] = ()

    def of(self, copies: slice) -> tuple[float | None, float | None]:
        """The largest bar of some eigenvalues, and their mean extrapolated; None without them."""
        if copies.stop > len(self.bars):
            return None, None
        return max(self.bars[copies]), float(np.mean(self.extrapolated[copies]))


def error_bars(arrays: MeasuredLevel, spectrum: Eigenvalues) -> ErrorBars:
    """Estimate the errors of a level's eigenvalues from the next coarser level.

    Args:
        arrays: of the level.
        spectrum: its smallest eigenvalues, with vectors where there is a fiber.
    """
    scale = arrays.scale
    unknown = _no_family(arrays) or _no_values(arrays, spectrum)
    if unknown or scale is None:
        return ErrorBars(unknown or "no vertex has a neighbor")
    coarser = arrays.coarser
    found = _coarser_values(arrays, coarser, len(spectrum.values))
    if found is None:
        return ErrorBars("those of the coarser level did not converge")
    count = len(found)
    values = spectrum.values[:count] * scale
    of_base = (found - values) / (_refinement(arrays) ** 2 - 1)
    of_fiber = _of_fiber(arrays, spectrum, scale)[:count]
    positive = values > ROUNDING * arrays.of_level.lambda_max * scale  # others are of constants
    bars = np.where(positive, abs(of_base) + abs(of_fiber) + STORED * values, 0.0)
    extrapolated = np.where(positive, np.maximum(values - of_base - of_fiber, 0.0), 0.0)
    known = _known(arrays, values, bars)
    if known < count and not positive[:known].any():
        return ErrorBars(f"they are larger than {AGREEING:.0%}".replace("%", " %"))
    return ErrorBars(None, tuple(bars[:known].tolist()), tuple(extrapolated[:known].tolist()))


def _known(arrays: MeasuredLevel, values: Floats, bars: Floats) -> int:
    """The number of eigenvalues before the first with an estimated error that says nothing."""
    spec = arrays.spec
    metric = arrays.sampled.metric
    small = bars <= AGREEING * values
    carried = [not few_samples(spec, metric, value) for value in values.tolist()]
    fails = ~(small & carried) & (bars > 0)
    return int(fails.argmax()) if fails.any() else len(values)


def _no_family(arrays: MeasuredLevel) -> str | None:
    """Why errors of a level's eigenvalues need not fall at second order; None where they do."""
    spec = arrays.spec
    if arrays.level == spec.levels - 1:
        return "there is no coarser level"
    if spec.mask is not None and spec.mask_edge != "cut":
        return "a mask of whole pixels or points ends where these do"
    if unknown := spec.weighting.errors_unknown(spec):
        return unknown
    if not spec.sampling_kind.regular:
        return _unequal_degrees(spec)
    if not _ends_right(spec):
        return "open sides are not corrected"
    if spec.geometry.oriented and few_samples(spec, arrays.sampled.metric):
        return f"there are too few {fibers.sample_nouns(spec)}"
    coarser = arrays.coarser
    if spec.mask is None and _most_neighbors(coarser) < _most_neighbors(arrays):
        return "stencils are as wide as the coarser level"
    metrics = arrays.metrics
    wrong = not metrics or faults(spec, arrays.sampled.metric, metrics)
    moments = "second moments are not known to be those of the metric" if wrong else None
    return _unequal_degrees(spec) or moments


def _most_neighbors(arrays: MeasuredLevel) -> int:
    return int(np.diff(arrays.laplacian.indptr).max())


def _unequal_degrees(spec: GraphSpec) -> str | None:
    """A remark that a Laplacian is normalized by unequal degrees; None where it is not."""
    equal = spec.sampling_kind.regular and not spec.geometry.oriented
    if spec.laplacian == "combinatorial" or equal:
        return None
    return "degrees, which the Laplacian is normalized by, are not equal"


def _ends_right(spec: GraphSpec) -> bool:
    """True if no error of first order comes from a lattice's sides."""
    plain = spec.weighting.right_at_sides(spec.geometry)
    corrected = spec.boundary_correction or spec.mask_edge == "cut"
    equal = spec.laplacian == "combinatorial"
    return spec.boundary == "periodic" or (equal and bool(plain or corrected))


def _no_values(arrays: MeasuredLevel, spectrum: Eigenvalues) -> str | None:
    """Why a level's eigenvalues are of no use; None where they are."""
    if not len(spectrum.values):
        return "no eigenvalues were computed"
    if not spectrum.converged:
        return "the eigenvalues did not converge"
    if spectrum.method == "lanczos":
        return "copies of eigenvalues may be missing"
    if not arrays.spec.geometry.oriented:
        return None
    if arrays.of_level.nnz > CAST_AT_ONCE:
        return f"the level has more than {CAST_AT_ONCE:,} entries"
    return None if isinstance(spectrum, Eigenpairs) else "no eigenvectors were computed"


def _refinement(arrays: MeasuredLevel) -> float:
    """The spacing of the next coarser level over that of a level."""
    spec, level = arrays.spec, arrays.level
    many = spec.full_points(level)
    few = spec.full_points(level + 1)
    return float((many / few) ** (1 / spec.geometry.base.dimension))


def _coarser_values(arrays: MeasuredLevel, coarser: MeasuredLevel, count: int) -> Floats | None:
    """The smallest eigenvalues of the coarser level with a level's xi, in the operator's units.

    Returns:
        (M,) at most `count`, as many as there are vertices; None where they did not converge.
    """
    count = min(count, coarser.of_level.vertices)
    scale = coarser.scale
    if scale is None:
        return None
    if arrays.spec.geometry.oriented:
        ratio = (coarser.of_level.xi or 1.0) / (arrays.of_level.xi or 1.0)
        rescaled, lambda_max = _with_fiber(coarser, ratio**2)
        sampling = coarser.sampling
        found: Eigenvalues = extreme_eigenpairs(rescaled, lambda_max, count, sampling=sampling)
    else:
        found = computed_eigenvalues(coarser, count)
    usable = found.converged and found.method != "lanczos"
    return found.values * scale if usable else None


def _off_diagonal(arrays: MeasuredLevel) -> scipy.sparse.coo_array:
    """(V, V) float64 Delta, its diagonal 0."""
    delta = arrays.laplacian.astype(np.float64).tocoo() * (arrays.of_level.lambda_max / 2)
    delta.data[delta.row == delta.col] = 0.0
    return delta


def _with_fiber(arrays: MeasuredLevel, factor: float) -> tuple[scipy.sparse.csr_array, float]:
    """Delta, its edges between orientations times a factor, rescaled; a bound of its spectrum."""
    off = _off_diagonal(arrays)
    count = arrays.sampling.num_points
    row, column = off.coords
    off.data *= np.where(row // count == column // count, 1.0, factor)
    root = np.sqrt(arrays.mass, dtype=np.float64)
    diagonal = -(off @ root) / root
    bound = 2 * float(diagonal.max())
    matrix = off + scipy.sparse.diags_array(diagonal)
    return (matrix * (2 / bound) - scipy.sparse.eye_array(len(root))).tocsr(), bound


def _of_fiber(arrays: MeasuredLevel, spectrum: Eigenvalues, scale: float) -> Floats:
    """(M,) what sampling the fiber does to eigenvalues, in the operator's units; 0 without one."""
    spec = arrays.spec
    if not isinstance(spectrum, Eigenpairs) or spec.orientations == 1:
        return np.zeros(len(spectrum.values))
    values, modes = np.linalg.eigh(_fiber_matrix(arrays) * scale)
    exact = np.array(spec.fiber.spectrum(spec.orientations)) / (arrays.of_level.xi or 1.0) ** 2
    vectors = spectrum.vectors.reshape(spec.orientations, -1)
    parts = (modes.T @ vectors).reshape(spec.orientations, -1, len(spectrum.values))
    shares = (parts**2).sum(axis=1)
    errors: Floats = (values - exact) @ shares
    return errors


def _fiber_matrix(arrays: MeasuredLevel) -> Floats:
    """(n_o, n_o) Delta on functions of the orientation alone, edges between orientations only."""
    off = _off_diagonal(arrays)
    count = arrays.sampling.num_points
    size = arrays.spec.orientations
    root = np.sqrt(arrays.mass, dtype=np.float64)
    row, column = off.coords
    weights = -off.data * root[row] * root[column]
    pairs = row // count * size + column // count
    between = np.bincount(pairs, weights, size**2).reshape(size, size)
    mass = np.sqrt((root.reshape(size, count) ** 2).sum(axis=1))
    matrix: Floats = scipy.sparse.csgraph.laplacian(between) / np.outer(mass, mass)
    return matrix
