"""Symmetries of sampled manifolds, and which of them a stored graph has."""

from cheblienet_models.symmetries.motions import Motion, symmetries

__all__ = ["Motion", "symmetries"]
