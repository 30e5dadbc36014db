"""The samplings: points of a base, each with the same fibre over it."""

from cheblienet_graphs.samplings.kinds import SAMPLINGS, sampling_names
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size

__all__ = ["SAMPLINGS", "SamplingKind", "Setting", "Size", "sampling_names"]
