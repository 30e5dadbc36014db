"""Testing networks of one's own: under the symmetries of their graphs, and at any angle."""

from cheblienet_models.testing.angles import AngleErrors, equivariance_error, turned_image
from cheblienet_models.testing.assertion import assert_equivariant

__all__ = ["AngleErrors", "assert_equivariant", "equivariance_error", "turned_image"]
