"""A sampled manifold with its metric, which together define distances between vertices."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.samplings.protocol import Sampling

S = TypeVar("S", bound=Sampling, covariant=True)


@dataclass(frozen=True)
class SampledManifold(Generic[S]):
    """Points on a manifold.

    Args:
        sampling: the points.
        manifold: on which the points lie.
        metric: R, lengths in units of the base.
    """

    sampling: S
    manifold: Manifold
    metric: Metric
