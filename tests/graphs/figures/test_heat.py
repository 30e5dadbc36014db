import numpy as np
import pytest
import scipy.linalg
from pictured import generator, opened

from cheblienet_graphs.errors import NotDrawnError, SpecError
from cheblienet_graphs.figures import comparison
from cheblienet_graphs.figures.exact_heat import exact_density
from cheblienet_graphs.figures.heat import heat, heat_on
from cheblienet_graphs.figures.places import places_of
from cheblienet_graphs.figures.views import around


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
    found = heat_on(arrays, vertex, time)
    assert abs(found - expected).max() < 1e-6 * expected.max()
    assert found @ mass / mass.mean() == pytest.approx(1, abs=1e-6)


def test_heat_of_a_torus_is_the_exact_kernel() -> None:
    """The sum of its images; Selling's weights on the plane are the five-point stencil."""
    data = heat(opened("flat torus"))
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


def test_the_exact_heat_of_a_sphere_is_1_in_all() -> None:
    places = places_of(opened("sphere"), 0)
    polar = np.linspace(0, np.pi, 4001)
    density = exact_density(places, polar * places.radius, 2.5)
    rings = 2 * np.pi * np.sin(polar) * places.radius**2
    assert np.trapezoid(density * rings, polar * places.radius) / places.radius == pytest.approx(
        1, abs=1e-6
    )
    near = density[polar * places.radius < 1]
    flat = np.exp(-((polar[: len(near)] * places.radius) ** 2) / (2 * 2.5**2)) / (2 * np.pi * 6.25)
    assert near == pytest.approx(flat, rel=0.05)


@pytest.mark.parametrize(
    "name",
    [
        "group",
        "masked",
        pytest.param("random", marks=pytest.mark.slow),
        pytest.param("own", marks=pytest.mark.slow),
        pytest.param("rotations", marks=pytest.mark.slow),
        pytest.param("region", marks=pytest.mark.slow),
    ],
)
def test_a_group_is_compared_with_its_base_and_its_isotropic_twin(name: str) -> None:
    data = heat(opened(name))
    assert not data.left_out
    base, isotropic, asked = data.graphs
    assert (base.kind, isotropic.kind, asked.kind) == ("base", "isotropic", "asked")
    points = asked.places.points
    for graph in data.graphs:
        assert graph.places.points.num_points == points.num_points
        assert abs(graph.places.vectors - asked.places.vectors).max() < 1e-9
        assert 0 < graph.density.sum() < 1.3
    assert base.density.shape == (1, points.num_points)
    assert (
        isotropic.density.shape
        == asked.density.shape
        == (points.orientations, len(base.density[0]))
    )


def test_heat_runs_along_the_orientation_and_evenly_in_the_isotropic_group() -> None:
    data = heat(opened("torus"))
    _, isotropic, asked = data.graphs
    x, y = asked.places.offsets(asked.places.vectors[asked.point], asked.places.vectors).T
    moments = np.einsum("kn,in,jn->kij", asked.density, [x, y], [x, y])
    even = np.einsum("kn,in,jn->kij", isotropic.density, [x, y], [x, y])
    assert moments[2, 0, 0] > 2 * moments[2, 1, 1]  # at 0 degrees, where it started
    assert moments[3, 0, 1] > 0.1 * moments[3, 0, 0]  # at 45 degrees, from x towards y
    assert moments[1, 0, 1] == pytest.approx(-moments[3, 0, 1], rel=1e-3)
    for moment in even:
        assert moment == pytest.approx(moment[0, 0] * np.eye(2), rel=1e-3, abs=1e-3)
    # Whatever its orientation, heat spreads by 1 and eps^2 in two directions at right angles.
    total = asked.density.sum(axis=0)
    assert 0.1 * (total @ x**2) < total @ y**2 < total @ x**2
    assert total @ x**2 + total @ y**2 == pytest.approx((1 + 0.1) * data.spread**2, rel=0.02)


def test_a_large_graph_is_compared_with_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = heat(opened("torus"))
    monkeypatch.setattr(comparison, "LARGEST", 1000)
    monkeypatch.setattr(comparison, "PIXELS", 18)
    data = heat(opened("torus"))
    assert [graph.smaller for graph in data.graphs] == [True, True, False]
    for small, large in zip(data.graphs, whole.graphs, strict=True):
        pictures = [
            around(graph.places, graph.point, 5)[0].of(graph.density) for graph in (small, large)
        ]
        assert pictures[0] == pytest.approx(pictures[1], rel=0.05, abs=1e-4)
    monkeypatch.setattr(comparison, "LARGEST", 10)
    assert heat(opened("masked")).left_out == "it has more than 10 vertices."


@pytest.mark.slow
def test_a_large_sphere_is_compared_with_coarser_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "LARGEST", 400)
    data = heat(opened("rotations"))
    assert [g.places.points.num_points for g in data.graphs] == [42, 42, 162]


def test_heat_of_an_isolated_vertex_is_not_drawn() -> None:
    graph = opened("islands")
    alone = int(np.flatnonzero(graph.level(0).degree == 0)[0])
    with pytest.raises(NotDrawnError, match="has no neighbours"):
        heat(graph, vertex=alone)
    data = heat(graph, vertex=0)
    assert data.graphs[0].density[0, alone] == 0
    with pytest.raises(SpecError, match="vertex must be an integer in"):
        heat(graph, vertex=10_000)
