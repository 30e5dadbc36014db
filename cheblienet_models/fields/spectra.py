"""Spectra of random fields: families of covariances, and arrays C_l as polynomials.

Matern fields are those of Whittle (1954) and of Lindgren, Rue and Lindstrom (2011).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.typing import Floats
from cheblienet_models.arguments import number
from cheblienet_models.errors import quoted
from cheblienet_models.fields.smoothing import square_of
from cheblienet_models.graphs.polynomials import Polynomial

DEGREES = 100_000
"""Degrees of the sphere that a variance sums; the rest is an integral."""
RIDGE = 1e-6
"""Penalty of a coefficient c_k, over k^2, in fits of an array."""


@dataclass(frozen=True)
class Matern:
    """A Matern covariance: (1 + L / kappa^2)^-(nu + d / 2) is its power, d the dimension.

    Args:
        length: the range sqrt(8 nu) / kappa, in units of the metric, radians on the sphere: there
            the correlation is about 0.14.
        nu: smoothness, positive: 1 by default.

    Raises:
        ValueError: one is not positive and finite.
    """

    length: float
    nu: float = 1.0

    def __post_init__(self) -> None:
        check_positive(length=self.length, nu=self.nu)


@dataclass(frozen=True)
class Gaussian:
    """A covariance of exp(-d^2 / (2 length^2)), with power exp(-L length^2 / 2).

    Args:
        length: in units of the metric, radians on the sphere; positive.

    Raises:
        ValueError: it is not.
    """

    length: float

    def __post_init__(self) -> None:
        check_positive(length=self.length)


Spectrum = Matern | Gaussian | Tensor | Sequence[float] | Floats
"""The power of a field: a family, or C_l from degree 0 on, on the sphere."""


def checked(spectrum: Spectrum, sides: Sequence[float] | None) -> Matern | Gaussian | Tensor:
    """A family, or (degrees,) float64 C_l.

    Args:
        spectrum: as given.
        sides: of a flat domain; None on the sphere, where an array has a meaning.

    Raises:
        TypeError: it is no spectrum.
        ValueError: it is longer than the domain, an array off the sphere, or one of other numbers
            than power.
    """
    if isinstance(spectrum, Matern | Gaussian):
        longest = math.pi if sides is None else max(sides)
        if spectrum.length > longest:
            unit = "radians" if sides is None else "where the domain's width is 1"
            raise ValueError(
                f"length must be at most {longest:.4g}, {unit}. Got {spectrum.length:g}."
            )
        return spectrum
    try:
        power = torch.as_tensor(spectrum, dtype=torch.float64).cpu()
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"spectrum must be Matern, Gaussian or an array C_l. Got {quoted(spectrum)}."
        ) from None
    if sides is not None:
        raise ValueError("spectrum must be Matern or Gaussian off the sphere. Got an array.")
    power_like = power.ndim == 1 and len(power) > 1 and bool(power.isfinite().all())
    if not power_like or float(power.min()) < 0 or float(power.max()) == 0:
        raise ValueError(
            "spectrum must be C_l from degree 0 on, at least two numbers, finite, not negative and "
            f"not all 0. Got shape {tuple(power.shape)}, {quoted(power.tolist())}."
        )
    return power


def range_of(spectrum: Matern | Gaussian) -> float:
    """The distance beyond which the correlation is next to nothing."""
    return spectrum.length if isinstance(spectrum, Matern) else 2 * spectrum.length


def amplitude(spectrum: Matern | Gaussian, square: Tensor, dimension: int) -> Tensor:
    """The root of the power at eigenvalues L, up to a factor."""
    if isinstance(spectrum, Gaussian):
        return torch.exp(-square * spectrum.length**2 / 4)
    scaled = square * spectrum.length**2 / (8 * spectrum.nu)
    return (1 + scaled) ** (-(spectrum.nu + dimension / 2) / 2)


def variance(spectrum: Matern | Gaussian, dimension: int, *, on_sphere: bool) -> float:
    """The variance of a field with that amplitude, in flat space or on the sphere."""
    if isinstance(spectrum, Gaussian):
        flat = float((2 * math.pi * spectrum.length**2) ** (-dimension / 2))
    else:
        gammas = math.lgamma(spectrum.nu) - math.lgamma(spectrum.nu + dimension / 2)
        density = 8 * spectrum.nu / spectrum.length**2 / (4 * math.pi)
        flat = float(math.exp(gammas) * density ** (dimension / 2))
    if not on_sphere:
        return flat
    degree = torch.arange(DEGREES, dtype=torch.float64)
    power = amplitude(spectrum, degree * (degree + 1), 2).square()
    summed = float(((2 * degree + 1) * power).sum()) / (4 * math.pi)
    # What is left lies at so small scales that the sphere is flat. In two dimensions its share is
    # the power at the last degree of a field in none.
    last = torch.tensor(DEGREES**2, dtype=torch.float64)
    return summed + flat * float(amplitude(spectrum, last, 0)) ** 2


def fitted(
    amplitude: Tensor, lag: tuple[float, float], scale: float, lambda_max: float
) -> Polynomial:
    """The polynomial with the amplitude of each degree at that degree's eigenvalue.

    Between these it may have any value: least squares with the degrees' numbers of harmonics as
    weights, and twice as many coefficients as there are roots of eigenvalues.

    Args:
        amplitude: (degrees,) roots of C_l.
        lag: as `lag_of` has it.
        scale: factor from eigenvalues of Delta to q.
        lambda_max: of Delta.
    """
    top = scale * lambda_max
    fine = torch.linspace(0, top, 2**18, dtype=torch.float64)
    square = square_of(fine, lag)
    resolved = int(((lag[0] * square <= 0.5) & (fine <= 2 / 3 * top)).sum()) - 1
    count = int(math.sqrt(0.25 + float(square[resolved])) + 0.5)
    degrees = torch.arange(count, dtype=torch.float64)
    known = np.interp((degrees * (degrees + 1)).numpy(), square.numpy(), fine.numpy())
    more = torch.arange(math.sqrt(known[-1]) + 1, math.sqrt(top), dtype=torch.float64) ** 2
    nodes = torch.cat([torch.from_numpy(known), more, fine[-1:]])
    degree = (0.25 + square_of(nodes, lag)).sqrt() - 0.5
    every = np.arange(len(amplitude))
    wanted = torch.from_numpy(np.interp(degree.numpy(), every, amplitude.numpy(), right=0.0))
    order = torch.arange(math.ceil(2 * math.sqrt(top)) + 1, dtype=torch.float64)
    terms = torch.cos(order * (2 * nodes / top - 1).clamp(-1, 1).arccos()[:, None])
    weight = (2 * degree + 1).sqrt()
    matrix = torch.cat([weight[:, None] * terms, torch.diag(RIDGE * order**2)])
    right = torch.cat([weight * wanted, torch.zeros_like(order)])
    series = torch.linalg.lstsq(matrix, right[:, None], driver="gelsd").solution
    error = float((terms @ series[:, 0] - wanted).abs().max())
    return Polynomial(series, lambda_max, error)


def check_positive(**given: float) -> None:
    """See that numbers are positive and finite, by their names.

    Raises:
        TypeError: one is no number.
        ValueError: one is not.
    """
    for name, value in given.items():
        if not 0 < number(name, value) < math.inf:
            raise ValueError(f"{name} must be positive and finite. Got {value!r}.")
