"""Fields with missing values: smoothed as by a Gaussian beam, filled, and smoothing as a matrix."""

from cheblienet_models.fields.filling import inpaint
from cheblienet_models.fields.matrix import smoothing_matrix
from cheblienet_models.fields.smoothing import smooth

__all__ = ["inpaint", "smooth", "smoothing_matrix"]
