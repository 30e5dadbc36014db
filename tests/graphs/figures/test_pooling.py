import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError, SpecError
from cheblienet_graphs.figures.places import places_of
from cheblienet_graphs.figures.pooling import base_map, pooling_of, rings


def test_a_lattice_is_pooled_by_means_of_blocks() -> None:
    data = pooling_of(opened("group"))
    signal = data.pooled[0].reshape(24, 24)
    once = signal.reshape(12, 2, 12, 2).mean(axis=(1, 3))
    twice = once.reshape(6, 2, 6, 2).mean(axis=(1, 3))
    assert data.pooled[1].reshape(12, 12) == pytest.approx(once, abs=1e-6)
    assert data.pooled[2].reshape(6, 6) == pytest.approx(twice, abs=1e-6)
    back = np.kron(twice, np.ones((4, 4)))
    assert data.back[2].reshape(24, 24) == pytest.approx(back, abs=1e-6)
    assert data.lost[0] == 0
    expected = np.linalg.norm(back - signal) / np.linalg.norm(signal)
    assert data.lost[2] == pytest.approx(expected, abs=1e-6)


def test_losses_on_the_sphere_are_by_area() -> None:
    graph = opened("grid")
    data = pooling_of(graph)
    area = np.sin(graph.level(0).coordinates[:, 0])
    difference = data.back[1] - data.pooled[0]
    expected = np.sqrt((area @ difference**2) / (area @ data.pooled[0] ** 2))
    assert data.lost[1] == pytest.approx(expected, rel=1e-5)


def test_rings_have_the_wavelength_of_four_points_at_the_nearest_end() -> None:
    places = places_of(opened("flat torus"), 0)
    point = 16 * 32 + 16
    row = rings(places, point).reshape(32, 32)[16, 16:]
    r = np.arange(16)
    assert row == pytest.approx(np.cos(np.pi * r**2 / (16 * 4)))
    assert row[0] == 1


def test_a_cell_of_the_lattice_is_its_block_of_four() -> None:
    graph = opened("group")
    data = pooling_of(graph, vertex=11 * 24 + 11)
    cells = data.cells
    own = cells.own[cells.links[:, 1]]
    members = cells.fine[cells.links[own, 0]]
    assert sorted(members.round(6).tolist()) == [[-1, -1], [-1, 0], [0, -1], [0, 0]]
    assert cells.weights[own] == pytest.approx([0.25] * 4)
    assert cells.coarse[cells.own] == pytest.approx(np.array([[-0.5, -0.5]]))


def test_a_cell_of_the_icosphere_has_its_point_and_six_midpoints() -> None:
    data = pooling_of(opened("sphere"))
    cells = data.cells
    counts = np.bincount(cells.links[:, 1], cells.weights)
    own = cells.own[cells.links[:, 1]]
    assert own.sum() in (6, 7)
    assert counts[cells.own] == pytest.approx([1], abs=1e-6)
    assert cells.own.sum() == 1


def test_maps_of_the_base_are_those_of_each_orientation() -> None:
    graph = opened("rotations")
    from cheblienet_graphs.store.reader import mapped_csr

    stored = mapped_csr(graph.version / "pooling/0to1").toarray()
    alone = base_map(graph, 0, 1).toarray()
    assert alone.shape == (42, 162)
    for k in range(4):
        assert stored[k * 42 : (k + 1) * 42, k * 162 : (k + 1) * 162] == pytest.approx(alone)


@pytest.mark.parametrize("name", ["masked", "space", "rotations"])
def test_constants_stay_as_they_are(name: str) -> None:
    graph = opened(name)
    down, up = base_map(graph, 0, 1), base_map(graph, 1, 0)
    ones = np.ones(down.shape[1])
    assert up @ (down @ ones) == pytest.approx(ones, abs=1e-6)
    assert 0 < pooling_of(graph).lost[1] < 1.5


def test_a_graph_of_one_level_is_not_drawn() -> None:
    with pytest.raises(NotDrawnError, match="no level coarser than 0"):
        pooling_of(opened("odd"))
    with pytest.raises(NotDrawnError, match="no level coarser than 2"):
        pooling_of(opened("group"), level=2)
    with pytest.raises(SpecError, match="level must be"):
        pooling_of(opened("group"), level=3)


@pytest.mark.parametrize(("name", "more"), [("own", False), ("odd", True)])
def test_more_levels_are_asked_for_where_there_can_be_any(name: str, more: bool) -> None:
    with pytest.raises(NotDrawnError, match="no level coarser than 0 to pool to") as error:
        pooling_of(opened(name))
    assert ("`levels`" in str(error.value)) == more
