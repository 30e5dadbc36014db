"""Exact spectra against tables, scipy and dense matrices."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from golden_spectra import over_wave, spectrum

from cheblienet_graphs.manifolds import MANIFOLDS, OVER_FULL_TURNS, Metric
from cheblienet_graphs.manifolds.base import PERIODS
from cheblienet_graphs.manifolds.spectra import over_boxes

GOLDEN = json.loads((Path(__file__).parents[2] / "data" / "spectra.json").read_text())
R3S2, SO3 = (MANIFOLDS[name].spectrum for name in ("r3s2", "so3"))


def of_squares(eps_squared: float, xi_squared: float) -> Metric:
    return Metric(math.sqrt(eps_squared), math.sqrt(xi_squared))


@pytest.mark.parametrize("case", GOLDEN)
def test_golden_values(case: dict) -> None:
    expected = np.concatenate([[e["value"]] * e["multiplicity"] for e in case["eigenvalues"]])
    metric = Metric(1.0)
    if "eps_squared" in case:
        metric = of_squares(case["eps_squared"], case["xi_squared"])
    values = MANIFOLDS[case["manifold"]].spectrum(len(expected), metric, None)
    assert values == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_rectangle() -> None:
    pairs = itertools.product(range(-9, 10), repeat=2)
    expected = sorted(4 * math.pi**2 * (k**2 + (m / 0.5) ** 2) for k, m in pairs)[:20]
    assert np.allclose(MANIFOLDS["r2"].spectrum(20, Metric(1.0), (1.0, 0.5)), expected)


@pytest.mark.parametrize("sides", [(1.0, 1.0), (1.0, 0.3), (1.0, 0.5, 2.0)])
@pytest.mark.parametrize("count", [0, 1, 60])
def test_boxes_without_flux_through_sides(sides: tuple, count: int) -> None:
    """All products of cosines of up to 40 half waves along a side, which hold the smallest 60."""
    products = itertools.product(range(41), repeat=len(sides))
    every = sorted(
        sum((math.pi * k / side) ** 2 for k, side in zip(half_waves, sides, strict=True))
        for half_waves in products
    )
    assert over_boxes(count, sides) == pytest.approx(every[:count], rel=1e-12)


@pytest.mark.parametrize(("over", "step"), [(MANIFOLDS, 2), (OVER_FULL_TURNS, 1)], ids=PERIODS)
@pytest.mark.parametrize(("eps", "xi"), [(0.3162, 0.1), (1.0, 3.0), (0.3, 1e4), (0.001, 0.5)])
def test_all_rotations_by_matrices_of_angular_momentum(
    eps: float, xi: float, over: dict, step: int
) -> None:
    expected = spectrum("so3", eps**2, xi**2, 60, step=step)
    found = over["so3"].spectrum(60, Metric(eps, xi), None)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("sides", [(1.0, 1.0), (1.0, 0.5)])
@pytest.mark.parametrize(("eps", "xi"), [(0.3162, 0.05), (0.1, 0.3)])
def test_arrows_by_fourier_series_in_theta(eps: float, xi: float, sides: tuple) -> None:
    """Modulo 2 pi: over every wave its derivatives along A_1 and A_2 are functions of theta."""
    order = np.arange(-20, 21)
    theta = 2 * np.pi * np.arange(160) / 160
    expected = []
    for k in itertools.product(range(-6, 7), repeat=2):
        kx, ky = 2 * np.pi * np.array(k) / sides
        forward, sideways = (kx * np.cos(t) + ky * np.sin(t) for t in (theta, theta + np.pi / 2))
        series = np.fft.fft(forward**2 + eps**2 * sideways**2) / 160
        over_wave = np.diag(order**2 / xi**2) + series[(order[:, None] - order) % 160]
        expected += np.linalg.eigvalsh(over_wave).tolist()
    found = OVER_FULL_TURNS["se2"].spectrum(40, Metric(eps, xi), sides)
    assert found == pytest.approx(np.sort(expected)[:40], rel=1e-10, abs=1e-10)


def test_axes_over_boxes() -> None:
    """Over waves in every direction."""
    sides = (1.0, 0.5, 1.5)
    expected = spectrum("r3s2", 0.1, 0.1, 60, sides=sides)
    assert R3S2(60, of_squares(0.1, 0.1), sides) == pytest.approx(expected, abs=1e-9)


def test_axes_over_short_waves() -> None:
    """All eigenvalues over |k| = 0 and the six waves of |k|^2 = 2000; others have larger ones."""
    still, short = (np.sort(over_wave(squared, 0.1, 0.5, 36)) for squared in (0, 2000))
    expected = np.sort(np.concatenate([still, np.repeat(short, 6)]))
    expected = expected[expected < 0.1 * 2 * 2000]
    assert (short < expected[-1]).sum() > 5
    sides = (2 * math.pi / math.sqrt(2000),) * 3
    assert R3S2(len(expected), of_squares(0.1, 0.5), sides) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["se2", "so3", "r3s2"])
@pytest.mark.parametrize("given", [Metric(1e-3, 0.5), Metric(0.3, 1e-6), Metric(0.3, 1e3)])
def test_fewer_eigenvalues_are_the_first_ones(name: str, given: Metric) -> None:
    few, more = (MANIFOLDS[name].spectrum(count, given, None) for count in (40, 60))
    assert few[0] == 0
    assert (np.diff(few) >= 0).all()
    lost = 1e-3 if given.xi < 1e-3 and name != "r3s2" else 1e-9
    assert few == pytest.approx(more[:40], rel=lost, abs=1e-12)
