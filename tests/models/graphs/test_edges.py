"""The edges of one vertex on the training side, against dense matrices by scipy and numpy."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch
from masks import disc
from refusing import refused
from stores import level, store_of

from cheblienet_graphs import GraphSpec, open_group
from cheblienet_models import sample_edges

CORNERS = np.zeros((6, 6), bool)
CORNERS[0, 0] = CORNERS[4:, 4:] = True
"""A pixel alone, and four together."""

SPECS = {
    "torus": GraphSpec("se2", 8, orientations=4, boundary="periodic", levels=1),
    "selling": GraphSpec("se2", "10x6", orientations=5, weights="selling", levels=1),
    "masked": GraphSpec("se2", mask=disc(12), orientations=3, levels=1),
    "alone": GraphSpec("r2", mask=CORNERS, levels=1),
}


store = store_of(SPECS)


def dense_weights(store: Path, name: str) -> np.ndarray:
    """W from the stored arrays, read by zarr: -Delta_ij sqrt(m_i m_j) without its diagonal."""
    group, graph = open_group(store, name)["levels/0"], level(store, name)
    parts = (group["laplacian"][part][:] for part in ("data", "indices", "indptr"))
    dense = scipy.sparse.csr_array(tuple(parts)).toarray().astype(float)
    mass = group["degree" if graph.laplacian_kind == "normalized" else "area"][:].astype(float)
    weights = -dense * (graph.lambda_max / 2) * np.sqrt(np.outer(mass, mass))
    np.fill_diagonal(weights, 0)
    return weights


@pytest.mark.parametrize("name", SPECS)
def test_rows_of_the_weights(store: Path, name: str) -> None:
    graph, weights = level(store, name), dense_weights(store, name)
    for vertex in range(0, graph.num_vertices, 3):
        edges = graph.neighbors(vertex)
        assert edges.vertices.tolist() == np.flatnonzero(weights[vertex]).tolist()
        assert edges.weights.numpy() == pytest.approx(weights[vertex][edges.vertices], rel=1e-5)
        assert torch.equal(edges.coordinates, graph.coordinates[edges.vertices])
        assert edges.vertices.dtype == torch.int64
        assert edges.weights.dtype == graph.values.dtype
        assert edges.coordinates.dtype == torch.float64


def test_compact_numbers_lead_to_places_inside_the_mask(store: Path) -> None:
    graph, inside = level(store, "masked"), disc(12)
    edges = graph.neighbors(torch.tensor(graph.num_vertices - 1))
    places = graph.base_index[edges.vertices % graph.num_points].numpy()
    assert inside.ravel()[places].all()
    at = np.stack([places % 12, places // 12], axis=1) / 12
    assert edges.coordinates[:, :2].numpy() == pytest.approx(at)


def test_random_sub_graphs_and_dtypes(store: Path) -> None:
    graph = level(store, "torus")
    whole = graph.neighbors(3)
    sample_edges(graph, 0.3)
    assert torch.equal(graph.neighbors(3).weights, whole.weights)
    double = graph.double().neighbors(np.int64(3))
    assert double.weights.dtype == torch.float64
    assert torch.allclose(double.weights.float(), whole.weights)


def test_other_vertices_are_refused_in_one_line(store: Path) -> None:
    graph = level(store, "torus")
    for vertex in (-1, 256, 1.0, "3", None, True, 10**99, torch.tensor([1, 2])):
        refused(r"vertex of torus.* must be an integer in \[0, 255\]", graph.neighbors, vertex)
