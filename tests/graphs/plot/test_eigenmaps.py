import numpy as np
import pytest
import scipy.linalg
from pictured import dense_weights, opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot import spectrum
from cheblienet_graphs.plot.eigenmaps import eigenmaps_of, titles_of


@pytest.mark.parametrize(("name", "level"), [("plane", 0), ("torus", 1), ("grid", 0), ("own", 0)])
def test_eigenmaps_solve_the_problem_of_the_weights(name: str, level: int) -> None:
    """(D - W) u = lambda N u; within an eigenspace any basis is right."""
    graph = opened(name)
    data = eigenmaps_of(graph, level=level, count=6)
    arrays = graph.level(level)
    weights = dense_weights(graph, level)
    mass = np.diag(arrays.mass.astype(np.float64))
    stiffness = np.diag(weights.sum(axis=1)) - weights
    exact = scipy.linalg.eigh(stiffness, mass, eigvals_only=True)[:6]
    scale = arrays.of_level.eigenvalue_scale
    assert data.operator
    assert data.values == pytest.approx(exact * scale, abs=1e-4 * exact[-1] * scale)
    functions = data.functions.reshape(6, -1)
    for value, function in zip(data.values / scale, functions, strict=True):
        residual = stiffness @ function - value * (mass @ function)
        assert np.linalg.norm(residual) < 1e-4 * np.linalg.norm(mass @ function)
    gram = functions @ mass @ functions.T
    sizes = np.sqrt(gram.diagonal())
    assert gram / np.outer(sizes, sizes) == pytest.approx(np.eye(6), abs=1e-4)


def test_eigenmaps_have_size_and_sign_fixed_and_copies_counted() -> None:
    data = eigenmaps_of(opened("sphere"), count=4)
    assert (data.copies, data.cut) == ((1, 3, 3, 3), True)
    assert titles_of(data)[1].endswith("(≥3x)")
    functions = data.functions.reshape(4, -1)
    assert abs(functions).max(axis=1) == pytest.approx(np.ones(4))
    for function in functions:
        assert function[np.argmax(abs(function) >= 0.5)] > 0
    assert functions[0] == pytest.approx(np.ones(len(functions[0])), rel=1e-3)


def test_stored_eigenpairs_are_taken_and_a_tiny_graph_has_as_many_as_vertices() -> None:
    arrays, data = opened("torus").level(0), eigenmaps_of(opened("torus"))
    stored = abs(arrays.eigenvectors[:, 3] / np.sqrt(arrays.mass))
    np.testing.assert_allclose(abs(data.functions[3]).ravel(), stored / stored.max(), rtol=1e-5)
    assert len(eigenmaps_of(opened("torus"), count=10).values) == 10
    every = eigenmaps_of(opened("tiny"), count=30)
    assert (len(every.values), every.cut) == (8, False)


def test_a_coarser_level_stands_for_one_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "LARGEST", 600)
    assert eigenmaps_of(opened("group")).level == 1
    monkeypatch.setattr(spectrum, "LARGEST", 100)
    with pytest.raises(NotDrawnError, match="eigenpairs=8"):
        eigenmaps_of(opened("group"))
    assert eigenmaps_of(opened("torus"), count=10).level == 0


def test_indicators_of_components_are_not_drawn() -> None:
    assert eigenmaps_of(opened("islands"), count=6).copies[:3] == (3, 3, 3)
    with pytest.raises(NotDrawnError, match="3 components on level 0, so its 2 "):
        eigenmaps_of(opened("islands"), count=2)
