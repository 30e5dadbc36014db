"""Folders of neural-lam: every edge is in them, in its documented form, and it reads them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from coupled_graphs import coupled, sparse, weights_of
from csr_truth import of_tensor
from refusing import refused

FILES = {"g2m", "m2g", "m2m"}
BETWEEN = {"mesh_up", "mesh_down"}


def read(folder: Path) -> dict[str, Any]:
    """Every file by its name, as a reader that runs no code has it."""
    files = {file.stem: torch.load(file, weights_only=True) for file in folder.glob("*.pt")}
    assert {file.name for file in folder.iterdir() if file.stem not in files} == {"metainfo.yaml"}
    assert (folder / "metainfo.yaml").read_text() == "spec_version: 0.1.0\n"
    return files


def pattern(edges: torch.Tensor, shape: tuple[int, int]) -> Any:
    """(receivers, senders) where there are edges."""
    return sparse(edges, torch.ones(edges.shape[1]), shape) > 0


@pytest.mark.parametrize("name", ["sphere", "one-sphere", "plane"])
def test_no_edge_is_lost_on_the_way_and_back(name: str, tmp_path: Path) -> None:
    pyramid, encoder, decoder = coupled(name)
    folder = pyramid.save_neural_lam(tmp_path / "graph" / "mine", encoder, decoder)
    files, levels = read(folder), pyramid.levels
    names = FILES | (BETWEEN if len(levels) > 1 else set())
    both = {f"{n}_{of}" for n in names for of in ("edge_index", "features")}
    assert files.keys() == both | {"mesh_features"}
    expected = {"m2m": [weights_of(graph) > 0 for graph in levels]}
    pairs = range(len(levels) - 1)
    expected["mesh_up"] = [of_tensor(pyramid.pooling(n).matrix()) > 0 for n in pairs]
    expected["mesh_down"] = [of_tensor(pyramid.unpooling(n).matrix()) > 0 for n in pairs]
    for name, one in (("g2m", encoder), ("m2g", decoder)):
        files[f"{name}_edge_index"] = [files[f"{name}_edge_index"]]
        files[f"{name}_features"] = [files[f"{name}_features"]]
        expected[name] = [of_tensor(one.matrix) > 0]
    for name in names:
        assert len(files[f"{name}_edge_index"]) == len(expected[name])
        for edges, features, matrix in zip(
            files[f"{name}_edge_index"], files[f"{name}_features"], expected[name], strict=True
        ):
            assert (edges.dtype, features.dtype) == (torch.int64, torch.float32)
            assert features.shape == (edges.shape[1], 3)
            assert (pattern(edges, matrix.shape) != matrix).nnz == 0
    assert [len(mesh) for mesh in files["mesh_features"]] == [g.num_vertices for g in levels]


def test_features_are_differences_of_positions_on_the_plane(tmp_path: Path) -> None:
    """Sender minus receiver, and its length, in the datastore's unit, whatever the node sets."""
    (pyramid, encoder, decoder), unit = coupled("plane"), 2500.0
    files = read(pyramid.save_neural_lam(tmp_path / "g", encoder, decoder, unit=unit))
    fine, coarse = (mesh.double() / unit for mesh in files["mesh_features"])
    grid = encoder.source_coordinates
    for name, sender, receiver in (
        ("g2m", grid, fine),
        ("m2g", fine, grid),
        ("m2m", fine, fine),
        ("mesh_up", fine, coarse),
        ("mesh_down", coarse, fine),
    ):
        edges, features = files[f"{name}_edge_index"], files[f"{name}_features"]
        if isinstance(edges, list):
            edges, features = edges[0], features[0]
        moved, features = sender[edges[0]] - receiver[edges[1]], features.double() / unit
        assert torch.allclose(features[:, 1:], moved, atol=1e-6)
        assert torch.allclose(features[:, 0], moved.norm(dim=1), atol=1e-6)


def test_nodes_of_the_sphere_are_at_longitude_and_latitude(tmp_path: Path) -> None:
    pyramid, encoder, decoder = coupled("one-sphere")
    files = read(pyramid.save_neural_lam(tmp_path / "g", encoder, decoder))
    beta, gamma = pyramid.levels[0].coordinates.T
    places = torch.stack([gamma, np.pi / 2 - beta], dim=1)
    assert torch.allclose(files["mesh_features"][0].double(), places, atol=1e-6)


def test_features_of_the_sphere_are_east_and_north(tmp_path: Path) -> None:
    """Of the shortest arc from the receiver to the sender, along x and y of the nodes."""
    pyramid, encoder, decoder = coupled("sphere")
    files = read(pyramid.save_neural_lam(tmp_path / "g", encoder, decoder))
    longitude, latitude = files["mesh_features"][0].double().T
    zero, (sin, cos) = torch.zeros_like(longitude), (longitude.sin(), longitude.cos())
    up = torch.stack([latitude.cos() * cos, latitude.cos() * sin, latitude.sin()], dim=1)
    east = torch.stack([-sin, cos, zero], dim=1)
    north = torch.linalg.cross(up, east)
    sender, receiver = files["m2m_edge_index"][0]
    height = (up[sender] * up[receiver]).sum(1, keepdim=True)
    along = up[sender] - height * up[receiver]
    arc = height.arccos() * along / along.norm(dim=1, keepdim=True)
    expected = [height.arccos()[:, 0], *((arc * axis[receiver]).sum(1) for axis in (east, north))]
    away = latitude[receiver].abs() < 1.5  # east is anywhere at a pole
    features = files["m2m_features"][0].double()
    assert torch.allclose(features[away], torch.stack(expected, dim=1)[away], atol=1e-6)


def test_other_manifolds_and_full_folders_are_refused(tmp_path: Path) -> None:
    turns, *maps = coupled("turns")
    refused(r"those of r2 and s2\. Got se2", turns.save_neural_lam, tmp_path / "a", *maps)
    assert not (tmp_path / "a").exists()
    (tmp_path / "notes.txt").write_text("mine")
    pyramid, encoder, decoder = coupled("plane")
    save, folder = pyramid.save_neural_lam, tmp_path / "b"
    refused(r"folder must be new, or empty\. Got ", save, tmp_path, encoder, decoder)
    for unit in (0, -1, float("nan")):
        refused("unit must be positive and finite", save, folder, encoder, decoder, unit=unit)
    refused("decoder must be a VertexMap", save, folder, encoder, None, error=TypeError)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["sphere", "one-sphere", "plane"])
def test_neural_lam_reads_them(name: str, tmp_path: Path) -> None:
    graphs = pytest.importorskip("neural_lam.utils.graph")
    pyramid, encoder, decoder = coupled(name)
    hierarchical, graph = graphs.load_graph(
        pyramid.save_neural_lam(tmp_path / "g", encoder, decoder), 1.0
    )
    assert hierarchical == (len(pyramid.levels) > 1)
    meshes = graph["m2m_edge_index"] if hierarchical else [graph["m2m_edge_index"]]
    for level, edges in zip(pyramid.levels, meshes, strict=True):
        assert (pattern(edges, (level.num_vertices,) * 2) != (weights_of(level) > 0)).nnz == 0
    for key, one in (("g2m_edge_index", encoder), ("m2g_edge_index", decoder)):
        assert (pattern(graph[key], one.matrix.shape) != (of_tensor(one.matrix) > 0)).nnz == 0
