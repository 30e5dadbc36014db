"""Measurements on stored matrices: components, symmetries, weights, gradients.

Of gradients how well they differentiate, and where they amplify noise too much.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.gradients.fields import steep_vertices
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.sparse import ENTRIES, row_blocks, rows
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibers import field_spacings
from cheblienet_graphs.spec.map_spec import extent
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.typing import Floats

WITH_POLES = ("equiangular", "gaussian", "reduced-gaussian")
"""Samplings of the sphere with points that crowd at the poles."""
PHASE = 0.3
"""Phase of the waves on a flat base."""
LINEAR, FIRST, SECOND = np.array([[0.6, -0.5, 0.7], [0.2, 0.9, -0.4], [-0.7, 0.3, 0.5]])
"""Vectors of polynomials on the sphere."""


def equivariance_errors(
    rescaled: scipy.sparse.csr_array, sampling: Sampling, *, entries: int = ENTRIES
) -> dict[str, float]:
    """Max |P' L P - L| over the entries, for each symmetry P of the sampling, by its name.

    Args:
        rescaled: (V, V) L, possibly over mapped files.
        sampling: with its symmetries.
        entries: stored entries of a block of rows.
    """
    errors = {}
    for name, permutation in sampling.symmetries():
        inverse = np.empty(len(permutation), rescaled.indices.dtype)
        inverse[permutation] = np.arange(len(permutation), dtype=inverse.dtype)
        error = 0.0
        for start, stop in row_blocks(rescaled.indptr, entries):
            images = rescaled[permutation[start:stop]]
            parts = (images.data, inverse[images.indices], images.indptr)
            moved = scipy.sparse.csr_array(parts, shape=images.shape)
            moved.sort_indices()
            error = max(error, _largest_difference(moved, rows(rescaled, start, stop)))
        errors[name] = error
    return errors


def _largest_difference(a: scipy.sparse.csr_array, b: scipy.sparse.csr_array) -> float:
    """Max |A - B| of matrices with ascending columns in each row."""
    if np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices):
        return float(abs(a.data - b.data).max(initial=0))
    return float(abs(a - b).max())


def weight_statistics(level: LevelFolder, *, entries: int = ENTRIES) -> dict[str, float]:
    """The smallest, median and largest weight of the edges, exactly.

    Args:
        level: W is symmetric, so each edge counts once, which halves the memory.
        entries: stored entries of a block of rows.
    """
    laplacian = level.laplacian
    known = np.empty((laplacian.nnz - laplacian.shape[0]) // 2)
    count = 0
    for start, stop in row_blocks(laplacian.indptr, entries):
        block = level.weights(np.arange(start, stop)).tocoo()
        once = block.data[block.col > block.row + start]
        known[count : count + len(once)] = once
        count += len(once)
    least, most = float(known.min()), float(known.max())
    return {"min": least, "median": float(np.median(known, overwrite_input=True)), "max": most}


@dataclass(frozen=True)
class GradientReport:
    """The errors of a level's gradients on a smooth function.

    The function is a sum of waves as long as the domain, or a polynomial of second degree on the
    sphere, with the lowest modes along the fiber.

    Args:
        error: of the derivatives along the base, root mean square, in units of that of the
            derivatives themselves.
        turning_error: the same of rotations; None without orientations.
        order: p where the next coarser level's `error` is (its spacing / this one's)^p as large;
            None of the coarsest, and on SO(3), where the step between orientations limits it, too.
        largest: the largest norm of a row, in units of the points' spacing or, along the fiber,
            of its step.
        steep: where that is beyond 6; None where it is nowhere.
    """

    error: float
    turning_error: float | None
    order: float | None
    largest: float
    steep: Finding | None = None


def gradient_report(arrays: MeasuredLevel) -> GradientReport | None:
    """The errors of a level's gradients; None where it has none."""
    spec = arrays.spec
    level = arrays.level
    known = arrays.of_level.gradients
    if known is None:
        return None
    error, turning = _errors(arrays)
    order = None
    if level + 1 < spec.levels and spec.manifold != "so3":
        coarser, _ = _errors(arrays.coarser)
        ratio = spec.squared_spacing(level + 1) / spec.squared_spacing(level)
        order = 2 * math.log(coarser / error) / math.log(ratio) if error and coarser else None
    matrix = arrays.stacked_gradients().scipy()
    steep = steepness(spec, level, matrix, arrays.coordinates)
    return GradientReport(error, turning, order, known.largest, steep)


