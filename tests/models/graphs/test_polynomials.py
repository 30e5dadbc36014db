"""Chebyshev series of functions: their errors on points they were not made from, their refusals."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from refusing import refused
from scipy.special import ive
from torch import Tensor

from cheblienet_models.graphs.polynomials import Polynomial, approximated, heat

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "low pass": lambda e: 1 / (1 + 3 * e),
    "wave": lambda e: torch.cos(4 * e),
    "wavelet": lambda e: e * torch.exp(-2 * e),
    "polynomial": lambda e: 3 - e + 0.5 * e**3,
    "constant": lambda e: torch.full_like(e, -2.5),
    # Sampled at 33 points it is next to nothing; at four times as many it is not.
    "narrow peak": lambda e: 1 + torch.exp(-(((e - 1.416) / 0.013) ** 2)),
    "large": lambda e: 1e200 * torch.exp(-e),
    "small": lambda e: 1e-200 * torch.exp(-e),
}


def evaluated(polynomial: Polynomial, eigenvalues: np.ndarray) -> np.ndarray:
    mu = 2 * eigenvalues / polynomial.lambda_max - 1
    return np.polynomial.chebyshev.chebval(mu, polynomial.coefficients.numpy())


def random_eigenvalues(lambda_max: float) -> np.ndarray:
    """Some anywhere, some near 0, and both ends."""
    u = np.random.default_rng(0).random(4000)
    return lambda_max * np.concatenate([[0.0, 1.0], u, u**8])


@pytest.mark.parametrize("tolerance", [1e-2, 1e-11])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_is_within_bound_and_tolerance(name: str, tolerance: float) -> None:
    function = FUNCTIONS[name]
    polynomial = approximated(function, 2.7, tolerance)
    points = random_eigenvalues(2.7)
    exact = function(torch.from_numpy(points)).numpy()
    largest = abs(exact).max()
    found = evaluated(polynomial, points)[0]
    assert np.allclose(polynomial(torch.from_numpy(points)), found, rtol=0, atol=1e-12 * largest)
    error = abs(found - exact).max()
    assert error <= polynomial.bound * (1 + 1e-6) + 1e-14 * largest
    assert polynomial.bound <= tolerance * largest * (1 + 1e-6)


def test_polynomials_are_found_again() -> None:
    assert approximated(FUNCTIONS["polynomial"], 2.7, 1e-9).degree == 3
    assert approximated(FUNCTIONS["constant"], 2.7, 1e-9).degree == 0
    nothing = approximated(torch.zeros_like, 2.7, 1e-9)
    assert (nothing.degree, nothing.bound) == (0, 0)


def test_functions_with_corners_take_a_larger_tolerance() -> None:
    polynomial, points = approximated(lambda e: (e - 1).abs(), 2.0, 1e-2), random_eigenvalues(2.0)
    assert abs(evaluated(polynomial, points)[0] - abs(points - 1)).max() <= 1e-2


def test_other_functions_and_tolerances_are_refused() -> None:
    for function, message in (
        (lambda e: 1 / e, r"finite on \[0, 2\]\. Got inf at eigenvalue 0\."),
        (lambda e: torch.log(e - 1), r"finite on \[0, 2\]\. Got nan at eigenvalue 0\."),
        (lambda e: 1 / (2 - e), r"Got inf at eigenvalue 2\."),
        (lambda e: e.float(), r"of the shape \(129,\) that it is given\. Got torch.float32"),
        (lambda e: e[1:], r"Got torch.float64 of shape \(128,\)"),
        (lambda e: e * 1j, "Got torch.complex128"),
        (lambda _: 3.0, "must return a float64 tensor. Got float"),
        (lambda e: e * torch.ones(1, dtype=torch.float64, requires_grad=True), "need gradients"),
        (lambda e: (e > 1).double(), r"not smooth enough on \[0, 2\] .* tolerance=1e-06"),
    ):
        refused(message, approximated, function, 2.0, 1e-6)
    for tolerance in (0, -1e-6, 1, 1e-13, float("nan")):
        refused(r"tolerance must be in \[1e-12, 1\)", approximated, torch.exp, 2.0, tolerance)
        refused("tolerance must be in", heat, torch.ones(1), 2.0, tolerance)


Z = [0.0, 1e-9, 0.03, 1.0, 17.0, 1e3, 1e5, 1e7]


@pytest.mark.parametrize("tolerance", [1e-2, 1e-12])
@pytest.mark.parametrize("z", Z)
def test_heat_is_the_series_of_bessel_functions(z: float, tolerance: float) -> None:
    """Of scipy; and its degree is the smallest for which their tail allows the tolerance."""
    polynomial = heat(torch.tensor([z], dtype=torch.float64), 2.0, tolerance)
    degree = polynomial.degree
    k = np.arange(degree + int(12 * np.sqrt(z)) + 60)
    exact = ive(k, z) * np.where(k > 0, 2, 1)
    tail = lambda n: exact[n + 1 :].sum()  # noqa: E731
    signs = (-1.0) ** k[: degree + 1]
    series = polynomial.coefficients[:, 0].numpy() * signs
    assert abs(series * (1 - tail(degree)) - exact[: degree + 1]).max() <= 2e-15
    assert series.sum() == pytest.approx(1, abs=1e-14)  # constants stay
    assert polynomial.bound <= tolerance
    assert polynomial.bound == pytest.approx(2 * tail(degree), rel=1e-2, abs=1e-14)
    assert degree == 0 or 2 * tail(degree - 1) > tolerance * (1 - 1e-2)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-10])
@pytest.mark.parametrize("lambda_max", [1.4, 1e5])
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_heat_and_its_derivatives(order: int, lambda_max: float, tolerance: float) -> None:
    times = torch.tensor([0.0, 1e-3, 0.3, 30.0, 3e3], dtype=torch.float64) / lambda_max
    polynomial = heat(times, lambda_max, tolerance, order)
    points = random_eigenvalues(lambda_max)
    exact = (-points) ** order * np.exp(-np.outer(times.numpy(), points))
    largest = abs(exact).max(axis=1)
    error = abs(evaluated(polynomial, points) - exact).max(axis=1)
    assert (error <= (tolerance + 1e-12) * largest).all()
    assert error.max() <= polynomial.bound * (1 + 1e-6) + 1e-13 * largest.max()


def test_other_times_are_refused() -> None:
    finite, degree = r"times t from 0, finite\. Got ", r"degree up to 65,536\. Got t=1e"
    cases = [(t, rf"{finite}{t}\.") for t in (-1e-9, np.nan, np.inf, -np.inf)]
    for t, message in (*cases, (1e9, degree), (1e13, degree)):
        refused(message, heat, torch.tensor([1.0, t, 2.0], dtype=torch.float64), 2.0, 1e-6)
