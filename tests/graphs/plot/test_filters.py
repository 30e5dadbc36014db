"""Layers of Chebyshev polynomials, and how their outputs turn with the input."""

import numpy as np
import pytest
from pictured import opened
from scipy.sparse import csr_array
from scipy.special import eval_chebyt

from cheblienet_graphs.plot.filters import (
    chebyshev_sums,
    interpolation,
    part_around,
    random_weights,
    symmetries_of,
)
from cheblienet_graphs.plot.places import places_of


@pytest.mark.parametrize("dimension", [2, 3])
def test_cubic_polynomials_are_met_between_scattered_points(dimension: int) -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-3, 3, (700, dimension))
    places = random.uniform(-2, 2, (40, dimension))

    def cubic(u: np.ndarray) -> np.ndarray:
        return 1 + u[:, 0] - 2 * u[:, 1] ** 2 + u[:, 0] * u[:, 1] * u[:, -1] - u[:, 1] ** 3

    between = interpolation(points, places)
    assert abs(between.sum(axis=1) - 1).max() < 1e-12
    assert abs(between @ cubic(points) - cubic(places)).max() < 0.02


def test_values_on_a_line_do_not_run_away() -> None:
    points = np.stack([np.linspace(-5, 5, 30), np.zeros(30)], axis=1)
    between = interpolation(points, np.array([[0.3, 0.01], [0.3, 0.5]]))
    assert abs(between.data).max() < 2
    assert between @ points[:, 0] == pytest.approx([0.3, 0.3], abs=0.05)


def test_the_error_is_that_of_dense_matrices() -> None:
    """An approximate symmetry, for which it is not small."""
    graph = opened("rotations")
    weights, places = random_weights(1), places_of(graph, 0)
    measured = symmetries_of(graph, 0, places, weights, 2)
    name = "rotation_120 (approximate)"
    permutation = dict(places.points.symmetries())[name]
    values, vectors = np.linalg.eigh(graph.level(0).laplacian.toarray().astype(float))
    signal = np.random.default_rng(2).standard_normal(len(values))
    moved = np.empty_like(signal)
    moved[permutation] = signal
    error, size = 0.0, 0.0
    for channel in weights.T:
        polynomial = sum(w * eval_chebyt(k, values) for k, w in enumerate(channel))
        layer = vectors @ (polynomial[:, None] * vectors.T)
        image = np.empty_like(signal)
        image[permutation] = layer @ signal
        error += np.sum((layer @ moved - image) ** 2)
        size += np.sum(image**2)
    assert measured[name] == pytest.approx(np.sqrt(error / size), rel=1e-6)
    assert measured[name] > 0.01


def test_a_part_of_a_graph_gives_the_outputs_of_the_whole() -> None:
    laplacian = opened("group").level(0).laplacian
    matrix = laplacian.toarray().astype(float)
    wanted, weights = np.array([300, 301, 900]), random_weights(0)
    vertices, part = part_around(laplacian, wanted, len(weights) - 1)
    assert len(wanted) < len(vertices) < len(matrix)
    signal = np.random.default_rng(0).standard_normal((len(matrix), 1))
    own = np.searchsorted(vertices, wanted)
    outputs = chebyshev_sums(part, signal[vertices], weights)[own]
    whole = chebyshev_sums(csr_array(matrix), signal, weights)[wanted]
    assert outputs == pytest.approx(whole, abs=1e-12)
