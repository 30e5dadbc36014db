"""What tests of smoothing and filling share: points, harmonics, beams, weights of edges."""

import math

import numpy as np
import torch
from scipy.special import sph_harm_y
from sphere_truth import unit_vectors

from cheblienet_models import Graph, Pyramid

SIGMA = 1 / math.sqrt(8 * math.log(2))
"""Of a Gaussian whose full width at half maximum is 1."""


def vectors(pyramid: Pyramid, level: int = 0) -> np.ndarray:
    """(V, 3) of a graph on s2."""
    return unit_vectors(pyramid.levels[level].coordinates.numpy())


def spacing(pyramid: Pyramid) -> float:
    """Root of the mean area of a point of s2."""
    return math.sqrt(4 * math.pi / pyramid.levels[0].num_vertices)


def harmonic(pyramid: Pyramid, degree: int, seed: int = 0) -> np.ndarray:
    """(V,) a harmonic of s2 of all orders, in equal parts."""
    turns = np.exp(2j * np.pi * np.random.default_rng(seed + 1000 * degree).random(degree + 1))
    beta, gamma = pyramid.levels[0].coordinates.numpy().T
    waves = (sph_harm_y(degree, m, beta, gamma) for m in range(degree + 1))
    return sum((turn * wave).real for turn, wave in zip(turns, waves, strict=True))


def response(degree: int, fwhm: float) -> float:
    """Of a Gaussian beam."""
    return math.exp(-degree * (degree + 1) * (SIGMA * fwhm) ** 2 / 2)


def weights(graph: Graph) -> np.ndarray:
    """(V, V) weights of the edges, from the entries of the Laplacian."""
    root = graph.mass.double().sqrt().numpy()
    delta = (graph.laplacian.to_dense().double().numpy() + np.eye(len(root))) * graph.lambda_max / 2
    found = -delta * np.outer(root, root)
    np.fill_diagonal(found, 0)
    return (found + found.T) / 2


def dense_beam(pyramid: Pyramid, fwhm: float) -> np.ndarray:
    """(V, V) exp(-t (q + a q^2 + (2 a^2 - b) q^3)) of averages, by eigenvalues q of the operator.

    On s2 a and b are the means of c / 8 and c^2 / 144 by w c, c = 1 - cos of an edge; else 0.
    """
    graph = pyramid.levels[0]
    w, root = weights(graph), graph.mass.double().sqrt().numpy()
    operator = graph.eigenvalue_scale * (np.diag(w.sum(1)) - w) / np.outer(root, root)
    q, waves = np.linalg.eigh(operator)
    second = third = 0.0
    if pyramid.spec["manifold"] == "s2":
        points = vectors(pyramid)
        apart = np.where(w != 0, 1 - points @ points.T, 0)
        second = (w * apart**2).sum() / (w * apart).sum() / 8
        third = max(2 * second**2 - (w * apart**3).sum() / (w * apart).sum() / 144, 0.0)
    share = np.exp(-((SIGMA * fwhm) ** 2) / 2 * (q + second * q**2 + third * q**3))
    return waves @ np.diag(share) @ waves.T * root[None, :] / root[:, None]


def signal(*channels: np.ndarray) -> torch.Tensor:
    """(1, C, V) float64."""
    return torch.from_numpy(np.stack(channels))[None]
