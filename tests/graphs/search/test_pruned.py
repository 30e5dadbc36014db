"""The pruned search's edges against all pairs, on every sampling, by blocks of any size."""

import pytest
import torch
from all_pairs import (
    PRUNED,
    SOME,
    check_against_all_pairs,
    check_rule,
    edges,
    engine_and_lengths,
    listed,
    name,
)
from sphere_truth import edges_of_rows, rows_of

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.manifolds.base import PERIODS
from cheblienet_graphs.search import neighbor_lists, positions, pruned
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.positions import PlacedPoints
from cheblienet_graphs.search.pruned import PrunedSearch

SPHERES = [
    {"subdivisions": 0},
    {"subdivisions": 2},
    {"nside": 4},
    {"refined": (0, 2, 100, -90, 350, -60)},
    {"pl": (5, 8, 8, 5)},
    {"bandlimit": 5},
    {"sampling": "random", "points": 150},
]
"""Samplings that are small enough for orientations over them."""

COUNTS = [4, 24]


FIBERS = [
    {"orientations": orientations, "eps": eps}
    for orientations, eps in [(1, 0.3162), (5, 1), (6, 0.1)]
]
SIDES = ("open", "periodic")
PLAIN = [
    *({"manifold": "s2", **sphere} for sphere in SPHERES),
    *({"manifold": "so3", "subdivisions": 1, "alpha": alpha} for alpha in (0.05, 20)),
    *({"manifold": "r2", "points": 300, "boundary": side} for side in SIDES),
]
BASES = [
    *({"manifold": "so3", **sphere} for sphere in SPHERES),
    *({"manifold": "se2", "points": 60, "boundary": side} for side in SIDES),
]
FIBERED = [{**base, **fiber} for base in BASES for fiber in FIBERS]
ARROWS = [
    ({"manifold": "se2", "points": 80, "boundary": "periodic"}, 16),
    ({"manifold": "se2", "size": 8, "orientations": 7, "boundary": "periodic"}, 16),
    ({"manifold": "so3", "subdivisions": 2, "orientations": 12, "alpha": 0.1}, 16),
    ({"manifold": "so3", "bandlimit": 3, "orientations": 2, "alpha": 0.05}, 8),
]
CASES = [
    *(({"period": "2pi", "levels": 1, **fields}, count) for fields, count in ARROWS),
    *((fields, count) for fields in PLAIN for count in COUNTS),
    # On each sampling all counts and all fibers, in pairs that differ from one to the next.
    *((fields, COUNTS[(n + n // len(FIBERS)) % len(COUNTS)]) for n, fields in enumerate(FIBERED)),
]


@pytest.mark.parametrize(("fields", "count"), CASES, ids=name)
def test_edges_equal_all_pairs(fields: dict, count: int) -> None:
    check_against_all_pairs(fields, count)


TORUS = {"manifold": "se2", "boundary": "periodic"}
FEW = [
    *(
        TORUS | {"points": n, "orientations": k, "neighbors": most}
        for n, k, most in ((2, 1, 4), (3, 4, 30), (5, 2, 12), (8, 3, 7), (12, 1, 30))
    ),
    *(
        {"manifold": "so3", "points": n, "orientations": k, "neighbors": most, "alpha": alpha}
        for n, k, most, alpha in ((2, 1, 1, 1), (3, 4, 70, 30), (7, 2, 12, 0.01), (15, 3, 44, 1))
    ),
]


@pytest.mark.parametrize("fields", FEW, ids=name)
def test_few_points(fields: dict) -> None:
    """Neighbors lie several periods or a quarter turn away, or all others are neighbors."""
    spec, rings = GraphSpec(**fields, seed=7), 6 if "boundary" in fields else 0
    level = level_plans(spec, PRUNED)[0]
    coordinates = level.domain.coordinates()
    measured = rows_of(spec.manifold, coordinates, spec.eps, level.metric.xi, rings)
    expected = edges_of_rows(measured, spec.neighbors)
    assert not rings or max(expected.values()) < rings**2
    check_rule(edges(spec), expected, spec.neighbors)


@pytest.mark.parametrize(("fields", "count"), SOME[1::3], ids=name)
def test_edges_do_not_depend_on_block_sizes(fields: dict, count: int) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    for module, constant, value in (
        (pruned, "MOST_POINTS", 7),
        (neighbor_lists, "COMPARISONS_AT_ONCE", 5),
        (pruned, "PAIRS_AT_ONCE", {"cpu": 100, "cuda": 100}),
        (positions, "PAIRS_AT_ONCE", 5),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, constant, value)
            assert edges(spec) == expected, constant


@pytest.mark.parametrize("engine", ["pruned", "stencil"])
def test_edges_do_not_depend_on_rows_read(engine: str) -> None:
    spec = GraphSpec("se2", "6x7") if engine == "stencil" else GraphSpec("so3", subdivisions=1)
    search = engine_and_lengths(spec, Choice(engine, "cpu"))
    whole = listed(*search, spec.num_vertices)
    assert all(listed(*search, spec.num_vertices, block) == whole for block in (1, 17, 100))


@pytest.mark.parametrize(("eps", "xi"), [(1, 1.0), (0.01, 7.0)])
@pytest.mark.parametrize(
    "fields",
    [
        *({"manifold": m, "period": p, "orientations": 6} for m in ("so3", "se2") for p in PERIODS),
        {"manifold": "s2"},
        {"manifold": "r3s2", "size": 5, "axes": 12},
        TORUS | {"orientations": 4},
    ],
    ids=name,
)
def test_rough_distances_err_less_than_assumed(fields: dict, eps: float, xi: float) -> None:
    """Between all vertices, as the search has them, from those in float64."""
    if fields["manifold"] not in ("r2", "s2"):
        fields = fields | {"eps": eps, "xi": xi}
    size = {} if "size" in fields else {"points": 90}
    spec = GraphSpec(**fields, **size, levels=1)
    level = level_plans(spec, PRUNED)[0]
    vertices = PlacedPoints.of(level.sampled).cloud(float(spec.boundary == "periodic"))
    search, points = PrunedSearch(vertices, "cpu"), torch.arange(vertices.images)
    everything = torch.arange(vertices.orientations)[None, None, :, None]
    rough = search._rough_distances(points[:9], slice(None), points.repeat(9, 1), everything)
    start = tuple(torch.from_numpy(e)[:, :9].reshape(-1, 1) for e in vertices.elements)
    end = tuple(torch.from_numpy(e).reshape(1, -1) for e in vertices.elements)
    exact = spec.geometry.squared_distance(start, end, level.metric)
    assert (rough.dtype == torch.float32) == (fields["manifold"] != "r3s2")
    itself = rough.isinf()
    assert itself.sum() == len(rough)
    assert exact[itself].max() < 1e-12
    if fields["manifold"] == "r3s2":
        torch.testing.assert_close(rough[~itself], exact[~itself], rtol=1e-9, atol=1e-12)
        return
    error = (rough.double().sqrt() - exact.sqrt())[~itself].abs().max()
    assert error < search._rough_error / 4


@pytest.mark.parametrize("factor", [1, 1e9])
def test_more_are_measured_where_float32_does_not_tell_them_apart(
    factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the error is taken to be; without any surplus at all, too."""
    monkeypatch.setattr(pruned, "ROUGH", factor * pruned.ROUGH)
    monkeypatch.setattr(pruned, "SURPLUS", 0)
    check_against_all_pairs({"manifold": "so3", "subdivisions": 1, "orientations": 5}, 16)
    check_against_all_pairs({"manifold": "se2", "points": 60, "orientations": 5}, 8)
