"""The edges of one vertex, against distances in closed form and dense matrices."""

import math
from pathlib import Path

import numpy as np
import pytest
from csr_truth import dense_weights
from sphere_truth import arcs, unit_vectors
from stores import store_of
from truth import se2_squared_distance

from cheblienet_graphs import GraphSpec, SpecError, neighbors_of, open_group

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
def test_distances_are_the_shortest_over_images(store: Path, name: str, around: int) -> None:
    spec = SPECS[name]
    xi, ratio = math.sqrt(spec.orientations) / spec.size[0], spec.size[1] / spec.size[0]
    rings = range(-around, around + 1)
    for vertex in range(0, spec.num_vertices, spec.num_vertices // 2):
        edges = neighbors_of(store, name, vertex=vertex)
        for end, distance in zip(edges.ends, edges.distances, strict=True):
            dx, dy = end[:2] - edges.coordinates[:2]
            theta = edges.coordinates[2], end[2]
            squared = min(
                se2_squared_distance(
                    np.array(dx + i), np.array(dy + j * ratio), *theta, spec.eps, xi
                )
                for i in rings
                for j in rings
            )
            assert distance == pytest.approx(math.sqrt(squared), rel=1e-9)


def test_distances_on_the_sphere_are_arcs(store: Path) -> None:
    edges = neighbors_of(store, "sphere", vertex=5)
    start, ends = unit_vectors(edges.coordinates[None]), unit_vectors(edges.ends)
    np.testing.assert_allclose(edges.distances, arcs(start, ends).ravel(), rtol=1e-9)


@pytest.mark.parametrize("name", ["masked", "sphere", "open", "axes"])
def test_the_text_has_a_line_for_each_edge(store: Path, name: str) -> None:
    edges = neighbors_of(store, name, vertex=0)
    _, _, _, head, *rows = str(edges).splitlines()
    assert head.split() == ["vertex", *SPECS[name].geometry.columns, "distance", "weight"]
    assert [int(row.split()[0]) for row in rows] == edges.vertices.tolist()


def test_refusals(store: Path) -> None:
    with pytest.raises(SpecError, match=r"vertex must be an integer in \[0, 319\]. Got -1"):
        neighbors_of(store, "open", vertex=-1)
