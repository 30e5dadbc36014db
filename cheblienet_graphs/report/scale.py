"""The factor from a graph's eigenvalues to the operator's, from a level's arrays alone.

Builds record it, so it depends on no argument of theirs, and on large graphs looks at some points.
"""

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.report.diagnostics import effective_metrics, operator_scale
from cheblienet_graphs.report.probes import probes
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.reader import MappedWeights
from cheblienet_graphs.typing import Indices

EDGES = 2**18
"""About so many stored entries are looked at, in less than a second; smaller graphs are whole.

Of graphs of a million the factor then was found 3e-4 off, and 4e-3 where points are random.
"""


def eigenvalue_scale(
    spec: GraphSpec,
    sampled: SampledManifold[Sampling],
    weights: MappedWeights,
    coordinates: npt.NDArray[np.float64],
    degree: npt.NDArray[np.float32],
) -> float | None:
    """The factor by which eigenvalues of Delta estimate those of the operator.

    Known without measuring for the combinatorial Laplacian of all but kernel weights. None
    where the metric can be measured nowhere, or no vertex has a neighbour.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        weights: W.
        coordinates: (V, d) of the vertices.
        degree: (V,) weighted degrees.
    """
    points = sampled.sampling
    nowhere = np.empty(0, np.int64)
    if spec.weights != "kernel" and spec.laplacian == "combinatorial":
        return operator_scale(spec, [], degree, points, nowhere)
    looked_at = _spread(probes(spec, sampled, weights), points, weights)
    metrics = effective_metrics(weights, coordinates, sampled, looked_at)
    return operator_scale(spec, metrics, degree, points, looked_at)


def _spread(free: Indices, sampling: Sampling, weights: MappedWeights) -> Indices:
    """Some of these points, one drawn from each of equally long stretches, from a fixed seed."""
    count = max(1, int(EDGES * sampling.num_points / weights.laplacian.nnz))
    if count >= len(free):
        return free
    ends = np.arange(count + 1) * len(free) // count
    drawn: Indices = free[np.random.default_rng(0).integers(ends[:-1], ends[1:])]
    return drawn
