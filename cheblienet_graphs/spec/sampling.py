"""The samplings of a specification's levels."""

from cheblienet_graphs.samplings import Setting
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec.graph_spec import GraphSpec


def sampling(spec: GraphSpec, level: int) -> Sampling:
    """The sampling of a level, 0 the finest.

    Raises:
        SpecError: it is one of own points, which the specification knows by their digest alone.
    """
    setting = Setting(
        spec.geometry,
        spec.orientations,
        periodic=spec.boundary == "periodic",
        seed=spec.seed,
        finest=spec.level_size(0),
    )
    return spec.sampling_kind.sampled(spec.level_size(level), setting)
