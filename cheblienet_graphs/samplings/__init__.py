"""The samplings: points of a base, each with the same fibre over it."""

from cheblienet_graphs.samplings.kinds import SAMPLINGS, SamplingKind, Size, sampling_names

__all__ = ["SAMPLINGS", "SamplingKind", "Size", "sampling_names"]
