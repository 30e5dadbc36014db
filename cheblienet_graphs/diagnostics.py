"""What a stored graph is like: degrees, components, symmetries, and the metric it realises."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.neighbours import Floats
from cheblienet_graphs.samplings.levels import Sampling


@dataclass(frozen=True)
class EffectiveMetric:
    """The metric that the weights at one orientation add up to (Delta's second moments).

    A graph is true to R = diag(1, eps^-2, xi^2) where M = sum_j w_ij c c^T is a multiple of R^-1.

    Args:
        orientation: index k of theta = -pi/2 + k pi/n_o; 0 where there are no orientations.
        eps_squared: M22 / M11; None where no neighbour lies forward.
        xi_squared: M11 / M33; None where there are no orientations or none are linked.
        leakage: the largest |M_ab| / sqrt(M_aa M_bb) of two directions a, b; 0 is none.
    """

    orientation: int
    eps_squared: float | None
    xi_squared: float | None
    leakage: float


def edge_weights(
    rescaled: scipy.sparse.csr_array, lambda_max: float, degree: npt.NDArray[np.float32]
) -> scipy.sparse.csr_array:
    """W from what is stored: w_ij = -Delta_ij sqrt(d_i d_j), without a diagonal.

    Args:
        rescaled: (V, V) 2 Delta / lambda_max - I.
        lambda_max: its scale.
        degree: (V,) weighted degrees.
    """
    entries = rescaled.tocoo()
    row, column = entries.coords
    edge = row != column
    root = np.sqrt(degree.astype(np.float64))
    row, column = row[edge], column[edge]
    weights = -entries.data[edge] * (lambda_max / 2) * root[row] * root[column]
    return scipy.sparse.csr_array((weights, (row, column)), shape=rescaled.shape)


def components(weights: scipy.sparse.csr_array) -> int:
    """Connected components; an isolated vertex is one."""
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(weights, directed=False, return_labels=False))


def equivariance_errors(rescaled: scipy.sparse.csr_array, sampling: Sampling) -> dict[str, float]:
    """Max |P' L P - L| over the entries, for each symmetry P of the sampling, by its name."""
    errors = {}
    for name, permutation in sampling.symmetries():
        moved = rescaled[permutation][:, permutation]
        errors[name] = float(abs(moved - rescaled).max())
    return errors


def effective_metrics(
    weights: scipy.sparse.csr_array, sampling: Sampling, manifold: Manifold, metric: Metric
) -> list[EffectiveMetric]:
    """The metric realised at each orientation: at the pixel in the middle of a lattice.

    On other samplings M is the mean over all points, by area.
    """
    points, areas, probes = sampling.coordinates(), sampling.areas(), sampling.probes()
    found = []
    for k in range(sampling.orientations):
        vertices = k * sampling.num_points + probes
        rows = weights[vertices].tocoo()
        row, column = vertices[rows.coords[0]], rows.coords[1]
        ends = points[column]
        if sampling.periodic and sampling.extent:
            offsets = ends[:, :2] - points[row, :2]
            ends[:, :2] -= np.round(offsets / sampling.extent) * sampling.extent
        shares = rows.data * areas[row] / areas[vertices].sum()
        found.append(_effective_metric(k, _moments(shares, points[row], ends, manifold, metric)))
    return found


def _moments(
    weights: Floats, starts: Floats, ends: Floats, manifold: Manifold, metric: Metric
) -> Floats:
    """M = sum_j w_j c_j c_j^T with c_j the nearer logarithm of each pair, shape (dim, dim)."""
    start, end = (manifold.elements(tuple(map(array, points.T))) for points in (starts, ends))
    candidates = [np.stack(c) for c in manifold.logarithms(start, end)]
    norms = np.stack([metric.squared_norm(tuple(map(array, c))) for c in candidates])
    nearer = norms.argmin(axis=0)
    chosen = np.stack(candidates)[nearer, :, np.arange(len(weights))]
    moments: Floats = np.einsum("j,ja,jb->ab", weights, chosen, chosen)
    return moments


def _effective_metric(orientation: int, moments: Floats) -> EffectiveMetric:
    spread = np.sqrt(np.outer(moments.diagonal(), moments.diagonal()))
    mixed = np.divide(abs(moments), spread, out=np.zeros_like(moments), where=spread > 0)
    np.fill_diagonal(mixed, 0)
    rotates = len(moments) > 2 and moments[2, 2] > 0
    return EffectiveMetric(
        orientation=orientation,
        eps_squared=float(moments[1, 1] / moments[0, 0]) if moments[0, 0] > 0 else None,
        xi_squared=float(moments[0, 0] / moments[2, 2]) if rotates else None,
        leakage=float(mixed.max()),
    )
