"""Formulas of manifolds on numpy arrays, and second moments of edges.

These are the metric that a weighted graph realizes. Around a vertex i a graph Laplacian acts on
smooth functions through M_i = sum_j w_ij c c^T, c the logarithm of g_i^-1 g_j; the graph is
consistent with the metric R only where M_i is a multiple of R^-1.
"""

from functools import partialmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.typing import Floats, Indices

TIE = 1e-9
"""Difference of angles, radians, up to which both candidates of a logarithm count."""
EDGES_AT_ONCE = 2**20


def edge_moments(
    manifold: Manifold, metric: Metric, starts: Floats, ends: Floats
) -> tuple[Floats, Floats]:
    """First and second moments of unit weights on edges, in units of the metric.

    Of the two candidates for the logarithm the one of the smaller rotation angle counts, as
    functions change little along it. It need not be the shorter one, since a U-turn can be shorter
    than a step sideways. Where both angles are pi/2, the mean of both is taken: choosing one would
    break symmetries. Tilts of axes count by their sine, as they do for quadratic functions of the
    axis: wide ones are the rule there. Rotations modulo 2 pi count by their chord, 2 sin(a / 2), as
    they do for cos theta, and in first moments by their sine; modulo pi by their angle.

    Args:
        manifold: its logarithms are the components.
        metric: the unit of length along each direction; components are scaled by sqrt(R).
        starts: (N, d) coordinates of the vertices at which the moments are taken.
        ends: (N, d) of their neighbors.

    Returns:
        sqrt(R) c, shape (N, dim), and sqrt(R) c c^T sqrt(R), shape (N, dim, dim).
    """
    candidates = logarithms(manifold, starts, ends)
    scale = np.sqrt(manifold.weights(metric))
    angle, fiber = _angles(manifold, candidates), manifold.fiber
    turning = candidates[:, manifold.base.dimension :]
    if fiber.columns and not fiber.cyclic:
        turning *= np.sinc(angle / np.pi)[:, None]
    over_full_turns = fiber.cyclic and len(fiber.turns) == 1
    if over_full_turns:
        turning *= np.sinc(angle / (2 * np.pi))[:, None]
    scaled = scale[:, None] * candidates
    least = angle <= angle.min(axis=0) + TIE
    share = least / least.sum(axis=0)
    first: Floats = np.einsum("kn,kan->na", share, scaled)
    if over_full_turns:
        first[:, -1] *= np.cos(angle[0] / 2)
    second: Floats = np.einsum("kn,kan,kbn->nab", share, scaled, scaled)
    return first, second


def least_logarithms(manifold: Manifold, starts: Floats, ends: Floats) -> tuple[Indices, Floats]:
    """The candidates for the logarithms of edges that count in their moments.

    Args:
        manifold: its logarithms are the components.
        starts: (N, d) coordinates of the vertices from which the edges are seen.
        ends: (N, d) of their neighbors.

    Returns:
        (M,) edge of each candidate, ascending, twice where both count, and (M, dim) components.
    """
    candidates = logarithms(manifold, starts, ends)
    angle = _angles(manifold, candidates)
    edge, candidate = np.nonzero((angle <= angle.min(axis=0) + TIE).T)
    return edge, candidates[candidate, :, edge]


def edge_components(
    manifold: Manifold, targets: Floats, sources: Floats, periods: tuple[float, ...] | None = None
) -> Floats:
    """The components of log g^-1 h of edges: the source h as seen from the target g.

    Of the candidates the one of the smaller rotation counts, of equal ones the first.

    Args:
        manifold: its frame at the targets gives the components, by the names of `frame`.
        targets: (E, d) coordinates of g.
        sources: (E, d) of h.
        periods: sides of a domain with glued opposite sides: the nearest image counts.

    Returns:
        (E, dim) in units of length, and radians of rotations and tilts.
    """
    found = np.empty((len(targets), len(manifold.frame)))
    for start in range(0, len(targets), EDGES_AT_ONCE):
        block = slice(start, start + EDGES_AT_ONCE)
        ends = np.array(sources[block], dtype=np.float64)
        if periods is not None:
            base = ends[:, : len(periods)]
            base -= np.round((base - targets[block, : len(periods)]) / periods) * periods
        edge, components = least_logarithms(manifold, targets[block], ends)
        found[block] = components[np.searchsorted(edge, np.arange(len(ends)))]
    return found


def rotation_angles(manifold: Manifold, starts: Floats, ends: Floats) -> Floats:
    """(N,) the rotation angles from start to end of edges, radians."""
    least: Floats = _angles(manifold, logarithms(manifold, starts, ends)).min(axis=0)
    return least


def _angles(manifold: Manifold, candidates: Floats) -> Floats:
    """(candidates, N) rotation angles: 0 where a manifold has none."""
    turning = candidates[:, manifold.base.dimension :]
    angles: Floats = np.sqrt((turning * turning).sum(axis=1))
    return angles


def logarithms(manifold: Manifold, starts: Floats, ends: Floats) -> Floats:
    """(candidates, dim, N) components of log g^-1 h."""
    start, end = (manifold.elements(tuple(array(p.T))) for p in (starts, ends))
    return np.stack([np.stack(c) for c in manifold.logarithms(start, end)]).view(np.ndarray)


class Array(np.ndarray[Any, np.dtype[np.float64]]):
    """A float64 numpy array with the elementwise methods of a torch tensor."""

    cos = partialmethod(np.cos)
    """Cosine, radians."""
    sin = partialmethod(np.sin)
    """Sine, radians."""
    exp = partialmethod(np.exp)
    """Exponential."""
    sqrt = partialmethod(np.sqrt)
    """Square root."""
    abs = partialmethod(np.absolute)
    """Absolute value."""
    atan2 = partialmethod(np.arctan2)
    """Angle of the point (other, self), radians in [-pi, pi]."""
    minimum = partialmethod(np.minimum)
    """The smaller of the two, elementwise."""

    def sinc(self) -> "Array":
        """sin(pi x) / (pi x), 1 at 0, as torch.sinc."""
        return np.sinc(self).view(Array)


def array(values: npt.ArrayLike) -> Array:
    """The values as a float64 Array, without a copy where possible."""
    return np.asarray(values, dtype=np.float64).view(Array)
