"""Neighbors of positions and axes: every engine against all pairs."""

from functools import cache

import numpy as np
import pytest
from all_pairs import engine_and_lengths, listed
from axes_edges import edges

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.search.choice import Choice

SETS = [("6", 32), ("7", 48), ("12", 64)]


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
@pytest.mark.parametrize(("axes", "count"), SETS)
def test_edges_equal_all_pairs(axes: str, count: int, engine: str) -> None:
    check(spec(axes=axes, neighbors=count), engine)


@pytest.mark.parametrize("engine", ["stencil", "pruned"])
@pytest.mark.parametrize(
    "given",
    [
        spec(4, axes=4, boundary="periodic"),
        spec("4x6x3", axes="ico6"),
        spec("5x4x3", axes=6, spacing=(1, 1, 2)),
        spec("4x5x3", axes=3, spacing=(2, 1, 1.5), boundary="periodic", neighbors=24),
        spec(4, axes=7, eps=1, neighbors=40),
        spec(5, axes=4, eps=0.1, xi=0.01),
    ],
    ids=str,
)
def test_boxes_and_boundaries(given: GraphSpec, engine: str) -> None:
    check(given, engine)


@pytest.mark.slow
def test_brute_force_finds_the_same() -> None:
    given = spec(5, axes=6)
    check(given, "keops")


def test_in_plane_fraction_is_that_asked_for() -> None:
    given = spec(8, axes=6, xi="auto")
    level = Level(given, Choice("stencil", "cpu"))
    found = level.stencils
    share = found.in_plane_degree / found.total_degree
    assert share == pytest.approx(0.4, abs=0.06)


def test_stencils_turn_with_the_cube() -> None:
    """Those of a rotated axis are those of the axis, rotated."""
    given = spec(12)
    stencils = Level(given, Choice("stencil", "cpu")).neighbors.rule.stencils
    known = axis_set("12")
    sets = [
        {(j, *offset) for j, offset in zip(s.orientation.tolist(), s.offsets.tolist(), strict=True)}
        for s in stencils
    ]
    assert len(known.rotations) == 24
    for matrix, images in known.rotations:
        for k, around in enumerate(sets):
            moved = {
                (int(images[j]), *np.asarray(matrix @ offset[::-1], int)[::-1].tolist())
                for j, *offset in around
            }
            assert moved == sets[images[k]]
