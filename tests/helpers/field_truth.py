"""What smoothing and filling are compared with: dense matrices, sums over pairs, functions."""

import math

import numpy as np
import torch
from scipy.special import sph_harm_y

from cheblienet_models import Graph, Pyramid

SIGMA = 1 / math.sqrt(8 * math.log(2))
"""Of a Gaussian whose full width at half maximum is 1."""


def vectors(pyramid: Pyramid, level: int = 0) -> np.ndarray:
    """(V, 3) of a graph on s2."""
    beta, gamma = pyramid.levels[level].coordinates.numpy().T
    parts = np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)
    return np.stack(parts, axis=1)


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


def operator(graph: Graph) -> np.ndarray:
    """(V, V) N^-1/2 (D - W) N^-1/2 times its scale, an estimate of the operator."""
    w, root = weights(graph), graph.mass.double().sqrt().numpy()
    scale = graph.eigenvalue_scale or math.nan
    return scale * (np.diag(w.sum(1)) - w) / np.outer(root, root)


def of_values(graph: Graph, function: np.ndarray) -> np.ndarray:
    """A function of the operator as it acts on values."""
    root = graph.mass.double().sqrt().numpy()
    return function * root[None, :] / root[:, None]


def heat(graph: Graph, time: float) -> np.ndarray:
    """(V, V) the heat kernel, rows of averages."""
    values, waves = np.linalg.eigh(operator(graph))
    return of_values(graph, waves @ np.diag(np.exp(-time * values)) @ waves.T)


def beam(pyramid: Pyramid, fwhm: float) -> np.ndarray:
    """(V, V) a beam on s2 by eigenvalues that are corrected by mean Rayleigh quotients.

    Those of harmonics of degree l are sums over pairs of 1 - P_l(cos d), here with Legendre's
    polynomials themselves.
    """
    graph, points = pyramid.levels[0], vectors(pyramid)
    w, cosines = weights(graph), np.clip(points @ points.T, -1, 1)
    scale = (graph.eigenvalue_scale or math.nan) / graph.mass.double().sum().item()
    degrees = np.arange(60)
    quotients = []
    for degree in degrees:
        waves = np.polynomial.legendre.legval(cosines[w != 0], np.eye(60)[degree])
        quotients.append(scale * (w[w != 0] * (1 - waves)).sum())
    last = int(np.argmax(np.diff(quotients) <= 0))
    values, waves = np.linalg.eigh(operator(graph))
    exact = np.interp(values, quotients[:last], (degrees * (degrees + 1.0))[:last])
    function = waves @ np.diag(np.exp(-exact * (SIGMA * fwhm) ** 2 / 2)) @ waves.T
    return of_values(graph, function)


def plane_fits(
    kernel: np.ndarray, points: np.ndarray, known: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """(V,) at each known point the value there of the tangent plane that fits best, by lstsq."""
    fitted = np.full(len(x), np.nan)
    for p in np.flatnonzero(known):
        across = np.linalg.svd(points[p][None])[2][1:]
        design = np.column_stack([np.ones(known.sum()), points[known] @ across.T])
        root = np.sqrt(np.maximum(kernel[p, known], 0))
        solved = np.linalg.lstsq(design * root[:, None], root * x[known], rcond=None)
        fitted[p] = solved[0][0]
    return fitted


def signal(*channels: np.ndarray) -> torch.Tensor:
    """(1, C, V) float64."""
    return torch.from_numpy(np.stack(channels))[None]
