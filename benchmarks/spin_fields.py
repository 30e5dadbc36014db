"""Fields of spin to compare with: healpy's, and derivatives of scipy's harmonics at any points."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import sph_harm_y
from torch import Tensor

from cheblienet_graphs.typing import Floats
from cheblienet_models import Graph

Complexes = NDArray[np.complex128]
BESIDE_POLES = 1e-4
"""Radians from a pole at which what is singular there is evaluated instead."""


def beam(spin: int, degrees: Floats, fwhm: float) -> Floats:
    """Factors of harmonics."""
    time = fwhm**2 / (16 * math.log(2))
    factors: Floats = np.exp(-time * (degrees * (degrees + 1) - spin**2))
    return factors


def nested(maps: Any) -> Tensor:
    """(1, n, V) of healpy's maps."""
    import healpy

    return torch.from_numpy(np.array([healpy.reorder(one, r2n=True) for one in maps]))[None]


def drawn(largest: int, spin: int, seed: int) -> tuple[Complexes, Floats]:
    """Coefficients of healpy's layout, with equal l (l + 1) C_l, and their degrees."""
    import healpy

    rng = np.random.default_rng(seed)
    degrees, orders = healpy.Alm.getlm(largest)
    values = rng.normal(size=(2, len(degrees)))
    alm = values[0] + 1j * values[1] * (orders > 0)
    alm[degrees < spin] = 0
    return alm / np.sqrt(np.maximum(1, degrees * (degrees + 1))), degrees.astype(float)


def from_healpy(nside: int, spin: int, alm: Complexes, largest: int) -> Tensor:
    """(1, 2, V) the field of E alone."""
    import healpy

    return nested(healpy.alm2map_spin([alm, 0 * alm], nside, spin, largest))


def error(found: Tensor, wanted: Tensor, where: Tensor | None = None) -> float:
    """Of root mean squares, of points (V,)."""
    part = slice(None) if where is None else where
    return float((found - wanted)[..., part].norm() / wanted[..., part].norm())


def share_of_b(x: Tensor, spin: int, largest: int) -> float:
    """Power of B over that of E."""
    import healpy

    rings = [healpy.reorder(one, n2r=True) for one in x[0].numpy()]
    e, b = healpy.map2alm_spin(rings, spin, largest)
    for _ in range(3):  # as map2alm iterates
        again = healpy.alm2map_spin([e, b], healpy.npix2nside(len(rings[0])), spin, largest)
        more = healpy.map2alm_spin(
            [r - a for r, a in zip(rings, again, strict=True)], spin, largest
        )
        e, b = e + more[0], b + more[1]
    return float((abs(b) ** 2).sum() / (abs(e) ** 2).sum())


def near_poles(graph: Graph, degrees: float) -> Tensor:
    """(V,) bool."""
    return graph.coordinates[:, 0].sin() < math.sin(math.radians(degrees))


def potential(spin: int, degree: int, weights: Complexes, beta: Floats, gamma: Floats) -> Complexes:
    """d+ ... d+ of the real part of a sum over orders of harmonics, spin 0 to 2."""
    beta = beta.clip(BESIDE_POLES, math.pi - BESIDE_POLES)
    total = np.zeros(beta.shape, complex)
    sin, cot = np.sin(beta), 1 / np.tan(beta)
    for order, weight in enumerate(weights):
        value, first, second = sph_harm_y(degree, order, beta, gamma, diff_n=2)
        value, first, second = weight * value, weight * first, weight * second
        if spin == 0:
            total += value.real
        elif spin == 1:
            total += first[..., 0].real + 1j * first[..., 1].real / sin
        else:
            south = second[..., 0, 0] - cot * first[..., 0] - second[..., 1, 1] / sin**2
            east = 2 * (second[..., 0, 1] - cot * first[..., 1]) / sin
            total += south.real + 1j * east.real
    return total


def fields_of(
    spin: int, largest: int, places: Floats, *, kinds: int = 1, seed: int = 0
) -> list[Complexes]:
    """(n,) for each degree up to a largest, d+ ... d+ of e, or with 2 kinds of e + i b."""
    rng = np.random.default_rng(seed)
    found = []
    for degree in range(max(1, spin), largest + 1):
        scale = math.prod(math.sqrt((degree - k) * (degree + k + 1)) for k in range(spin))
        parts = []
        for _ in range(kinds):
            draws = rng.normal(size=(2, degree + 1))
            weights = (draws[0] + 1j * draws[1]) / (scale * math.sqrt(degree * (degree + 1)))
            parts.append(potential(spin, degree, weights, *places.T))
        found.append(parts[0] + 1j * parts[1] if kinds == 2 else parts[0])
    return found


def pair(fields: Sequence[Complexes], factors: Sequence[float] | Floats | None = None) -> Tensor:
    """(1, 2, n) the sum of fields, each times a factor."""
    weights = np.ones(len(fields)) if factors is None else np.asarray(factors)
    field = np.tensordot(weights, np.stack(fields), 1)
    return torch.from_numpy(np.stack([field.real, field.imag]))[None]
