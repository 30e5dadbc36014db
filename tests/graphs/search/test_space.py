"""Lattices in space, with axes, too: every engine against all pairs, components."""

import itertools

import axes_edges
import pytest
from all_pairs import check_rule, edges
from truth import lattice_edges

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.search.choice import Choice


@pytest.mark.parametrize(
    ("engine", "count"),
    [
        *itertools.product(["stencil", "pruned"], [6, 31]),
        pytest.param("keops", 31, marks=pytest.mark.slow),  # it compiles for each count
    ],
)
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("size", ["7x7x7", "6x5x8"])
def test_edges_equal_all_pairs(size: str, count: int, boundary: str, engine: str) -> None:
    spec = GraphSpec("r3", size, neighbors=count, boundary=boundary, levels=1)
    around = {"reach": 9, "sides": (1, 1, 1), "periodic": boundary == "periodic"}
    squares = lambda _, steps: (steps**2).sum(axis=1)[None]  # noqa: E731
    expected = lattice_edges(spec.size[::-1], squares, 1, count=count, **around)
    assert edges(spec, Choice(engine, "cpu")).keys() == expected.keys()


OVER_AXES = [
    pytest.param({"size": 5, "axes": 12, "neighbors": 64}, marks=pytest.mark.slow),
    {"size": 4, "axes": 4, "boundary": "periodic"},
    {"size": "4x6x3", "axes": "ico6"},
    {"size": "5x4x3", "axes": 6, "spacing": (1, 1, 2)},
    {"size": "4x5x3", "axes": 3, "spacing": (2, 1, 1.5), "boundary": "periodic", "neighbors": 24},
    {"size": 5, "axes": 4, "eps": 0.1, "xi": 0.01},
]


@pytest.mark.parametrize("fields", OVER_AXES, ids=str)
def test_edges_over_axes_equal_all_pairs(fields: dict) -> None:
    spec = GraphSpec("r3s2", **fields, levels=1)
    width, axes = spec.size[0], axis_set(spec.axes).points
    metric = {"eps": spec.eps, "xi": spec.metric(0).xi * width}
    around = {"sides": spec.spacing or (1.0, 1.0, 1.0), "periodic": spec.boundary == "periodic"}
    truth = axes_edges.edges(spec.size[::-1], axes, count=spec.neighbors, **metric, **around)
    expected = {edge: squared / width**2 for edge, squared in truth.items()}
    for engine in ("stencil", "pruned"):
        check_rule(edges(spec, Choice(engine, "cpu")), expected, spec.neighbors)
