"""Orientations modulo 2 pi: edges of every engine against the comparison of all pairs."""

import math

import pytest
from all_pairs import check_against_all_pairs, check_rule, edges, name
from truth import brute_force_edges

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.search.choice import Choice

LATTICES = [
    ({"size": 12}, 16),
    ({"size": "10x14", "orientations": 6, "eps": 1.0}, 16),
    ({"size": 14, "orientations": 5, "eps": 0.5, "boundary": "periodic"}, 16),
    ({"size": "16x12", "orientations": 12, "alpha": 0.1, "boundary": "periodic"}, 24),
    ({"size": 9, "orientations": 2, "alpha": 0.02}, 16),
    ({"size": 9, "orientations": 3, "alpha": 0.02}, 12),
    ({"size": 9, "orientations": 1}, 8),
    ({"size": 12, "orientations": 4, "alpha": 10}, 16),
]
SEARCHED = [
    ({"manifold": "se2", "sampling": "random", "points": 80}, 16),
    ({"manifold": "se2", "sampling": "random", "points": 80, "boundary": "periodic"}, 16),
    ({"manifold": "se2", "size": 8, "orientations": 7, "boundary": "periodic"}, 16),
    ({"manifold": "so3", "subdivisions": 1}, 16),
    ({"manifold": "so3", "subdivisions": 2, "orientations": 12, "alpha": 0.1}, 16),
    ({"manifold": "so3", "subdivisions": 1, "orientations": 24, "alpha": 20}, 16),
    ({"manifold": "so3", "nside": 2, "orientations": 5, "eps": 0.1}, 16),
    ({"manifold": "so3", "bandlimit": 3, "orientations": 2, "alpha": 0.05}, 8),
    ({"manifold": "so3", "sampling": "random", "points": 60, "orientations": 3, "eps": 1}, 16),
    ({"manifold": "so3", "gaussian": "O2", "orientations": 4}, 12),
]


@pytest.mark.parametrize(("fields", "count"), LATTICES, ids=name)
def test_stencils_equal_all_pairs(fields: dict, count: int) -> None:
    spec = GraphSpec("se2", period="2pi", levels=1, neighbors=count, **fields)
    width, height = spec.level_size(0)
    expected = brute_force_edges(
        width,
        height,
        spec.orientations,
        eps=spec.eps,
        alpha=spec.alpha,
        count=count,
        periodic=spec.boundary == "periodic",
        period=2 * math.pi,
    )
    check_rule(edges(spec, Choice("stencil", "cpu")), expected, count)


@pytest.mark.parametrize(("fields", "count"), SEARCHED, ids=name)
def test_pruned_search_equals_all_pairs(fields: dict, count: int) -> None:
    check_against_all_pairs({"period": "2pi", "levels": 1, **fields}, count)


@pytest.mark.parametrize(
    "manifold",
    [{"manifold": "se2", "size": 8, "boundary": "periodic"}, {"manifold": "so3", "nside": 2}],
)
def test_keops_equals_all_pairs(manifold: dict) -> None:
    check_against_all_pairs({"period": "2pi", "levels": 1, **manifold}, 16, Choice("keops", "cpu"))
