"""What a stored graph is like: degrees, components, symmetries, and the metric it realises."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.moments import edge_moments
from cheblienet_graphs.neighbours import Floats, Indices
from cheblienet_graphs.samplings.levels import Sampling
from cheblienet_graphs.spec import GraphSpec


@dataclass(frozen=True)
class EffectiveMetric:
    """The metric that the weights at one orientation add up to.

    A graph is true to R = diag(1, eps^-2, xi^2) where M = sum_j w_ij c c^T is a multiple m R^-1 at
    every vertex, m a_i R^-1 where vertices have different areas a_i.

    Args:
        orientation: index k of theta = -pi/2 + k pi/n_o; 0 where there are no orientations.
        eps_squared: M22 / M11; None where no neighbour lies forward.
        xi_squared: M11 / M33; None where there are no orientations or none are linked.
        leakage: the largest |M_ab| / sqrt(M_aa M_bb) of two directions a, b; 0 is none.
        second_moment: m = tr(R M) / dim, by which D - W is m / 2 times the operator.
        deviation: the largest entry of |M R / m - I| at a single point, m of that point.
    """

    orientation: int
    eps_squared: float | None
    xi_squared: float | None
    leakage: float
    second_moment: float
    deviation: float


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

    On other samplings it is that of the sum of M over all points, in units of their area.
    """
    points, areas = sampling.coordinates(), sampling.areas()
    found = []
    for k in range(sampling.orientations):
        vertices = probed(sampling, k)
        rows = weights[vertices].tocoo()
        row, column = vertices[rows.coords[0]], rows.coords[1]
        ends = points[column]
        if sampling.periodic and sampling.extent:
            offsets = ends[:, :2] - points[row, :2]
            ends[:, :2] -= np.round(offsets / sampling.extent) * sampling.extent
        _, second = edge_moments(manifold, metric, points[row], ends)
        moments = np.zeros((len(vertices), *second.shape[1:]))
        np.add.at(moments, rows.coords[0], rows.data[:, None, None] * second)
        found.append(effective_metric(k, moments, areas[vertices], metric))
    return found


def operator_scale(
    spec: GraphSpec,
    metrics: list[EffectiveMetric],
    degree: npt.NDArray[np.float32],
    sampling: Sampling,
) -> float | None:
    """What eigenvalues of Delta are multiplied by to estimate those of the operator.

    With m the mean second moment that is 2 / m for the combinatorial Laplacian, and 2 d / m, d the
    mean degree, for the normalized one, where degrees are equal. Weights that are true to the
    metric have m = 2. None where no vertex has a neighbour.

    Args:
        spec: of the build.
        metrics: as `effective_metrics` finds them.
        degree: (V,) weighted degrees.
        sampling: of the level.
    """
    moment = 2.0
    if spec.weights == "kernel":
        moment = float(np.mean([metric.second_moment for metric in metrics]))
    mass = 1.0
    if spec.laplacian == "normalized":
        vertices = np.concatenate([probed(sampling, k) for k in range(sampling.orientations)])
        mass = float(degree[vertices].sum(dtype=np.float64) / sampling.areas()[vertices].sum())
    return 2 * mass / moment if moment > 0 else None


def probed(sampling: Sampling, orientation: int) -> Indices:
    """Vertices of an orientation where the effective metric is measured."""
    return orientation * sampling.num_points + sampling.probes()


def effective_metric(
    orientation: int, moments: Floats, areas: Floats, metric: Metric
) -> EffectiveMetric:
    """What second moments of one orientation amount to.

    Args:
        orientation: its index.
        moments: (N, dim, dim) sqrt(R) M sqrt(R) of its vertices.
        areas: (N,) theirs.
        metric: R.
    """
    mean = moments.sum(axis=0) / areas.sum()
    spread = np.sqrt(np.outer(mean.diagonal(), mean.diagonal()))
    mixed = np.divide(abs(mean), spread, out=np.zeros_like(mean), where=spread > 0)
    np.fill_diagonal(mixed, 0)
    forward, sideways, *turning = mean.diagonal()
    rotates = bool(turning) and turning[0] > 0
    trace = moments.trace(axis1=1, axis2=2)[:, None, None]
    shapes = np.divide(moments * len(mean), trace, out=np.zeros_like(moments), where=trace > 0)
    return EffectiveMetric(
        orientation=orientation,
        eps_squared=float(sideways / forward) * metric.eps**2 if forward > 0 else None,
        xi_squared=float(forward / turning[0]) * metric.xi**2 if rotates else None,
        leakage=float(mixed.max()),
        second_moment=float(mean.trace()) / len(mean),
        deviation=float(abs(shapes - np.eye(len(mean))).max()),
    )
