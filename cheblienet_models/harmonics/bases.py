"""The bases of real even spherical harmonics that diffusion MRI uses, and their values."""

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from cheblienet_models.arguments import choice
from cheblienet_models.errors import quoted
from cheblienet_models.harmonics.directions import Affine, rotation_of, unit_vectors

Basis = Literal["descoteaux07", "descoteaux07_legacy", "tournier07", "tournier07_legacy"]
BASES: tuple[Basis, ...] = get_args(Basis)
LARGEST = 64
"""Degrees up to which the recursion was compared with scipy."""


def harmonics_matrix(
    axes: Tensor, degree: int, basis: Basis, affine: Affine | None = None
) -> Tensor:
    """Values on axes of the harmonics of even degrees l up to `degree`.

    Columns are in the order l = 0, 2, ..., `degree`, and m = -l, ..., l within each. With Y_l^m the
    complex harmonics, Condon and Shortley's phase (-1)^m included, they are

    - "descoteaux07": sqrt 2 Re Y_l^m for m < 0, Y_l^0, sqrt 2 Im Y_l^m for m > 0;
    - "descoteaux07_legacy": the same with Re Y_l^|m| for m < 0, another sign where m is odd;
    - "tournier07": sqrt 2 Im Y_l^|m| for m < 0, Y_l^0, sqrt 2 Re Y_l^m for m > 0, as MRtrix 3 has
      them;
    - "tournier07_legacy": the same without sqrt 2, as MRtrix 0.2 has them.

    All but the last are orthonormal on the sphere. dipy calls them so, `legacy` being an argument
    there, whose default is True.

    Args:
        axes: (n_o, 3) unit vectors n; of n and -n either.
        degree: even, in [0, 64].
        basis: one of the above.
        affine: (4, 4), or (3, 3), from voxels to the world, where the functions are given in
            directions of the world: it says which of these an axis, a direction of the voxels, is.

    Returns:
        (n_o, (degree + 1) (degree + 2) / 2) float64.

    Raises:
        ValueError: another shape, degree or basis; axes that are no unit vectors; an affine with
            shear.
    """
    coefficients(degree)
    choice("basis", basis, BASES)
    directions = unit_vectors(axes)
    if affine is not None:
        directions = directions @ rotation_of(affine).T.to(directions.device)
    waves = _complex(directions, degree)
    columns = [
        _real(waves[order, abs(m)], m, basis)
        for order in range(0, degree + 1, 2)
        for m in range(-order, order + 1)
    ]
    return torch.stack(columns, dim=1)


def coefficients(degree: int) -> int:
    """Number of even harmonics up to a degree.

    Raises:
        ValueError: the degree is odd or out of range.
    """
    number = isinstance(degree, int) and not isinstance(degree, bool)
    if not number or not 0 <= degree <= LARGEST or degree % 2:
        accepted = f"an even integer in [0, {LARGEST}]: of an axis odd harmonics are 0"
        raise ValueError(f"degree must be {accepted}. Got {quoted(degree)}.")
    return (degree + 1) * (degree + 2) // 2


def _real(wave: Tensor, m: int, basis: Basis) -> Tensor:
    """The real harmonic of m from the complex one of |m|."""
    if m == 0:
        return wave.real
    imaginary = m > 0 if basis.startswith("descoteaux07") else m < 0
    part = wave.imag if imaginary else wave.real
    if basis == "tournier07_legacy":
        return part
    # Y_l^-m is (-1)^m times the conjugate of Y_l^m.
    sign = -1 if basis == "descoteaux07" and m < 0 and m % 2 else 1
    return sign * math.sqrt(2) * part


def _complex(directions: Tensor, degree: int) -> dict[tuple[int, int], Tensor]:
    """Y_l^m, (n_o,) complex128, by (l, m) with 0 <= m <= l, odd l too.

    Y_l^m = Q_l^m(z) (x + i y)^m. The three-term recursion of the polynomials Q, normalised, holds
    at the poles as well.
    """
    x, y, z = directions.unbind(1)
    turn = torch.complex(x, y)
    waves = {}
    first = torch.full_like(z, 1 / math.sqrt(4 * math.pi))
    power = torch.ones_like(turn)
    for m in range(degree + 1):
        before, current = torch.zeros_like(z), first
        waves[m, m] = current * power
        for order in range(m + 1, degree + 1):
            scale = (4 * order**2 - 1) / (order**2 - m**2)
            back = ((order - 1) ** 2 - m**2) / (4 * (order - 1) ** 2 - 1)
            following = math.sqrt(scale) * (z * current - math.sqrt(back) * before)
            before, current = current, following
            waves[order, m] = current * power
        first = -math.sqrt((2 * m + 3) / (2 * m + 2)) * first
        power = power * turn
    return waves
