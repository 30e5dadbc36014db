"""Spectra beside the exact ones, against dense matrices and closed formulas."""

import numpy as np
import pytest
from golden_spectra import spectrum
from pictured import dense_weights, generator, opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.spectrum import spectrum_of


def test_stored_eigenvalues_are_compared_with_plane_waves() -> None:
    graph, waves = opened("kernel torus"), np.array(spectrum("r2", 1, 1, 9))
    data, weights = spectrum_of(graph), dense_weights(graph)
    assert (data.method, data.unknown) == ("stored", None)
    np.testing.assert_allclose(data.exact, waves, rtol=1e-12)
    steps = (np.arange(12) + 6) % 12 - 6
    second = weights[0] @ (np.tile(steps, 12) ** 2) / 144  # in widths
    values = np.sort(np.linalg.eigvals(generator(graph)).real)[:9]
    truth = values * 2 * weights[0].sum() / second
    errors = truth[1:] / waves[1:] - 1
    np.testing.assert_allclose(data.values, truth, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(data.errors[1:], errors, atol=1e-5)
    assert np.isnan(data.errors[0])
    assert data.largest_error == pytest.approx(abs(errors).max(), abs=1e-5)


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
