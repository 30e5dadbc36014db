"""Fields of spin by other formulas: Wigner's matrices by eigenvectors, frames as 3-D vectors."""

import math

import numpy as np
import torch
from field_truth import weights
from torch import Tensor

from cheblienet_graphs import GraphSpec

SPECS = {
    "healpix": GraphSpec("s2", nside=8, weights="voronoi", levels=2, gradients=True),
    "icosphere": GraphSpec("s2", subdivisions=3, weights="voronoi", levels=2, gradients=True),
    "octahedral": GraphSpec("s2", gaussian="O12", weights="voronoi", levels=2),
    "gaussian": GraphSpec("s2", gaussian="F12", weights="voronoi", levels=2),
    "equiangular": GraphSpec("s2", bandlimit=12, weights="voronoi", levels=2),
    "random": GraphSpec("s2", points=1600, weights="voronoi", levels=1),
    "coarse": GraphSpec("s2", points=400, weights="voronoi", levels=1),
    "plane": GraphSpec("r2", 12, levels=2, gradients=True),
}
SPHERES = [name for name in SPECS if name not in {"coarse", "plane"}]


def wigner(degree: int, beta: np.ndarray) -> np.ndarray:
    """(n, 2 l + 1, 2 l + 1) d^l_{m' m}(beta) = <m'| exp(-i beta J_y) |m>, m from -l to l."""
    m = np.arange(-degree, degree + 1)
    raising = np.diag(np.sqrt(degree * (degree + 1) - m[:-1] * (m[:-1] + 1)), -1)
    values, vectors = np.linalg.eigh((raising - raising.T) / 2j)
    turned = np.exp(-1j * beta[:, None] * values)
    return (vectors[None] * turned[:, None] @ vectors.conj().T).real


def harmonics(spin: int, degree: int, coordinates: np.ndarray) -> np.ndarray:
    """(2 l + 1, n) complex spin-weighted harmonics of a degree at (n, 2) beta and gamma."""
    beta, gamma = coordinates.T
    m = np.arange(-degree, degree + 1)
    d = wigner(degree, beta)[:, ::-1, degree + spin]  # d_{-m, s}
    scale = math.sqrt((2 * degree + 1) / (4 * math.pi)) * (-1.0) ** m
    return (scale * d * np.exp(1j * gamma[:, None] * m)).T


def drawn(
    spin: int, powers: np.ndarray, coordinates: np.ndarray, seed: int, *, factors: object = 1.0
) -> Tensor:
    """(1, 2, n) a field with a power for each degree, its harmonics multiplied by factors (L,)."""
    rng = np.random.default_rng(seed)
    factors = np.broadcast_to(np.asarray(factors), powers.shape)
    total = np.zeros(len(coordinates), complex)
    for degree in range(spin, len(powers)):
        draws = rng.normal(size=(2, 2 * degree + 1))
        weights = (draws[0] + 1j * draws[1]) * math.sqrt(powers[degree]) * factors[degree]
        total += weights @ harmonics(spin, degree, coordinates)
    return as_signal(total[None, None])


def as_signal(fields: np.ndarray) -> Tensor:
    """Complex (B, C, n) as real (B, 2 C, n)."""
    return torch.from_numpy(np.concatenate([fields.real, fields.imag], 1))


def as_fields(signal: Tensor) -> np.ndarray:
    """Real (B, 2 C, n) as complex (B, C, n)."""
    first, second = signal.detach().double().chunk(2, 1)
    return first.numpy() + 1j * second.numpy()


def frames(coordinates: np.ndarray) -> np.ndarray:
    """(n, 3, 3) columns south, east and outward."""
    beta, gamma = coordinates.T
    zero = np.zeros_like(beta)
    south = [np.cos(beta) * np.cos(gamma), np.cos(beta) * np.sin(gamma), -np.sin(beta)]
    east = [-np.sin(gamma), np.cos(gamma), zero]
    outward = [np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)]
    return np.stack([np.stack(each, 1) for each in (south, east, outward)], 2)


def transported(targets: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """(n,) the angle from the targets' south to the sources', which rotations carry to them.

    The rotation about p x q takes q to p along their geodesic, and frames with it.
    """
    here, there = frames(targets), frames(sources)
    p, q = here[:, :, 2], there[:, :, 2]
    axis, cosine = np.cross(q, p), (p * q).sum(1)
    south = there[:, :, 0]
    # Rodrigues' formula with sin and cos of the angle between p and q.
    along = (axis * south).sum(1)[:, None] * axis / (1 + cosine)[:, None]  # 1 - cos over sin^2
    moved = cosine[:, None] * south + np.cross(axis, south) + along
    return np.arctan2((moved * here[:, :, 1]).sum(1), (moved * here[:, :, 0]).sum(1))


def matrix(graph: object, spin: int) -> np.ndarray:
    """(V, V) complex N^-1/2 (D - W o exp(i s phi)) N^-1/2 of a graph's own weights, dense."""
    w, root = weights(graph), graph.mass.double().sqrt().numpy()
    rows, columns = np.nonzero(w)
    phases = np.zeros_like(w)
    if graph.spec["manifold"] == "s2":
        at = graph.coordinates.numpy()
        phases[rows, columns] = transported(at[rows], at[columns])
    return (np.diag(w.sum(1)) - w * np.exp(1j * spin * phases)) / np.outer(root, root)


def quarter(x: Tensor) -> Tensor:
    """(B, 2 C, n) times i: (a, b) becomes (-b, a)."""
    first, second = x.chunk(2, 1)
    return torch.cat([-second, first], 1)
