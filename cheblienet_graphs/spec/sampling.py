"""The samplings of a specification's levels."""

from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec.graph_spec import GraphSpec


def sampling(spec: GraphSpec, level: int) -> Sampling:
    """The full sampling of a level, 0 the finest: whatever the mask."""
    return spec.full_sampling(level)
