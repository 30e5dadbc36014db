"""Polynomials that stand for functions of a Laplacian's eigenvalues, as Chebyshev series.

A function f on [0, lambda_max] and mu = 2 lambda / lambda_max - 1 give f = sum_k c_k T_k(mu). As
|T_k| <= 1, leaving out the terms beyond a degree costs at most the sum of their |c_k|.

For exp(-t lambda), with z = t lambda_max / 2, c_k = 2 (-1)^k exp(-z) I_k(z), half of that for k =
0, I_k the modified Bessel functions. Their signs equal T_k(-1)'s, so these tails are the errors at
lambda = 0, not only bounds of them. exp(-z) I_k(z) is the probability of k for the difference of
two Poisson variables of mean z / 2 each, so beyond a degree K they come to at most

    2 exp(z (sqrt(1 + u^2) - 1) - K asinh u),  u = K / z    (Chernoff),

by which the number of samples is chosen: the coefficients from samples are the series' but for
this, at most NEGLIGIBLE. So the bound for exp(-t lambda) is proven, up to rounding (1e-15).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from cheblienet_models.arguments import check_values, not_dense, number
from cheblienet_models.errors import quoted

Function = Callable[[Tensor], Tensor]
"""From eigenvalues, (N,) float64 on the CPU, to as many values, float64."""

MOST_DEGREE = 2**16
"""Products with the Laplacian at most; more would take hours."""
FEWEST_SAMPLES = 32
SMALLEST_TOLERANCE = 1e-12
"""Rounding errors of coefficients and their sums stay below it."""
NEGLIGIBLE = 1e-18
FINER = 4
"""A function is compared with its polynomial at so many times the points that it is made from."""
MARGIN = 0.5
"""Share of the tolerance that may be left out; the rest is for what lies between samples."""


@dataclass(frozen=True, eq=False)
class Polynomial:
    """sum_k c_k T_k(2 lambda / lambda_max - 1), which stands for a function of eigenvalues.

    Args:
        coefficients: (degree + 1, 1) float64 c_k on the CPU; or (degree + 1, C), a series for each
            channel.
        lambda_max: of the graph that it is for: it stands for the function on [0, lambda_max].
        bound: of the absolute error there. Proven for exp(-t lambda), in exact arithmetic; of other
            functions the larger of the sum of the coefficients left out and the error found on a
            grid four times as fine: an estimate, if a safe one for functions that are smooth
            between points of that grid.
    """

    coefficients: Tensor
    lambda_max: float
    bound: float

    @property
    def degree(self) -> int:
        """The number of products with the Laplacian that applying it takes."""
        return len(self.coefficients) - 1

    def __call__(self, eigenvalues: Tensor) -> Tensor:
        """Evaluate at eigenvalues in [0, lambda_max], (N,) float64, to (N,) or (N, C) values."""
        angles = (2 * eigenvalues / self.lambda_max - 1).clamp(-1, 1).arccos()
        orders = torch.arange(len(self.coefficients), dtype=angles.dtype)
        values = torch.cos(angles[:, None] * orders) @ self.coefficients
        return values[:, 0] if values.shape[1] == 1 else values

    def __repr__(self) -> str:
        """Its degree and bound."""
        return f"Polynomial(degree={self.degree}, bound={self.bound:.3g})"


def check_tolerance(tolerance: float) -> None:
    """Check that a tolerance can be met.

    Raises:
        ValueError: it can't.
    """
    if not SMALLEST_TOLERANCE <= number("tolerance", tolerance) < 1:
        raise ValueError(f"tolerance must be in [{SMALLEST_TOLERANCE:g}, 1). Got {tolerance!r}.")


def approximated(function: Function, lambda_max: float, tolerance: float) -> Polynomial:
    """The polynomial for a function, of a degree found by doubling the number of samples.

    Args:
        function: f.
        lambda_max: f is sampled on [0, lambda_max], both ends included.
        tolerance: of the error, in units of max |f|.

    Raises:
        ValueError: the tolerance is out of range; f returns another dtype or shape, needs
            gradients, is not finite, or is not smooth enough.
    """
    # Not as a decorator, which would import torch's compiler: half of the time of our import.
    compiling = torch.compiler.is_dynamo_compiling()
    make = torch.compiler.disable(_approximated) if compiling else _approximated
    return make(function, lambda_max, tolerance)


def _approximated(function: Function, lambda_max: float, tolerance: float) -> Polynomial:
    check_tolerance(tolerance)
    if not callable(function):
        raise TypeError(f"function must be one of eigenvalues. Got {quoted(function)}.")
    count = FEWEST_SAMPLES
    while count <= 2 * MOST_DEGREE:
        fine = _sampled(function, lambda_max, FINER * count)
        largest = float(fine.abs().max())
        series = _series(fine[::FINER])
        left_out = _tails(series)
        # Aliases of higher terms are small where the upper half of the series is.
        resolved = float(left_out[count // 2]) <= MARGIN * tolerance * largest
        if largest == 0 or resolved:
            degree = int((left_out > MARGIN * tolerance * largest).sum())
            kept = series[: degree + 1]
            error = float((_values(kept, FINER * count) - fine).abs().max())
            bound = max(error, float(left_out[degree]))
            if bound <= tolerance * largest:
                return Polynomial(kept[:, None].clone(), lambda_max, bound)
        count *= 2
    raise ValueError(
        f"function is not smooth enough on [0, {lambda_max:.6g}] for a polynomial of degree "
        f"{MOST_DEGREE:,} to come within tolerance={tolerance:g} times its maximum: smooth its "
        "corners and steps, or allow a larger tolerance."
    )


def heat(times: Tensor, lambda_max: float, tolerance: float, order: int = 0) -> Polynomial:
    """The polynomials for (-lambda)^order exp(-t lambda), a derivative of exp(-t lambda) by t.

    That of order 0 is 1 at lambda = 0 but for rounding: its coefficients are divided by their sum
    there. With e the tail, the error is then at most 2 e / (1 - e).

    Args:
        times: (C,) t.
        lambda_max: as of `Polynomial`.
        tolerance: of the error, in units of the function's maximum.
        order: at least 0.

    Returns:
        One for each time, of the same degree; bound is that of the channel where it is largest.

    Raises:
        ValueError: the tolerance is out of range; a time is negative, not finite, or so long that
            the degree would be above MOST_DEGREE.
    """
    check_tolerance(tolerance)
    check_values("t", times)
    times = times.detach().to("cpu", torch.float64)
    if not bool((times.isfinite() & (times >= 0)).all()):
        wrong = times[~(times.isfinite() & (times >= 0))][0]
        raise ValueError(f"diffuse takes times t from 0, finite. Got {float(wrong)!r}.")
    z = times * (lambda_max / 2)
    longest = float(z.max()) if len(z) else 0.0
    count = FEWEST_SAMPLES
    while _chernoff(longest, count - order) * 2**order > NEGLIGIBLE:
        count *= 2
        if count > 8 * MOST_DEGREE:
            raise _too_long(times, lambda_max)
    eigenvalues = _nodes(lambda_max, count)[:, None]
    values = (-eigenvalues) ** order * torch.exp(-times * eigenvalues)
    series = _series(values)
    left_out = _tails(series)
    largest = _largest(z, order) * (lambda_max / 2) ** order
    share = tolerance / (2 + 2 * tolerance) if order == 0 else tolerance
    degree = int((left_out > share * largest).sum(0).max()) if len(z) else 0
    if degree > MOST_DEGREE:
        raise _too_long(times, lambda_max)
    kept, tail = series[: degree + 1], left_out[degree]
    if order == 0:
        kept = kept / at_zero(kept)
        tail = 2 * tail / (1 - tail)
    return Polynomial(kept.clone(), lambda_max, float(tail.max()) if len(z) else 0.0)


def _too_long(times: Tensor, lambda_max: float) -> ValueError:
    longest = float(times.max())
    return ValueError(
        f"diffuse takes times whose polynomial has a degree up to {MOST_DEGREE:,}. Got "
        f"t={longest:.6g} with lambda_max={lambda_max:.6g}: take shorter ones, a coarser level, or "
        "eigenpairs."
    )


def _largest(z: Tensor, order: int) -> Tensor:
    """The largest s^order exp(-z s) over s in [0, 2]."""
    if order == 0:
        return torch.ones_like(z)
    place = (order / z).clamp(max=2.0)  # infinite where z is 0
    return place**order * torch.exp(-z * place)


def _chernoff(z: float, degree: int) -> float:
    """A bound of what the terms of exp(-t lambda) beyond a degree come to."""
    if z == 0 or degree <= 0:
        return 0.0 if degree > 0 else 2.0
    # sqrt(z^2 + K^2) - z without cancellation.
    exponent = degree**2 / (math.hypot(z, degree) + z) - degree * math.asinh(degree / z)
    return 2 * math.exp(min(0.0, exponent))


def _nodes(lambda_max: float, count: int) -> Tensor:
    """(count + 1,) eigenvalues where T_count is 1 or -1, from lambda_max to 0, both exactly."""
    angles = torch.arange(count, -1, -1, dtype=torch.float64) * (math.pi / (2 * count))
    return lambda_max * torch.sin(angles) ** 2


def _sampled(function: Function, lambda_max: float, count: int) -> Tensor:
    """A function's values at the nodes.

    Raises:
        ValueError: they are not such values.
    """
    eigenvalues = _nodes(lambda_max, count)
    values = function(eigenvalues.clone())
    if not isinstance(values, Tensor):
        raise ValueError(  # noqa: TRY004 -- as of all that is given to a layer
            f"function must return a float64 tensor. Got {type(values).__name__}."
        )
    if not_dense(values) or values.is_meta:
        found = not_dense(values) or "one on meta, which has no values"
        raise ValueError(f"function must return a dense float64 tensor. Got {found}.")
    if values.shape != eigenvalues.shape or values.dtype != torch.float64:
        raise ValueError(
            f"function must return a float64 tensor of the shape {tuple(eigenvalues.shape)} that "
            f"it is given. Got {values.dtype} of shape {tuple(values.shape)}."
        )
    if values.requires_grad:
        raise ValueError(
            "function must not need gradients, which would be lost: its values are constants. "
            "Learn weights of several filters, or take ChebConv."
        )
    values = values.cpu()
    if not bool(values.isfinite().all()):
        place = int((~values.isfinite()).nonzero()[-1])
        raise ValueError(
            f"function must be finite on [0, {lambda_max:.6g}]. Got {float(values[place])} at "
            f"eigenvalue {float(eigenvalues[place]):.6g}."
        )
    return values


def _series(values: Tensor) -> Tensor:
    """(N + 1, ...) coefficients of the polynomial through values at N + 1 nodes."""
    mirrored = torch.cat([values, values[1:-1].flip(0)])
    series: Tensor = torch.fft.rfft(mirrored, dim=0).real / (len(values) - 1)
    series[0] /= 2
    series[-1] /= 2
    return series


def _values(series: Tensor, count: int) -> Tensor:
    """(count + 1,) values at the nodes of a series of at most count + 1 terms."""
    halves = torch.nn.functional.pad(series, (0, count + 1 - len(series))) / 2
    halves[0] *= 2
    halves[-1] *= 2
    values: Tensor = torch.fft.rfft(torch.cat([halves, halves[1:-1].flip(0)])).real
    return values


def _tails(series: Tensor) -> Tensor:
    """(N + 1, ...) sums of |c_j| over j > k, for each k."""
    sums = series.abs().flip(0).cumsum(0).flip(0)
    return torch.cat([sums[1:], torch.zeros_like(sums[:1])])


def at_zero(series: Tensor) -> Tensor:
    """Values of series at lambda = 0: alternating sums."""
    return series[::2].sum(0) - series[1::2].sum(0)
