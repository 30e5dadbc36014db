"""Matched weights of scattered points: masks, and weights that no graph can have."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from moments import of_lattice, offsets
from refusing import refused
from sphere_truth import edges_of_rows, plane_rows, s2_rows
from truth import Edges

from cheblienet_graphs import GraphSpec, SpecError, build, point_laplacian
from cheblienet_graphs.measure.opened_graph import open_graph


def refusal(spec: GraphSpec, path: Path, **options: object) -> str:
    """The message, of one line; nothing is published."""
    message = refused(".", build, spec, path / "g.zarr", name="g", error=SpecError, **options)
    assert not list(path.rglob("v0*"))
    assert not list(path.rglob("laplacian"))
    return message


@pytest.mark.parametrize("options", [{"engine": "pruned"}, {"device": "cuda"}], ids=str)
def test_lattices_are_weighed_by_stencils_on_the_cpu(tmp_path: Path, options: dict) -> None:
    message = refusal(GraphSpec("se2", 16, weights="matched"), tmp_path, **options)
    assert message.startswith(f"{next(iter(options))} must be auto or ")
    assert message.count("matched weights on a lattice") == 1


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_lattices_too_small_for_the_stencils(tmp_path: Path, boundary: str, weights: str) -> None:
    """The least side is the reach + 1 where open, twice the reach + 1 where periodic."""
    fields = {"weights": weights, "boundary": boundary, "levels": 1, "alpha": 1}
    large = GraphSpec("se2", 64, **fields)
    listed = offsets(of_lattice(large))
    reach = max(max(abs(dy), abs(dx)) for _, dy, dx, _ in listed)
    least = (2 * reach if boundary == "periodic" else reach) + 1
    build(GraphSpec("se2", least, **fields), tmp_path / "fits.zarr", name="fits")
    for size in ((least - 1, least), (least, least - 1)):
        message = refusal(GraphSpec("se2", size, **fields), tmp_path / "small")
        assert f"levels must be such that every level has at least {least}x{least} pi" in message
        assert f"'{size[0]}x{size[1]}'. Give fewer `levels`, a larger `size` or `eps`" in message


@pytest.mark.parametrize("drift", [None, 1])
def test_spheres_that_cannot_be_matched_say_so(tmp_path: Path, drift: float | None) -> None:
    spec = GraphSpec("so3", points=100, weights="matched", neighbors=24, drift=drift)
    message = refusal(spec, tmp_path)
    assert message.startswith("weights must be kernel here")
    assert "K = 24" in message


RANDOM = np.random.default_rng(7)
PLANE = RANDOM.random((150, 2))
SPHERE = np.stack(
    [np.degrees(np.arcsin(RANDOM.uniform(-1, 1, 150))), RANDOM.uniform(-180, 180, 150)], axis=1
)
CORNERS = {"domain": (0, 0, 1, 1)}
BUILDS: list[tuple[np.ndarray, dict[str, Any], dict[str, Any]]] = [
    (SPHERE, {"manifold": "s2", "kernel": "cauchy", "neighbors": 12, "bandwidth": 1}, {}),
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


def test_many_points_that_coincide() -> None:
    """None has a whole shell of at most K; the others are joined as without them."""
    others = np.random.default_rng(4).random((40, 2))
    crowd = np.repeat([[30.0, 30.0]], 10**5, axis=0)
    points = np.concatenate([others[:20], crowd, others[20:]])
    alone = point_laplacian(np.concatenate([others, crowd[:40]]), manifold="r2").toarray()[:40, :40]
    found = point_laplacian(points, manifold="r2")
    kept = np.r_[:20, len(points) - 20 : len(points)]
    assert (found[kept][:, kept].toarray() == alone).all()
    assert abs(found.sum() - alone.sum()) < 1e-9
    assert np.count_nonzero(alone)
    message = "points must be at different places. Got 100,000 of 100,001 that coincide, more than"
    with pytest.raises(SpecError, match=message):
        point_laplacian(points[19:-20], manifold="r2")
    two = np.repeat([[1.0, 1.0], [2.0, 2.0]], 1026, axis=0)
    with pytest.raises(SpecError, match="2,052 of 2,052 that coincide, more than 1,025 each time"):
        point_laplacian(two, 8, manifold="r2")


def test_equal_points_and_lonely_pairs_are_refused() -> None:
    points = np.random.default_rng(0).random((100, 2))
    for equal, count in ((np.zeros((5, 2)), 8), (np.repeat(points, 2, axis=0), 1)):
        with pytest.raises(SpecError, match="points must be such that neighbors are different"):
            point_laplacian(equal, count, manifold="r2")
    pair = np.concatenate([points / 100, [[50, 50], [50, 60]]])
    with pytest.raises(SpecError, match="since the weights of 2 vertices vanish in float32"):
        point_laplacian(pair, manifold="r2")
