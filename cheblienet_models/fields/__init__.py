"""Fields: smoothed as by a Gaussian beam, filled where values are missing, drawn at random."""

from cheblienet_models.fields.filling import inpaint
from cheblienet_models.fields.matrix import smoothing_matrix
from cheblienet_models.fields.random import noise_matrix, random_field
from cheblienet_models.fields.smoothing import smooth
from cheblienet_models.fields.spectra import Gaussian, Matern

__all__ = [
    "Gaussian",
    "Matern",
    "inpaint",
    "noise_matrix",
    "random_field",
    "smooth",
    "smoothing_matrix",
]