def steepness(
    spec: GraphSpec,
    level: int,
    matrix: scipy.sparse.csr_array,
    coordinates: npt.NDArray[np.float64],
) -> Finding | None:
    """The finding that rows amplify noise too much; None where none does.

    Args:
        spec: of the build.
        level: its number.
        matrix: of all fields.
        coordinates: (V, d) of the vertices.
    """
    vertices, largest = steep_vertices(matrix, field_spacings(spec, level))
    if not len(vertices):
        return None
    kind = "steep"
    if spec.mask is not None:
        kind = "steep, edge"
    elif spec.sampling in WITH_POLES:
        kind = "steep, poles"
    elif not spec.sampling_kind.regular:
        kind = "steep, points"
    at = dict(zip(spec.geometry.columns, coordinates[vertices[0]].tolist(), strict=True))
    return Finding(kind, (level,), {"times": largest, "count": len(vertices)} | at)


def _errors(arrays: MeasuredLevel) -> tuple[float, float | None]:
    """`error` and `turning_error`."""
    values, derivatives = smooth(arrays.spec, arrays.coordinates)
    pairs = zip(arrays.gradients.values(), derivatives, strict=True)
    missed = np.array([((matrix @ values - true) ** 2).mean() for matrix, true in pairs])
    squares = (derivatives**2).mean(axis=1)
    base = arrays.spec.geometry.base.dimension
    error = math.sqrt(missed[:base].sum() / squares[:base].sum())
    return error, math.sqrt(missed[base] / squares[base]) if len(missed) > base else None


def smooth(spec: GraphSpec, coordinates: npt.NDArray[np.float64]) -> tuple[Floats, Floats]:
    """A smooth function at some vertices, and its derivatives along the frame.

    Args:
        spec: of the build.
        coordinates: (V, d) of the vertices.

    Returns:
        (V,) and (fields, V).
    """
    if spec.geometry.base.flat:
        return _waves(spec, coordinates)
    return _polynomial(spec, coordinates)


def _waves(spec: GraphSpec, coordinates: Floats) -> tuple[Floats, Floats]:
    """The sum of sin(k x + PHASE) along the axes, on SE(2) times 2 + cos(m theta + PHASE)."""
    base = spec.geometry.base.dimension
    wave = 2 * np.pi / np.array(extent(spec))
    angles = coordinates[:, :base] * wave + PHASE
    values = np.sin(angles).sum(axis=1)
    along = (np.cos(angles) * wave).T
    if not spec.geometry.oriented:
        return values, along
    theta = coordinates[:, base]
    turns = len(spec.geometry.fiber.turns)
    mode = 2 + np.cos(turns * theta + PHASE)
    slope = -turns * np.sin(turns * theta + PHASE)
    cos, sin = np.cos(theta), np.sin(theta)
    forward = cos * along[0] + sin * along[1]
    sideways = cos * along[1] - sin * along[0]
    return values * mode, np.stack([forward * mode, sideways * mode, values * slope])


def _polynomial(spec: GraphSpec, coordinates: Floats) -> tuple[Floats, Floats]:
    """p.a + (p.b)(p.c), p the point, on SO(3) plus Re((u + i v).a)^m, u and v the frame's ends.

    Along forward dp = u, du = -p, dv = 0; sideways dp = v, du = 0, dv = -p; dp = 0, du = v,
    dv = -u as it turns.
    """
    *turned, beta, gamma = coordinates.T
    sin, cos = np.sin(beta), np.cos(beta)
    point = np.stack([sin * np.cos(gamma), sin * np.sin(gamma), cos], axis=1)
    south = np.stack([cos * np.cos(gamma), cos * np.sin(gamma), -sin], axis=1)
    east = np.stack([-np.sin(gamma), np.cos(gamma), 0 * gamma], axis=1)
    (alpha,) = turned or (0 * gamma,)
    u = np.cos(alpha)[:, None] * south + np.sin(alpha)[:, None] * east
    v = np.cos(alpha)[:, None] * east - np.sin(alpha)[:, None] * south
    first, second = point @ FIRST, point @ SECOND
    values = point @ LINEAR + first * second
    along = np.stack([e @ LINEAR + (e @ FIRST) * second + first * (e @ SECOND) for e in (u, v)])
    if not turned:
        return values, along
    turns = len(spec.geometry.fiber.turns)
    end = u @ LINEAR + 1j * (v @ LINEAR)
    slope, height = turns * end ** (turns - 1), point @ LINEAR
    moved = np.stack([slope * -height, slope * -1j * height, slope * -1j * end]).real
    return values + (end**turns).real, np.concatenate([along, 0 * along[:1]]) + moved
