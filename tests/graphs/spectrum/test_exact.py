"""Exact spectra against tables, known multiplicities, and dense matrices of every degree."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.spectrum.exact import periodic_plane, periodic_se2, rotations, sphere

GOLDEN = json.loads((Path(__file__).parents[2] / "data" / "spectra.json").read_text())


KNOWN = [case for case in GOLDEN if case["manifold"] in {"r2", "se2", "s2", "so3"}]


@pytest.mark.parametrize("case", KNOWN)
def test_exact_spectra_are_golden(case: dict) -> None:
    expected = np.concatenate([[e["value"]] * e["multiplicity"] for e in case["eigenvalues"]])
    if case["manifold"] == "r2":
        found = periodic_plane(len(expected))
    elif case["manifold"] == "s2":
        found = sphere(len(expected))
    else:
        metric = Metric(math.sqrt(case["eps_squared"]), math.sqrt(case["xi_squared"]))
        exact = {"se2": periodic_se2, "so3": rotations}[case["manifold"]]
        found = exact(len(expected), metric)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_exact_spectrum_of_a_rectangle() -> None:
    pairs = itertools.product(range(-9, 10), repeat=2)
    expected = sorted(4 * math.pi**2 * (k**2 + (m / 0.5) ** 2) for k, m in pairs)[:20]
    assert np.allclose(periodic_plane(20, aspect=0.5), expected)


def test_exact_spectrum_of_rotations_repeats_itself() -> None:
    found = rotations(40, Metric(0.5, 0.7))
    assert (np.diff(found) >= -1e-12).all()
    assert np.allclose(found, rotations(80, Metric(0.5, 0.7))[:40])
    # Without anisotropy and with xi = 1 it is J (J + 1), (J + 1 or J) (2 J + 1) times.
    round_top = np.repeat([0, 2, 6, 12], [1, 3, 15, 21])
    assert np.allclose(rotations(40, Metric(1.0, 1.0)), round_top[:40])


@pytest.mark.parametrize("metric", [Metric(0.3, 1e4), Metric(0.001, 0.5), Metric(1.0, 30.0)])
def test_exact_spectrum_of_extreme_metrics(metric: Metric) -> None:
    """Against all degrees up to 150, which hold the smallest 60."""
    found = rotations(60, metric)
    assert (np.diff(found) >= 0).all()
    expected = []
    for degree in range(150):
        index = np.arange(-(degree - degree % 2), degree + 1, 2)
        operator = np.diag(
            (1 + metric.eps**2) / 2 * (degree * (degree + 1) - index**2) + index**2 / metric.xi**2
        )
        for a, k in enumerate(index[:-1]):
            length = degree * (degree + 1)
            ladder = (length - k * (k + 1)) * (length - (k + 1) * (k + 2))
            operator[a, a + 1] = operator[a + 1, a] = -(1 - metric.eps**2) / 4 * ladder**0.5
        expected += [value for value in np.linalg.eigvalsh(operator) for _ in range(2 * degree + 1)]
    assert np.allclose(found, np.sort(expected)[:60], atol=1e-9)
