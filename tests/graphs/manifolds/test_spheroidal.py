"""The spectrum over positions and axes: tables, scipy, and a method that knows no symmetry."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.special
import spheroidal_truth

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.spheroidal import _over_wave, spectrum_over_axes

DATA = json.loads((Path(__file__).parents[2] / "data" / "spectra.json").read_text())
(GOLDEN,) = (case for case in DATA if case["manifold"] == "r3s2")
CUBE = (1.0, 1.0, 1.0)


def metric(eps_squared: float, xi_squared: float) -> Metric:
    return Metric(math.sqrt(eps_squared), math.sqrt(xi_squared))


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and multiplicities, those within 1e-9 together."""
    starts = np.flatnonzero(np.diff(values, prepend=-1) > 1e-9 * values + 1e-9)
    return values[starts], np.diff(np.append(starts, len(values)))


def test_golden_values() -> None:
    cases = GOLDEN["eigenvalues"]
    expected = np.concatenate([[case["value"]] * case["multiplicity"] for case in cases])
    found = spectrum_over_axes(len(expected), metric(0.1, 0.1), CUBE)
    assert found == pytest.approx(expected, abs=1e-9, rel=1e-11)


def test_tabulated_values_of_a_narrow_fibre() -> None:
    """m = l = 0 at xi^2 = .02, |k|^2 = 1 to 6."""
    values, times = distinct(spectrum_over_axes(100, metric(0.1, 0.02), CUBE))
    table = [15.42590602, 30.15613290, 44.24451327, 57.74461037, 70.70818179, 83.18412336]
    assert values[1:7] == pytest.approx(table, abs=1e-8)
    assert times[:7].tolist() == [1, 6, 12, 8, 6, 24, 24]


@pytest.mark.parametrize("eps_squared", [0.5, 0.1, 0.001])
@pytest.mark.parametrize("xi_squared", [0.01, 0.1, 3.0])
def test_scipy_agrees(eps_squared: float, xi_squared: float) -> None:
    """pro_cv, over |k|^2 = 0 to 6, every even degree up to 12."""
    times = [1, 6, 12, 8, 6, 24, 24]
    expected = []
    for squared, waves in enumerate(times):
        kappa = 4 * np.pi**2 * squared
        root = math.sqrt(xi_squared * kappa * (1 - eps_squared))
        for degree in range(0, 13, 2):
            for m in range(degree + 1):
                value = scipy.special.pro_cv(m, degree, root) / xi_squared + eps_squared * kappa
                expected += [value] * (waves * (1 if m == 0 else 2))
    lowest_left_out = min(4 * np.pi**2 * eps_squared * 8, 14 * 15 / xi_squared)
    expected = np.array([value for value in sorted(expected) if value < lowest_left_out][:400])
    found = spectrum_over_axes(len(expected), metric(eps_squared, xi_squared), CUBE)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("sides", [CUBE, (1.0, 0.5, 1.5)])
def test_galerkin_agrees(sides: tuple) -> None:
    """Spherical harmonics of every order, over waves in every direction."""
    expected = spheroidal_truth.spectrum(60, 0.1, 0.1, sides, 3)
    found = spectrum_over_axes(60, metric(0.1, 0.1), sides)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("squared", [0.3, 2000.0])
def test_all_eigenvalues_over_a_wave(squared: float) -> None:
    wave = np.array([2.0, -1.0, 0.5])
    wave *= math.sqrt(squared / (wave @ wave))
    expected = spheroidal_truth.wave_eigenvalues(wave, 0.1, 0.5, 36)[:60]
    found = _over_wave(metric(0.1, 0.5), squared, expected[-1] + 1e-6)
    assert len(found) >= 60
    assert found[:60] == pytest.approx(expected, abs=1e-9)


def test_isotropic_spectrum_is_a_sum() -> None:
    """4 pi^2 |k|^2 + l (l + 1) / xi^2."""
    waves = [
        4 * np.pi**2 * sum(n * n for n in k) for k in itertools.product(range(-4, 5), repeat=3)
    ]
    fibre = np.repeat([0, 6, 20, 42, 72], [1, 5, 9, 13, 17]) / 0.3
    expected = np.sort(np.add.outer(waves, fibre), axis=None)[:200]
    assert spectrum_over_axes(200, metric(1.0, 0.3), CUBE) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("given", [Metric(1e-3, 0.5), Metric(0.3, 1e-6), Metric(0.3, 1e3)])
def test_extreme_metrics(given: Metric) -> None:
    found = spectrum_over_axes(40, given, CUBE)
    assert found[0] == 0
    assert (np.diff(found) >= 0).all()
    assert found == pytest.approx(spectrum_over_axes(60, given, CUBE)[:40], rel=1e-12)
