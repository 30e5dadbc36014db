import numpy as np
import pytest
from pictured import dense, opened

from cheblienet_graphs.plot.chebyshev import (
    chebyshev_sums,
    heat_series,
    part_around,
    random_weights,
)


@pytest.mark.parametrize("z", [0.0, 0.3, 7.0, 150.0, 4000.0])
def test_the_series_of_heat_is_an_exponential_and_1_at_0(z: float) -> None:
    mu = np.cos(np.linspace(0, np.pi, 500))
    series = heat_series(z)
    values = np.polynomial.chebyshev.chebval(mu, series)
    assert abs(values - np.exp(-z * (1 + mu))).max() < 1e-9
    assert np.polynomial.chebyshev.chebval(-1.0, series) == pytest.approx(1, abs=1e-13)


def test_a_series_that_would_take_hours_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 20,000 terms"):
        heat_series(1e9)


def test_a_part_of_a_graph_gives_the_outputs_of_the_whole() -> None:
    matrix, laplacian = dense(opened("group")), opened("group").level(0).laplacian
    wanted, weights = np.array([300, 301, 900]), random_weights(0)
    vertices, part = part_around(laplacian, wanted, len(weights) - 1)
    assert len(wanted) < len(vertices) < len(matrix)
    signal = np.random.default_rng(0).standard_normal((len(matrix), 1))
    own = np.searchsorted(vertices, wanted)
    outputs = chebyshev_sums(lambda y: part.astype(float) @ y, signal[vertices], weights)[own]
    whole = chebyshev_sums(lambda y: matrix @ y, signal, weights)[wanted]
    assert outputs == pytest.approx(whole, abs=1e-12)
