"""Fields on spheres and on grids of latitudes and longitudes, to resample."""

import math

import numpy as np
import pytest
import torch
from scipy.special import sph_harm_y

from cheblienet_models import Pyramid, regular_grid

EVERY_METHOD = pytest.mark.parametrize("method", ["bilinear", "conservative", "nearest"])
LAT, LON = regular_grid(6, 12, west=0)


def angles(pyramid: Pyramid, level: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(points,) beta and gamma."""
    graph = pyramid.levels[level]
    beta, gamma = graph.coordinates[: graph.num_vertices // graph.orientations, -2:].numpy().T
    return beta, gamma


def harmonics(beta: np.ndarray, gamma: np.ndarray, degree: int = 8) -> torch.Tensor:
    """(1, (degree + 1)^2, ...) real spherical harmonics, divided by their largest values."""
    everywhere = np.linspace(0, math.pi, 2001)
    fields = []
    for l in range(degree + 1):  # noqa: E741
        for m in range(l + 1):
            value = sph_harm_y(l, m, beta, gamma)
            value /= np.abs(sph_harm_y(l, m, everywhere, 0.0)).max()
            fields += [value.real, value.imag] if m else [value.real]
    return torch.from_numpy(np.stack(fields))[None]


def on_grid(latitudes: torch.Tensor, longitudes: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """(lat, lon) beta and gamma of the pixels."""
    beta, gamma = np.meshgrid(
        np.radians(90 - latitudes.numpy()), np.radians(longitudes.numpy()), indexing="ij"
    )
    return beta, gamma
