"""The edges of one vertex, against exponentials by scipy, all pairs, and dense matrices."""

import math
from pathlib import Path

import numpy as np
import pytest
from csr_truth import dense_weights
from scipy.linalg import expm
from sphere_truth import arcs, unit_vectors
from stores import store_of
from truth import matrix, se2_squared_distance

from cheblienet_graphs import GraphSpec, SpecError, neighbors_of, open_group
from cheblienet_graphs.manifolds.flat import directions_across

MASK = np.hypot(*(np.mgrid[:10, :10] - 4.5)) < 4.5
RNG = np.random.default_rng(3)
POINTS = RNG.uniform(size=(40, 2)) * [4, 2] + [10, 20]
"""On the plane, in a domain that is neither at the origin nor of width 1."""

SPECS = {
    "torus": GraphSpec("se2", "6x4", orientations=4, boundary="periodic", levels=1),
    "open": GraphSpec("se2", 8, orientations=5, weights="selling", levels=2),
    "masked": GraphSpec("r2", mask=MASK, levels=1),
    "axes": GraphSpec("r3s2", "4x5x4", axes=7, boundary="periodic", levels=1),
    "sphere": GraphSpec("s2", subdivisions=1, levels=1),
    "turned": GraphSpec("so3", subdivisions=1, orientations=3, levels=1),
    "narrow": GraphSpec(
        "se2", "32x2", orientations=4, eps=0.1, neighbors=32, boundary="periodic", levels=1
    ),
    "own": GraphSpec("r2", coordinates=POINTS, domain=(10, 20, 14, 22)),
}


store = store_of(SPECS)


def coordinates(store: Path, name: str) -> np.ndarray:
    spec, folder = SPECS[name], store / name / "v001/levels/0/coordinates"
    (file,) = (path for path in folder.rglob("*") if path.is_file() and path.name != "zarr.json")
    return np.fromfile(file).reshape(spec.num_vertices, -1)


@pytest.mark.parametrize("name", SPECS)
def test_ends_and_weights_are_those_of_the_dense_matrix(store: Path, name: str) -> None:
    weights = dense_weights(open_group(store, name))
    places = coordinates(store, name)
    for vertex in range(0, len(weights), len(weights) // 13):
        edges = neighbors_of(store, name, vertex=vertex)
        assert sorted(edges.vertices.tolist()) == np.flatnonzero(weights[vertex]).tolist()
        np.testing.assert_allclose(edges.weights, weights[vertex][edges.vertices], rtol=1e-6)
        assert np.array_equal(edges.coordinates, places[vertex])
        assert np.array_equal(edges.ends, places[edges.vertices])
        assert (np.diff(edges.distances) > -1e-9).all()


@pytest.mark.parametrize(("name", "around"), [("torus", 1), ("open", 0), ("narrow", 6)])
def test_components_lead_to_the_neighbor_on_se2(store: Path, name: str, around: int) -> None:
    spec = SPECS[name]
    xi, ratio = math.sqrt(spec.orientations) / spec.size[0], spec.size[1] / spec.size[0]
    rings = range(-around, around + 1)
    images = np.array([(i, j * ratio) for i in rings for j in rings])
    for vertex in range(0, spec.num_vertices, spec.num_vertices // 2):
        edges = neighbors_of(store, name, vertex=vertex)
        g = matrix(*edges.coordinates)
        for end, c, distance in zip(edges.ends, edges.components, edges.distances, strict=True):
            forward, sideways, turn = c
            motion = np.array([[0, -turn, forward], [turn, 0, sideways], [0, 0, 0.0]])
            led, there = g @ expm(motion), matrix(*end)
            assert abs((np.linalg.inv(led) @ there)[1, 0]) < 1e-9  # one orientation
            missed = (there - led)[:2, 2]
            assert abs(images - missed).max(axis=1).min() < 1e-9
            dx, dy = end[:2] - edges.coordinates[:2]
            theta = edges.coordinates[2], end[2]
            squared = min(
                se2_squared_distance(np.array(dx + x), np.array(dy + y), *theta, spec.eps, xi)
                for x, y in images
            )
            assert distance == pytest.approx(math.sqrt(squared), rel=1e-9)
            assert distance**2 == pytest.approx(c**2 @ [1, spec.eps**-2, xi**2], rel=1e-9)


def test_components_lead_to_the_neighbor_over_axes(store: Path) -> None:
    for vertex in (0, 100, 333, 559):
        edges = neighbors_of(store, "axes", vertex=vertex)
        n = edges.coordinates[3:]
        frame = np.stack([n, *np.array(directions_across(tuple(n.tolist())))])
        for end, (*moved, first, second) in zip(edges.ends, edges.components, strict=True):
            motion = np.zeros((4, 4))
            turn = np.cross(n, first * frame[1] + second * frame[2])
            motion[:3, :3] = np.cross(np.eye(3), turn)
            motion[:3, 3] = np.array(moved) @ frame
            group = expm(motion)
            step = (end[:3] - edges.coordinates[:3] - group[:3, 3]) / [1, 1.25, 1]
            np.testing.assert_allclose(step, step.round(), atol=1e-9)
            assert abs(group[:3, :3] @ n @ end[3:]) == pytest.approx(1)
        metric = SPECS["axes"].metric(0)
        scaled = edges.components * [1, *[1 / metric.eps] * 2, *[metric.xi] * 2]
        np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), edges.distances)


