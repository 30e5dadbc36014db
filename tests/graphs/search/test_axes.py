"""Neighbors of positions and axes: every engine against all pairs."""

from functools import cache

import pytest
from all_pairs import engine_and_lengths, listed
from axes_edges import edges

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.search.choice import Choice


def spec(size: object = 5, **fields: object) -> GraphSpec:
    return GraphSpec("r3s2", size, **{"levels": 1, **fields})


@cache
def truth(given: GraphSpec) -> dict[tuple[int, int], float]:
    sides = given.spacing or (1.0, 1.0, 1.0)
    width = given.size[0]
    expected = edges(
        given.size[::-1],
        axis_set(given.axes).points,
        given.neighbors,
        given.eps,
        given.metric(0).xi * width,
        sides=sides,
        periodic=given.boundary == "periodic",
    )
    return {edge: squared / width**2 for edge, squared in expected.items()}


def check(given: GraphSpec, engine: str) -> None:
    found = listed(*engine_and_lengths(given, Choice(engine, "cpu")), given.num_vertices)
    expected = truth(given)
    assert found.keys() == expected.keys()
    assert all(abs(found[e] - expected[e]) <= 1e-12 * max(1, expected[e]) for e in found)
    assert all(found[b, a] == squared for (a, b), squared in found.items())


@pytest.mark.parametrize("engine", ["stencil", "pruned"])
@pytest.mark.parametrize(
    "given",
    [
        spec(axes=6, neighbors=32),
        spec(axes=12, neighbors=64),
        spec(4, axes=4, boundary="periodic"),
        spec("4x6x3", axes="ico6"),
        spec("5x4x3", axes=6, spacing=(1, 1, 2)),
        spec("4x5x3", axes=3, spacing=(2, 1, 1.5), boundary="periodic", neighbors=24),
        spec(4, axes=7, eps=1, neighbors=40),
        spec(5, axes=4, eps=0.1, xi=0.01),
    ],
    ids=str,
)
def test_edges_equal_all_pairs(given: GraphSpec, engine: str) -> None:
    check(given, engine)


@pytest.mark.slow
def test_brute_force_finds_the_same() -> None:
    check(spec(axes=6), "keops")
