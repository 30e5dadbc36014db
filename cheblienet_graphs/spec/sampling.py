"""The samplings of a specification's levels."""

from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec.graph_spec import GraphSpec


def sampling(spec: GraphSpec, level: int) -> Sampling:
    """The full sampling of a level, 0 the finest: whatever the mask."""
    return spec.sampling_kind.sampled(
        spec.level_size(level),
        spec.geometry,
        spec.orientations,
        periodic=spec.boundary == "periodic",
        seed=spec.seed,
    )