@pytest.mark.parametrize(
    ("name", "directions"),
    [
        ("masked", "dx dy"),
        ("sphere", "south east"),
        ("open", "forward sideways rotation"),
        ("axes", "along across_1 across_2 tilt_1 tilt_2"),
    ],
)
def test_columns_of_the_text_have_different_names(store: Path, name: str, directions: str) -> None:
    edges = neighbors_of(store, name, vertex=0)
    assert edges.to_json()["directions"] == edges.directions == directions.split()
    _, _, _, head, *rows = str(edges).splitlines()
    columns = *SPECS[name].geometry.columns, *edges.directions
    assert head.split() == ["vertex", *columns, "distance", "weight"]
    assert len(set(columns)) == len(columns)
    assert [int(row.split()[0]) for row in rows] == edges.vertices.tolist()


def test_the_nearest_axis_of_any_length_and_sign(store: Path) -> None:
    edges = neighbors_of(store, "axes", at="0.3,0.5,0.74,-3,-3.2,3")
    assert edges.coordinates == pytest.approx([0.25, 0.5, 0.75, *np.array([-1, -1, 1]) / 3**0.5])


def test_the_nearest_vertex_to_a_place(store: Path) -> None:
    """The nearest point of all, then the nearest orientation, compared one by one."""
    for place in RNG.uniform(size=(20, 3)) * [1, 0.66, 180]:
        edges = neighbors_of(store, "torus", at=place.tolist())
        places = coordinates(store, "torus")
        offset = places[:, :2] - place[:2]
        offset -= np.round(offset / [1, 4 / 6]) * [1, 4 / 6]
        away = np.linalg.norm(offset, axis=1)
        turn = abs((places[:, 2] - math.radians(place[2]) + math.pi / 2) % math.pi - math.pi / 2)
        best = np.lexsort((turn.round(12), away.round(12)))[0]
        assert away[edges.vertex] == pytest.approx(away[best])
        assert turn[edges.vertex] == pytest.approx(turn[best])


def test_the_nearest_vertex_on_the_sphere_takes_latitude_and_longitude(store: Path) -> None:
    for latitude, longitude in ((52.5, 13.4), (-33.9, 151.2), (90, 0), (-90, 17), (0, 359)):
        edges = neighbors_of(store, "sphere", at=f"{latitude},{longitude}")
        up = np.radians([[90 - latitude, longitude]])
        away = arcs(unit_vectors(up), unit_vectors(coordinates(store, "sphere")))
        assert away[edges.vertex] == pytest.approx(away.min(), abs=1e-12)
    turned = neighbors_of(store, "turned", at="10,20,-58")
    assert math.degrees(turned.coordinates[0]) == pytest.approx(-30)


def test_places_outside_a_mask_have_the_nearest_point_inside(store: Path) -> None:
    inside = np.argwhere(MASK)
    for number in (0, 17, len(inside) - 1):
        y, x = inside[number] / 10
        assert neighbors_of(store, "masked", at=(x + 0.01, y)).vertex == number
    corner = neighbors_of(store, "masked", at="0,0").vertex
    assert corner in np.flatnonzero(np.isclose((inside**2).sum(1), (inside**2).sum(1).min()))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("open", {}, "vertex must be given, or `at`"),
        ("open", {"vertex": 1, "at": "0,0,0"}, "vertex must be left out where `at` is given. Got"),
        ("open", {"vertex": -1}, r"vertex must be an integer in \[0, 319\]. Got -1"),
        *(
            ("open", {"at": at}, "at must be X,Y,THETA ")
            for at in ("0,0", "0,1.01,0", "0,nan,0", "0,0,nan")
        ),
        ("torus", {"at": "0,0.7,0"}, r"Y in \[0, 0.6667\] widths of the domain, THETA in degrees"),
        ("sphere", {"at": "152,13"}, r"LAT in \[-90, 90\] and LON in \[-180, 360\] degrees\. Got"),
        ("axes", {"at": "0,0,0,0,0,0"}, "NX,NY,NZ, not all 0"),
    ],
)
def test_refusals(store: Path, name: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        neighbors_of(store, name, **given)
