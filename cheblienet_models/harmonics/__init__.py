"""Real even spherical harmonics: functions of an axis as coefficients, and as values on axes."""

from cheblienet_models.harmonics.bases import Basis, harmonics_matrix
from cheblienet_models.harmonics.layers import FromHarmonics, ToHarmonics
from cheblienet_models.harmonics.served import largest_degree

__all__ = ["Basis", "FromHarmonics", "ToHarmonics", "harmonics_matrix", "largest_degree"]
