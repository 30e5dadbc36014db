"""Maps between samplings as modules: mapped, multiplied in both directions, pickled, recorded."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch
import zarr
from csr_truth import stored
from damage import writable_copy
from refusing import refused
from sealing import put, reseal, reseal_array, reseal_file
from stores import store_of
from torch import nn

from cheblienet_graphs import GraphSpec, MapSpec, build_map
from cheblienet_models import ChebConv, Pyramid, StoreError, VertexMap, load_weights, open_store

GRID, MESH = GraphSpec("s2", gaussian="O8"), GraphSpec("s2", subdivisions=2)
SPECS = {
    "encoder": MapSpec(GRID, MESH, neighbors=3),
    "decoder": MapSpec(MESH, GRID, neighbors=4, weights="gaussian"),
    "turns": MapSpec(
        GraphSpec("se2", 5, orientations=3), GraphSpec("se2", 4, orientations=2), radius=0.5
    ),
}


store = store_of(SPECS | {"mesh": MESH})


def dense(store: Path, name: str) -> torch.Tensor:
    """(targets, sources) float64, as zarr reads it."""
    matrix = stored(zarr.open_group(store / name / "v001/map", mode="r"))
    return torch.from_numpy(matrix.toarray()).double()


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("verify", [False, True])
def test_products_are_those_of_the_dense_matrix(
    store: Path, tmp_path: Path, name: str, verify: bool
) -> None:
    vertex_map, matrix = open_store(store, verify=verify).maps[name], dense(store, name)
    x = torch.randn(2, 3, vertex_map.num_sources, dtype=torch.float64)
    y = vertex_map @ x
    torch.testing.assert_close(y, x @ matrix.T)
    torch.testing.assert_close(vertex_map.T @ y, y @ matrix)
    torch.testing.assert_close(vertex_map.T.T @ x, y)
    torch.testing.assert_close(vertex_map.matrix.to_dense().double(), matrix)
    saved = scipy.sparse.load_npz(vertex_map.save_npz(tmp_path / "m"))
    assert (saved.toarray() == matrix.numpy()).all()
    torch.testing.assert_close(vertex_map(x.float()), y.float())
    for ones in (torch.ones_like(x), torch.ones_like(x).float()):
        assert all((vertex_map @ (c * ones) == c).all() for c in (1.0, -0.5, 1024.0))
    spec = SPECS[name]
    assert vertex_map.source_grid == spec.source.grid(0)
    assert vertex_map.T.source_grid == vertex_map.target_grid == spec.target.grid(0)


def test_gradients_of_both_directions(store: Path) -> None:
    vertex_map = open_store(store).maps["turns"].double()
    for module in (vertex_map, vertex_map.T):
        x = torch.randn(1, 2, module.num_sources, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(module, x, fast_mode=True)
        assert torch.autograd.gradgradcheck(module, x, fast_mode=True)


def test_nothing_is_copied(store: Path) -> None:
    """Pages of the files themselves, one storage for the matrix, its tensor and its transpose."""
    vertex_map = open_store(store).maps["encoder"]
    values, back = vertex_map.values, vertex_map.T
    assert vertex_map.matrix.values().data_ptr() == values.data_ptr()
    assert back.transposed_values.data_ptr() == values.data_ptr()
    assert back.values.data_ptr() == vertex_map.transposed_values.data_ptr()
    mapped = Path("/proc/self/maps").read_text()
    for side in ("map", "transposed"):
        for part in ("data", "indices", "indptr"):
            assert f"graphs.zarr/encoder/v001/{side}/{part}/c/0" in mapped
    assert not any(vertex_map.state_dict()[key].numel() > 10_000 for key in vertex_map.state_dict())


def test_coordinates_are_those_of_the_samplings(store: Path) -> None:
    encoder = open_store(store).maps["encoder"]
    sides = (GRID, encoder.source_coordinates), (MESH, encoder.T.half().source_coordinates)
    for spec, found in sides:
        assert found.dtype == torch.float64
        assert (found.numpy() == spec.full_sampling(0).coordinates()).all()


def test_half_precision_is_computed_in_the_map_s(store: Path) -> None:
    vertex_map = open_store(store).maps["encoder"].half()
    assert vertex_map.values.dtype == torch.float32
    x = torch.randn(1, 1, vertex_map.num_sources)
    assert (vertex_map @ x.bfloat16()).dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (vertex_map @ x).dtype == torch.float32


def test_pickles_are_handles(store: Path) -> None:
    vertex_map = open_store(store).maps["encoder"].double()
    x = torch.randn(1, 1, vertex_map.num_sources, dtype=torch.float64)
    for module, signal in ((vertex_map, x), (vertex_map.T, vertex_map @ x)):
        pickled = pickle.dumps(module)
        assert len(pickled) < 1000
        again = pickle.loads(pickled)
        assert isinstance(again, VertexMap)
        assert (again.values.dtype, str(again)) == (torch.float64, str(module))
        assert (again @ signal == module @ signal).all()
    clone = copy.deepcopy(vertex_map)
    assert clone.values.data_ptr() == vertex_map.values.data_ptr()
    assert str(vertex_map) == "VertexMap(encoder@v001, 544 -> 162)"


class Forecast(nn.Module):
    """From a grid to a mesh, a layer there, and back."""

    def __init__(self, encoder: VertexMap, mesh: Pyramid, decoder: VertexMap) -> None:
        super().__init__()
        self.encoder, self.mesh, self.decoder = encoder, mesh, decoder
        self.layer = ChebConv(2, 2, 3, mesh.levels[0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.decoder(self.layer(self.encoder(x)))
        return y


def test_networks_train_through_maps_and_remember_them(store: Path, tmp_path: Path) -> None:
    opened = open_store(store)
    network = Forecast(opened.maps["encoder"], opened["mesh"], opened.maps["decoder"])
    network(torch.randn(2, 2, 544)).square().mean().backward()
    assert all(weight.grad is not None for weight in network.parameters())
    state = network.state_dict()
    torch.save(state, tmp_path / "w.pt")
    loaded = torch.load(tmp_path / "w.pt", weights_only=True)
    network.load_state_dict(loaded)
    build_map(MapSpec(GRID, MESH, neighbors=5), store, name="wider")
    other = Forecast(opened.maps["wider"], opened["mesh"], opened.maps["decoder"])
    message = "trained on encoder@v001 .* network is on wider@v001"
    refused(message, other.load_state_dict, loaded, error=StoreError)
    refused("trained on encoder@v001", load_weights, other, loaded, error=StoreError)
    assert load_weights(other, loaded, allow_other_graph=True) == ()
    torch.testing.assert_close(other.layer.weight, network.layer.weight)


def test_graphs_and_maps_are_told_apart(store: Path) -> None:
    opened = open_store(store)
    assert "encoder" not in opened
    assert "mesh" not in opened.maps
    assert "encoder@latest" in opened.maps
    assert list(opened) == ["mesh"]
    assert set(opened.maps) >= set(SPECS)
    for of, name, message in (
        (opened, "encoder", r"'encoder' in .* is a map: take it from .*\.maps\['enc"),
        (opened.maps, "mesh", r"'mesh' in .* is a graph: take it from .*\(path\)\['me"),
        (opened.maps, "none", "No map 'none' in .*There: decoder, encoder"),
    ):
        refused(message, of.__getitem__, name, error=StoreError)


def test_wrong_signals_are_refused(store: Path) -> None:
    encoder = open_store(store).maps["encoder"]
    refused(r"r@v001 takes \(B, C, 544\).* Got ", encoder, torch.zeros(1, 1, 162))
    refused("floating point", encoder, torch.zeros(1, 1, 544, dtype=torch.int64))


def fewer_places(version: Path) -> None:
    """Leave out the last source."""
    node = "source/coordinates"
    document = json.loads((version / node / "zarr.json").read_text())
    for shape in (document["shape"], document["chunk_grid"]["configuration"]["chunk_shape"]):
        shape[0] -= 1
    places = (version / node / "c/0/0").read_bytes()[: -8 * document["shape"][1]]
    reseal_file(version, f"{node}/zarr.json", json.dumps(document).encode())
    reseal_file(version, f"{node}/c/0/0", places)


DAMAGE = {
    "places": fewer_places,
    "columns": lambda v: reseal_array(v, "map/indices", put(0, 10**6)),
    "negative": lambda v: reseal_array(v, "transposed/indices", put(0, -1)),
    "sums": lambda v: reseal_array(v, "map/data", lambda a: a.__imul__(2)),
    "facts": lambda v: reseal(v, lambda clg: clg["map"].update(sources=-5)),
    "other facts": lambda v: reseal(v, lambda clg: clg["map"].update(targets=163)),
    "grid": lambda v: reseal(v, lambda clg: clg["map"].update(source_grid="wide")),
    "nnz": lambda v: reseal(v, lambda clg: clg["map"].update(nnz=1)),
    "no facts": lambda v: reseal(v, lambda clg: clg.update(map=[])),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_maps_are_refused(store: Path, tmp_path: Path, name: str) -> None:
    copied = writable_copy(store, tmp_path / "m.zarr")
    DAMAGE[name](copied / "encoder/v001")
    opened = open_store(copied).maps
    refused(".", opened.__getitem__, "encoder", error=StoreError)
    assert opened["decoder"].num_targets == 544


def test_maps_are_verified_where_that_is_asked(store: Path, tmp_path: Path) -> None:
    copied = writable_copy(store, tmp_path / "m.zarr")
    reseal_array(copied / "encoder/v001", "map/data", put(0, lambda a: a[0] + 1e-6))
    assert open_store(copied).maps["encoder"].num_targets == 162
    verified = open_store(copied, verify=True).maps
    refused("do not sum to 1", verified.__getitem__, "encoder", error=StoreError)


def test_weights_that_are_not_finite_are_refused_where_they_are_used(
    store: Path, tmp_path: Path
) -> None:
    version = writable_copy(store, tmp_path / "m.zarr") / "encoder/v001"
    reseal_array(version, "transposed/data", put(0, np.nan))
    encoder = open_store(tmp_path / "m.zarr").maps["encoder"]
    x = torch.zeros(1, 1, 544)
    refused("encoder@v001.*NaN or infinite", encoder, x, error=StoreError)
