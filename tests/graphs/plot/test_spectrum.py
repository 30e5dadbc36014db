"""Spectra beside the exact ones, against dense matrices and closed formulas."""

import itertools
import math

import numpy as np
import pytest
from pictured import dense_weights, opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.spectrum import spectrum_of


def test_stored_eigenvalues_are_compared_with_plane_waves() -> None:
    data = spectrum_of(opened("kernel torus"))
    waves = sorted(
        4 * math.pi**2 * (k * k + m * m) for k, m in itertools.product(range(-3, 4), repeat=2)
    )
    assert data.method == "stored"
    assert data.unknown is None
    np.testing.assert_allclose(data.exact, waves[:9], rtol=1e-12)
    weights = dense_weights(opened("kernel torus"))
    degree = weights.sum(axis=1)
    delta = np.eye(len(weights)) - weights / np.sqrt(np.outer(degree, degree))
    steps = (np.arange(12) + 6) % 12 - 6
    second = weights[0] @ (np.tile(steps, 12) ** 2) / 144  # in widths
    truth = np.linalg.eigvalsh(delta)[:9] * 2 * degree[0] / second
    np.testing.assert_allclose(data.values, truth, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(data.errors[1:], truth[1:] / waves[1:9] - 1, atol=1e-5)
    assert np.isnan(data.errors[0])
    assert data.largest_error == pytest.approx(abs(truth[1:] / waves[1:9] - 1).max(), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "why"), [("group", "with an open boundary"), ("dust", "measured nowhere")]
)
def test_without_an_exact_spectrum_the_reason_is_given(name: str, why: str) -> None:
    data = spectrum_of(opened(name), count=4)
    assert data.exact is data.errors is data.largest_error is None
    assert why in data.unknown
    assert (data.scaled, len(data.values)) == (name != "dust", 4)


def test_of_large_graphs_few_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cheblienet_graphs.plot.spectrum.LARGE", 300)
    monkeypatch.setattr("cheblienet_graphs.plot.spectrum.LARGEST", 320)
    counts = {"plane": 16, "tiny": 8, "kernel torus": 9, "flat torus": 25}
    assert {name: len(spectrum_of(opened(name)).values) for name in counts} == counts
    assert len(spectrum_of(opened("sphere"), count=7).values) == 7
    with pytest.raises(NotDrawnError, match=r"642 vertices, .* no eigenpairs are stored. Build it"):
        spectrum_of(opened("sphere"))
