from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from pictured import generator, opened

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot import open_graph
from cheblienet_graphs.plot.figure import Asked, svg_of
from cheblienet_graphs.plot.heat import FIGURE, exact_density, heat_of, heat_on
from cheblienet_graphs.plot.pictures import around
from cheblienet_graphs.plot.places import places_of


@pytest.mark.parametrize("name", ["plane", "torus", "odd", "sphere", "own"])
def test_heat_solves_the_equation_of_the_weights(name: str) -> None:
    """n du/dt = -(D - W) u, from all heat at one vertex."""
    graph = opened(name)
    level = 1 if name == "torus" else 0
    arrays = graph.level(level)
    mass = arrays.mass.astype(np.float64)
    vertex = len(mass) // 3
    start = np.zeros(len(mass))
    start[vertex] = mass.mean() / mass[vertex]
    time = 8 / arrays.of_level.lambda_max
    expected = scipy.linalg.expm(-time * generator(graph, level)) @ start
    heat = heat_on(graph, level, vertex, time)
    assert abs(heat - expected).max() < 1e-6 * expected.max()
    assert heat @ mass / mass.mean() == pytest.approx(1, abs=1e-6)


def test_heat_of_a_torus_is_the_exact_kernel() -> None:
    """The sum of its images; Selling's weights on the plane are the five-point stencil."""
    data = heat_of(opened("flat torus"))
    [graph] = data.graphs
    places = graph.places
    x, y = places.offsets(places.vectors[graph.point], places.vectors).T
    exact = sum(
        exact_density(places, np.hypot(x + 32 * i, y + 32 * j), data.spread)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
    )
    assert data.spread == pytest.approx(3)
    assert exact.sum() == pytest.approx(1, abs=1e-9)
    assert abs(graph.density[0] - exact).max() < 0.03 * exact.max()


def test_heat_runs_along_the_orientation_and_evenly_in_the_isotropic_group() -> None:
    """The graph beside that of its base, and its group with eps = 1."""
    data = heat_of(*map(opened, ("torus base", "torus isotropic", "torus")))
    base, isotropic, own = data.graphs
    assert [graph.density.shape for graph in data.graphs] == [(1, 400), (4, 400), (4, 400)]
    assert {graph.point for graph in data.graphs} == {base.point}
    assert [graph.orientation for graph in data.graphs] == [0, 2, 2]
    assert [graph.time for graph in data.graphs] == pytest.approx([base.time] * 3)
    x, y = own.places.offsets(own.places.vectors[own.point], own.places.vectors).T
    moments = np.einsum("kn,in,jn->kij", own.density, [x, y], [x, y])
    assert moments[2, 0, 0] > 2 * moments[2, 1, 1]  # at 0 degrees, where it started
    assert moments[3, 0, 1] > 0.1 * moments[3, 0, 0]  # at 45 degrees, from x toward y
    assert moments[1, 0, 1] == pytest.approx(-moments[3, 0, 1], rel=1e-3)
    for graph in (base, isotropic):
        for moment in np.einsum("kn,in,jn->kij", graph.density, [x, y], [x, y]):
            assert moment == pytest.approx(moment[0, 0] * np.eye(2), rel=1e-3, abs=1e-3)
    # Whatever its orientation, heat spreads by 1 and eps^2 in two directions at right angles.
    total = own.density.sum(axis=0)
    assert total @ (x**2 + y**2) == pytest.approx((1 + 0.1) * data.spread**2, rel=0.02)


def test_a_graph_of_other_points_has_heat_over_its_own_middle() -> None:
    small, large = heat_of(opened("torus base"), opened("flat torus")).graphs
    assert large.point == large.places.middle()
    seen = [around(graph.places, graph.point, 5)[0].of(graph.density) for graph in (small, large)]
    assert seen[0] == pytest.approx(seen[1], rel=0.05, abs=1e-4)


def test_graphs_that_can_not_be_compared_and_isolated_vertices_are_not_drawn() -> None:
    with pytest.raises(NotDrawnError, match="are over different spaces"):
        heat_of(*map(opened, ("plane", "sphere")))
    with pytest.raises(NotDrawnError, match="has 3 orientations, another graph 4"):
        heat_of(*map(opened, ("odd", "random", "masked")))
    graph = opened("islands")
    alone = int(np.flatnonzero(graph.level(0).degree == 0)[0])
    with pytest.raises(NotDrawnError, match="has no neighbors"):
        heat_of(graph, vertex=alone)
    data = heat_of(graph, vertex=0)
    assert data.graphs[0].density[0, alone] == 0


def test_the_exact_heat_of_a_sphere_is_1_in_all_and_flat_nearby() -> None:
    places, spread = places_of(opened("sphere"), 0), 2.5
    polar = np.linspace(0, np.pi, 4001)
    distance = polar * places.radius
    density = exact_density(places, distance, spread)
    rings = 2 * np.pi * np.sin(polar) * places.radius
    assert np.trapezoid(density * rings, distance) == pytest.approx(1, abs=1e-6)
    near = distance < 1
    flat = np.exp(-(distance**2) / (2 * spread**2)) / (2 * np.pi * spread**2)
    assert density[near] == pytest.approx(flat[near], rel=0.05)


ROW = np.pad(np.ones((1, 10), bool), ((5, 10), (3, 3)))
DIAGONAL = np.linspace(0, 1, 20)[:, None] ** 2 * [0.9, 0.3]


@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec("r2", mask=ROW, levels=1),
        GraphSpec("r2", coordinates=DIAGONAL, domain=(0, 0, 1, 1)),
        GraphSpec("s2", coordinates=[[10, 20], [50, 80]]),
    ],
)
def test_points_that_span_no_triangle_have_no_lines(tmp_path: Path, spec: GraphSpec) -> None:
    build(spec, tmp_path / "g.zarr")
    svg, _ = svg_of(FIGURE, open_graph(tmp_path / "g.zarr"), Asked())
    assert svg.startswith("<svg")


def test_heat_that_takes_too_many_terms_is_not_drawn(tmp_path: Path) -> None:
    build(GraphSpec("se2", 8, orientations=4, xi=1e-5, weights="selling"), tmp_path / "g.zarr")
    with pytest.raises(NotDrawnError, match=r"more products .* a fiber with a small xi"):
        heat_of(open_graph(tmp_path / "g.zarr"))
