"""The pruned search's edges against the comparison of all pairs, on every sampling."""

import numpy as np
import pytest
import torch
from all_pairs import (
    COUNTS,
    PRUNED,
    SOME,
    SPHERES,
    check_against_all_pairs,
    check_rule,
    edges,
    engine_and_lengths,
    name,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sphere_truth import edges_of_rows, rows_of

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.search.choice import Choice


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("sphere", [*SPHERES, {"nside": 8}, {"bandlimit": 8}], ids=name)
def test_s2_equals_all_pairs(sphere: dict, count: int) -> None:
    check_against_all_pairs({"manifold": "s2", **sphere}, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("orientations", "eps"), [(1, 0.3162), (5, 0.1), (5, 1), (6, 0.3162)], ids=name
)
@pytest.mark.parametrize("sphere", SPHERES, ids=name)
def test_so3_equals_all_pairs(sphere: dict, orientations: int, eps: float, count: int) -> None:
    fields = {"manifold": "so3", **sphere, "orientations": orientations, "eps": eps}
    check_against_all_pairs(fields, count)


@pytest.mark.parametrize("alpha", [0.05, 20])
def test_so3_with_cheap_and_dear_rotation(alpha: float) -> None:
    fields = {"manifold": "so3", "subdivisions": 1, "orientations": 6, "alpha": alpha}
    check_against_all_pairs(fields, 16)


@pytest.mark.slow
def test_larger_so3_equals_all_pairs() -> None:
    check_against_all_pairs({"manifold": "so3", "subdivisions": 3}, 16)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_random_plane_equals_all_pairs(boundary: str, count: int) -> None:
    check_against_all_pairs(
        {"manifold": "r2", "sampling": "random", "points": 300, "boundary": boundary}, count
    )


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("orientations", "eps"), [(1, 0.3162), (5, 1), (6, 0.3162), (6, 0.1)])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_random_se2_equals_all_pairs(
    boundary: str, orientations: int, eps: float, count: int
) -> None:
    fields = {"manifold": "se2", "sampling": "random", "points": 60, "boundary": boundary}
    check_against_all_pairs(fields | {"orientations": orientations, "eps": eps}, count)


@settings(max_examples=30)
@given(
    points=st.integers(2, 12),
    seed=st.integers(0, 1000),
    orientations=st.integers(1, 4),
    count=st.integers(1, 30),
    eps=st.sampled_from([0.3, 1.0]),
)
def test_images_all_around_few_points(
    points: int, seed: int, orientations: int, count: int, eps: float
) -> None:
    """On so few points neighbors lie several periods away."""
    fields = {"manifold": "se2", "sampling": "random", "points": points, "seed": seed}
    spec = GraphSpec(
        **fields, orientations=orientations, eps=eps, neighbors=count, boundary="periodic"
    )
    level = Level(spec, PRUNED)
    coordinates = level.sampling.coordinates()
    measured = list(rows_of("se2", coordinates, eps, level.metric.xi, rings=6))
    expected = edges_of_rows(measured, count)
    assume(expected)
    assume(max(expected.values()) < 36)
    check_rule(edges(spec), expected, count)


@settings(max_examples=30)
@given(
    points=st.integers(2, 15),
    seed=st.integers(0, 1000),
    orientations=st.integers(1, 4),
    count=st.integers(1, 70),
    alpha=st.sampled_from([0.01, 1.0, 30.0]),
    eps=st.sampled_from([0.1, 1.0]),
)
def test_few_points_on_the_sphere(
    points: int, seed: int, orientations: int, count: int, alpha: float, eps: float
) -> None:
    """Neighbors are a quarter turn away and farther, or all others are neighbors."""
    spec = GraphSpec(
        "so3",
        points=points,
        seed=seed,
        orientations=orientations,
        eps=eps,
        alpha=alpha,
        neighbors=count,
    )
    level = Level(spec, PRUNED)
    expected = edges_of_rows(
        rows_of("so3", level.sampling.coordinates(), eps, level.metric.xi), count
    )
    assume(expected)
    check_rule(edges(spec), expected, count)


@pytest.mark.parametrize("count", [4, 16, 32])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize(
    "fields",
    [
        {"manifold": "se2", "size": "12x12", "orientations": 6},
        {"manifold": "se2", "size": "9x14", "orientations": 5, "eps": 0.1},
        {"manifold": "se2", "size": "5x5", "orientations": 4, "eps": 1},
        {"manifold": "r2", "size": "11x8"},
    ],
    ids=name,
)
def test_pruned_equals_stencils(fields: dict, boundary: str, count: int) -> None:
    spec = GraphSpec(**fields, boundary=boundary, neighbors=count)
    assert edges(spec, PRUNED) == edges(spec, Choice("stencil", "cpu"))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here")
@pytest.mark.parametrize(("fields", "count"), SOME, ids=name)
def test_pruned_on_a_gpu_equals_the_cpu(fields: dict, count: int) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    assert edges(spec, Choice("pruned", "cuda")) == edges(spec)


def test_lengths_of_a_vertex_from_itself_are_zero() -> None:
    vertices = np.arange(252)
    for boundary in ("open", "periodic"):
        spec = GraphSpec("se2", sampling="random", points=42, boundary=boundary)
        _, lengths = engine_and_lengths(spec)
        assert (lengths.squared_distances(vertices, vertices) == 0).all()
