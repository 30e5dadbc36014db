"""point_laplacian against builds of the same points, and against the formula on all pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sphere_truth import edges_of_rows, plane_rows, s2_rows
from truth import Edges

from cheblienet_graphs import GraphSpec, SpecError, build, point_laplacian
from cheblienet_graphs.report.opened import open_graph

RANDOM = np.random.default_rng(7)
PLANE = RANDOM.random((150, 2))
SPHERE = np.stack(
    [np.degrees(np.arcsin(RANDOM.uniform(-1, 1, 150))), RANDOM.uniform(-180, 180, 150)], axis=1
)
CORNERS = {"domain": (0, 0, 1, 1)}
BUILDS: list[tuple[np.ndarray, dict[str, Any], dict[str, Any]]] = [
    (SPHERE, {"manifold": "s2"}, {}),
    (SPHERE, {"manifold": "s2", "kernel": "cauchy", "neighbors": 12, "bandwidth": 1}, {}),
    (PLANE, {"manifold": "r2"}, CORNERS | {"boundary": "periodic"}),
    (PLANE, {"manifold": "se2", "xi": 0.05, "eps": 0.3}, CORNERS),
    (PLANE, {"manifold": "se2", "xi": 0.05, "period": "2pi"}, CORNERS | {"boundary": "periodic"}),
    (PLANE[:7], {"manifold": "se2", "xi": 0.05, "eps": 0.2}, CORNERS | {"boundary": "periodic"}),
    (SPHERE, {"manifold": "so3", "xi": 0.1}, {}),
]
ORIENTATIONS = 4


@pytest.mark.parametrize(("points", "fields", "more"), BUILDS)
def test_it_is_the_laplacian_of_a_build(
    tmp_path: Path, points: np.ndarray, fields: dict[str, Any], more: dict[str, Any]
) -> None:
    """Orientations of a build are angles of as many points; a build stores float32."""
    turned = {"orientations": ORIENTATIONS} if "xi" in fields else {}
    build(GraphSpec(coordinates=points, levels=1, **fields, **more, **turned), tmp_path / "s")
    level = open_graph(tmp_path / "s").level(0)
    if "xi" in fields:
        full = 360 if fields.get("period") == "2pi" else 180
        angles = np.repeat(np.arange(ORIENTATIONS), len(points)) * full / ORIENTATIONS - full / 2
        points = np.column_stack([np.tile(points, (ORIENTATIONS, 1)), angles])
    periodic = (1, 1) if "boundary" in more else None
    found = point_laplacian(points, periodic=periodic, **fields)
    stored = level.laplacian
    assert (found.indptr == stored.indptr).all()
    assert (found.indices == stored.indices).all()
    stored = (stored.toarray() + np.eye(len(points))) * level.of_level.lambda_max / 2
    np.testing.assert_allclose(found.toarray(), stored, atol=2e-6)


def of_formula(edges: Edges, vertices: int, *, normalized: bool) -> np.ndarray:
    pairs, squared = np.array([*edges]), np.array([*edges.values()])
    weights = np.zeros((vertices, vertices))
    weights[*pairs.T] = np.exp(-squared / (4 * 0.2 * squared.mean()))
    degree = weights.sum(axis=1)
    if not normalized:
        return np.diag(degree) - weights
    return np.eye(vertices) - weights / np.sqrt(np.outer(degree, degree))


@pytest.mark.parametrize("laplacian", ["normalized", "combinatorial"])
def test_it_is_the_formula_on_all_pairs(laplacian: str) -> None:
    normalized = laplacian == "normalized"
    beta_gamma = np.radians([[90, 0]] + SPHERE * [-1, 1])
    found = point_laplacian(SPHERE, 8, manifold="s2", laplacian=laplacian)
    expected = of_formula(edges_of_rows(s2_rows(beta_gamma), 8), 150, normalized=normalized)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    scattered = np.column_stack([PLANE, np.random.default_rng(8).random(150) * 180])
    metric = {"eps": 0.3, "xi": 0.1}
    found = point_laplacian(
        scattered, 16, manifold="se2", laplacian=laplacian, periodic=(1, 1), **metric
    )
    rows = plane_rows(np.column_stack([PLANE, np.radians(scattered[:, 2])]), **metric, rings=3)
    expected = of_formula(edges_of_rows(rows, 16), 150, normalized=normalized)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    assert abs(found - found.T).max() == 0
    assert np.linalg.eigvalsh(found.toarray()).min() > -1e-12
    assert found.has_sorted_indices


def test_points_without_edges_have_rows_of_zeros() -> None:
    points = np.concatenate([PLANE[:20], [[100.0, 100.0]]])
    found = point_laplacian(points, 3, manifold="r2").toarray()
    assert not found[20].any()
    assert not found[:, 20].any()


def test_lengths_have_any_unit() -> None:
    found = point_laplacian(PLANE, manifold="r2")
    np.testing.assert_allclose(
        found.toarray(), point_laplacian(PLANE * 1e5, manifold="r2").toarray(), atol=1e-9
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"neighbors": 1025}, "neighbors must be an integer"),
        ({"laplacian": "random walk"}, "laplacian must be one of normalized, combinatorial"),
        ({"neighbors": 2, "periodic": (4, 4)}, "neighbors must be at least 4 here"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    square = np.stack(np.meshgrid(range(4), range(4)), axis=-1).reshape(-1, 2)
    with pytest.raises(SpecError, match=message):
        point_laplacian(square, **{"manifold": "r2", **given})
