"""Real even spherical harmonics: functions of an axis as coefficients, and as values on axes."""

from cheblienet_models.harmonics.bases import (
    Basis,
    FromHarmonics,
    ToHarmonics,
    harmonics_matrix,
    largest_degree,
)

__all__ = ["Basis", "FromHarmonics", "ToHarmonics", "harmonics_matrix", "largest_degree"]
