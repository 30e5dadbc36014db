"""Graphs as PyTorch Geometric and anemoi-graphs have them: all edges, mapped where they can be."""

import itertools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from coupled_graphs import MESHES, coupled, sparse, weights_of
from csr_truth import of_tensor
from refusing import refused
from scipy.spatial.transform import Rotation

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map
from cheblienet_models import VertexMap

SPECS = {
    "masked": GraphSpec("r2", mask=np.tri(9, 12, 3, dtype=bool), levels=1),
    "lines": GraphSpec("se2", 8, orientations=6, boundary="periodic", levels=2),
    "arrows": GraphSpec("so3", subdivisions=1, orientations=4, period="2pi", levels=1),
    "axes": GraphSpec("r3s2", "4x3x2", axes=3, levels=1),
    "scattered": GraphSpec("r2", points=60, boundary="periodic"),
    "stretched": GraphSpec("s2", refined=(1, 3, 0, 20, 60, 60), weights="voronoi", levels=1),
}


@pytest.fixture
def pyg() -> Any:
    return pytest.importorskip("torch_geometric")


@pytest.fixture(scope="module", params=SPECS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return build(SPECS[request.param], tmp_path_factory.mktemp("pyg") / "g.zarr", name="g")


def matrix_of(one: VertexMap | torch.Tensor) -> Any:
    return of_tensor(one.matrix if isinstance(one, VertexMap) else one)


def test_no_edge_is_lost_on_the_way_and_back(pyg: Any, built: Any, tmp_path: Path) -> None:
    graph = built.open().levels[0]
    torch.save(graph.to_pyg(), tmp_path / "data.pt")
    data = torch.load(tmp_path / "data.pt", weights_only=False)
    assert data.validate()
    assert (data.num_nodes, data.num_edges) == (graph.num_vertices, 2 * graph.num_edges)
    back = pyg.utils.to_scipy_sparse_matrix(data.edge_index, data.edge_weight, data.num_nodes)
    assert (back.tocsr() != weights_of(graph)).nnz == 0
    assert (data.edge_index[1].diff() >= 0).all()
    assert (data.pos == graph.coordinates).all()


@pytest.mark.parametrize("manifold", ["se2", "so3"])
def test_opposite_edges_have_opposite_attributes(pyg: Any, manifold: str, tmp_path: Path) -> None:
    """On a group log h^-1 g = -log g^-1 h, but of half turns, which are their own inverses."""
    size = {"size": 7, "boundary": "periodic"} if manifold == "se2" else {"subdivisions": 1}
    spec = GraphSpec(manifold, **size, period="2pi", levels=1)
    data = build(spec, tmp_path / "g.zarr").open().levels[0].to_pyg()
    place = {pair: n for n, pair in enumerate(map(tuple, data.edge_index.T.tolist()))}
    back = torch.tensor([place[target, source] for source, target in place])
    plain = data.edge_attr[:, 2].abs() < math.pi - 1e-6
    assert torch.allclose(data.edge_attr[plain], -data.edge_attr[back][plain], atol=1e-6)
    assert plain.float().mean() > 0.9


@pytest.mark.parametrize("name", MESHES)
def test_maps_and_levels_are_sets_of_nodes_and_edges(pyg: Any, name: str) -> None:
    pyramid, encoder, decoder = coupled(name)
    data, levels = pyramid.to_hetero(encoder, decoder), pyramid.levels
    assert data.validate()
    hidden = ["hidden"] if len(levels) == 1 else [f"hidden_{n + 1}" for n in range(len(levels))]
    assert data.node_types == ["data", *hidden]
    between = {("data", hidden[0]): matrix_of(encoder), (hidden[0], "data"): matrix_of(decoder)}
    for n, (one, other) in enumerate(itertools.pairwise(hidden)):
        between[one, other] = matrix_of(pyramid.pooling(n).matrix())
        between[other, one] = matrix_of(pyramid.unpooling(n).matrix())
    for node, graph in zip(hidden, levels, strict=True):
        between[node, node] = weights_of(graph)
        assert (data[node].area_weight[:, 0] == graph.area).all()
        assert data[node].node_type == graph.label
    assert {*data.edge_types} == {(one, "to", other) for one, other in between}
    for (one, other), expected in between.items():
        edges = data[one, "to", other]
        found = sparse(edges.edge_index, edges.edge_weight, expected.shape)
        assert (found != expected).nnz == 0, (one, other)


def test_what_the_store_maps_is_not_copied(pyg: Any) -> None:
    pyramid, encoder, decoder = coupled("one-sphere")
    graph, data = pyramid.levels[0], pyramid.to_hetero(encoder, decoder)
    pairs = [
        (graph.to_pyg().pos, graph.coordinates),
        (data["hidden"].pos, graph.coordinates),
        (data["data"].pos, encoder.source_coordinates),
        (data["hidden"].area_weight, graph.area),
        (data["data", "to", "hidden"].edge_weight, encoder.values),
        (data["hidden", "to", "data"].edge_weight, decoder.values),
    ]
    assert all(one.data_ptr() == other.data_ptr() for one, other in pairs)


@pytest.mark.parametrize("name", ["plane", "turns"])
def test_pixels_are_at_their_centers(pyg: Any, name: str) -> None:
    """So that edges of maps and between levels have the right lengths: means are not shifted."""
    pyramid, encoder, decoder = coupled(name)
    data = pyramid.to_hetero(encoder, decoder)
    places = encoder.target_coordinates
    assert torch.allclose(data["hidden_1"].pos, places, atol=1e-12)
    down = data["hidden_1", "to", "hidden_2"]
    pooled = torch.zeros(len(data["hidden_2"].pos), 2).double()
    moved = down.edge_weight.double() * down.edge_attr[:, :2].double()
    assert pooled.index_add(0, down.edge_index[1], moved).abs().max() < 1e-7


def to_the_pole(targets: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """(E, 2) x, y of sources, unit, where each target is turned to the north pole by the least."""
    axis = np.cross(targets, [0, 0, 1])
    length = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(length, targets[:, 2]) / np.maximum(length, 1e-300)
    moved = Rotation.from_rotvec(axis * angle[:, None]).apply(sources)[:, :2]
    return np.array(moved / np.linalg.norm(moved, axis=1, keepdims=True))


@pytest.mark.parametrize("name", ["sphere", "refined"])
def test_lengths_and_directions_on_the_sphere(pyg: Any, name: str) -> None:
    data = coupled(name)[0].to_hetero(*coupled(name)[1:])
    for kind in data.edge_types:
        ends = []
        for place, node in zip(data[kind].edge_index, (kind[0], kind[2]), strict=True):
            latitude, longitude = data[node].x.double().numpy()[place].T
            across = np.cos(latitude)
            vectors = across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)
            ends.append(np.stack(vectors, axis=1))
        source, target = ends
        arc = np.arctan2(
            np.linalg.norm(np.cross(source, target), axis=1), (source * target).sum(axis=1)
        )
        assert np.allclose(data[kind].edge_length[:, 0], arc, rtol=0, atol=1e-6)
        far = (arc > 1e-3) & (abs(target[:, 2]) < 1 - 1e-9)
        directions = to_the_pole(target[far], source[far])
        assert np.allclose(data[kind].edge_dirs[torch.from_numpy(far)], directions, atol=1e-4)


def test_a_processor_takes_the_place_of_the_finest_edges(pyg: Any, tmp_path: Path) -> None:
    spec = GraphSpec("s2", subdivisions=2, levels=1)
    scales = MapSpec(spec, spec, scales=3, weights="uniform")
    meshes = build_map(scales, tmp_path / "g.zarr", name="meshes").open()
    pyramid = build(spec, tmp_path / "g.zarr").open()
    data = pyramid.to_hetero(processor=meshes)
    assert (data.node_types, data.edge_types) == (["hidden"], [("hidden", "to", "hidden")])
    edges = data["hidden", "to", "hidden"]
    assert (sparse(edges.edge_index, edges.edge_weight, (162, 162)) != matrix_of(meshes)).nnz == 0


def test_maps_of_other_points_are_refused(pyg: Any) -> None:
    pyramid, encoder, decoder = coupled("sphere")
    _, other_encoder, other_decoder = coupled("refined")
    for given in (decoder, other_encoder):
        refused("The target of the encoder must be the points of mesh@v", pyramid.to_hetero, given)
    for given in (encoder, other_decoder):
        refused("The source of the decoder must be", pyramid.to_hetero, None, given)
    refused("encoder must be a VertexMap", pyramid.to_hetero, pyramid, error=TypeError)


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    for call in (coupled("sphere")[0].to_hetero, coupled("sphere")[0].levels[0].to_pyg):
        refused(r"pip install 'cheblienet\[pyg\]'", call, error=ModuleNotFoundError)


@pytest.mark.filterwarnings("ignore:Function bytes is deprecated")  # its own
def test_anemoi_reads_them(pyg: Any, tmp_path: Path) -> None:
    """With its own edge attributes and description."""
    attributes = pytest.importorskip("anemoi.graphs.edges.attributes")
    from anemoi.graphs.create import load_graph_from_file
    from anemoi.graphs.describe import GraphDescriptor

    torch.save(coupled("one-sphere")[0].to_hetero(*coupled("one-sphere")[1:]), tmp_path / "g.pt")
    graph = load_graph_from_file(tmp_path / "g.pt")
    GraphDescriptor(tmp_path / "g.pt").describe()
    for kind in graph.edge_types:
        ends = (graph[kind[0]], graph[kind[2]]), graph[kind].edge_index
        assert torch.allclose(attributes.EdgeLength()(*ends), graph[kind].edge_length, atol=1e-6)
        far = graph[kind].edge_length[:, 0] > 1e-3
        directions = attributes.EdgeDirection()(*ends)
        assert torch.allclose(directions[far], graph[kind].edge_dirs[far], atol=1e-4)
