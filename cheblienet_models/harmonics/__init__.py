"""Real even spherical harmonics: functions of an axis as coefficients, and as values on axes."""

from cheblienet_models.harmonics.bases import Basis, harmonics_matrix, largest_degree
from cheblienet_models.harmonics.layers import FromHarmonics, ToHarmonics

__all__ = ["Basis", "FromHarmonics", "ToHarmonics", "harmonics_matrix", "largest_degree"]
