"""Regular grids with a row of points on each pole as the data of other libraries' graphs."""

from pathlib import Path

import numpy as np
import pytest
import torch

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map

LAT, LON = np.linspace(90, -90, 13), np.arange(0.0, 360, 15)
TABLE = np.stack(np.meshgrid(LAT, LON, indexing="ij"), -1).reshape(-1, 2)


def test_as_hetero_data_and_as_a_folder_of_neural_lam(tmp_path: Path) -> None:
    grid = GraphSpec("s2", coordinates=TABLE)
    mesh = GraphSpec("s2", subdivisions=2, levels=1)
    store = tmp_path / "g.zarr"
    encoder = build_map(MapSpec(grid, mesh, neighbors=4), store, name="encoder").open()
    decoder = build_map(MapSpec(mesh, grid, neighbors=3), store, name="decoder").open()
    pyramid = build(mesh, store, name="mesh").open()
    folder = pyramid.save_neural_lam(tmp_path / "folder", encoder, decoder)
    length = {}
    for name, one, sender in (("g2m", encoder, 0), ("m2g", decoder, 1)):
        edges = torch.load(folder / f"{name}_edge_index.pt", weights_only=True)
        features = torch.load(folder / f"{name}_features.pt", weights_only=True)
        assert edges.shape == (2, len(one.columns))
        assert features.isfinite().all()
        # The closed formula, by dot products of unit vectors.
        mesh = pyramid.levels[0].coordinates
        places = [np.radians([90, 0] - TABLE * [1, -1]), mesh.numpy()]
        u, v = (
            np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)], -1)
            for b, g in (places[n][edges[int(n != sender)]].T for n in (0, 1))
        )
        length[name] = np.arccos((u * v).sum(-1).clip(-1, 1))
        assert np.abs(features[:, 0].numpy() - length[name]).max() < 1e-3
    pytest.importorskip("torch_geometric")
    data = pyramid.to_hetero(encoder, decoder)
    assert data.validate()
    assert data["data"].num_nodes == len(TABLE)
    for kind, name in ((("data", "to", "hidden"), "g2m"), (("hidden", "to", "data"), "m2g")):
        assert np.abs(data[kind].edge_length[:, 0].numpy() - length[name]).max() < 1e-3
        assert data[kind].edge_dirs.isfinite().all()
