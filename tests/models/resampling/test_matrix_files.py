"""Matrices of layers and level maps, as tensors and as scipy's files."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch
from csr_truth import of_tensor
from sphere_fields import EVERY_METHOD

from cheblienet_models import (
    LatLonToVertices,
    SpatialPool,
    SpatialUnpool,
    Store,
    VerticesToLatLon,
    regular_grid,
)
from cheblienet_models.tensors import save_npz

EUROPE = np.arange(70.0, 30, -2), np.arange(-10.0, 40, 2)


@EVERY_METHOD
@pytest.mark.parametrize("double", [False, True])
def test_products_with_the_matrix_are_what_the_layer_does(
    spheres: Store, tmp_path: Path, method: str, double: bool
) -> None:
    pyramid, grid = spheres["healpix"], regular_grid(90, 180, west=0)
    for kind, grid_, size in (
        *((LatLonToVertices, grid, 90 * 180), (VerticesToLatLon, grid, 3072)),
        *((VerticesToLatLon, EUROPE, 3072), (LatLonToVertices, EUROPE, 500)),
    ):
        layer = kind(pyramid, *grid_, method, fill=0)
        layer = layer.double() if double else layer
        matrix, x = layer.matrix(), torch.rand(size, 3).to(layer.values)
        assert matrix.values().data_ptr() == layer.values.data_ptr()
        shape = (1, 3, *layer.shape) if kind is LatLonToVertices else (1, 3, size)
        expected = layer(x.T.reshape(shape))[0].flatten(1).T
        assert torch.allclose(matrix @ x, expected, atol=1e-6)
        path = layer.save_npz(tmp_path / "matrix")
        assert path == tmp_path / "matrix.npz"
        loaded = scipy.sparse.load_npz(path)
        assert loaded.dtype == (np.float64 if double else np.float32)
        assert loaded.has_canonical_format
        assert loaded.shape == matrix.shape
        expected = of_tensor(matrix)
        for name in ("indptr", "indices", "data"):
            assert np.array_equal(getattr(loaded, name), getattr(expected, name))
        with np.load(path) as file:  # without pickles
            assert set(file.files) == {"indices", "indptr", "format", "shape", "data"}


def test_level_maps(spheres: Store, tmp_path: Path) -> None:
    pyramid = spheres["icosahedral"]
    fine, coarse = (level.num_vertices for level in pyramid.levels)
    for layer, size in (
        (SpatialPool(pyramid, 0, "mean"), fine),
        (SpatialUnpool(pyramid, 0), coarse),
    ):
        x = torch.rand(size, 2)
        matrix = layer.level_map.matrix()
        assert torch.allclose(matrix @ x, layer(x.T[None])[0].T, atol=1e-6)
        loaded = scipy.sparse.load_npz(layer.level_map.save_npz(str(tmp_path / "map.npz")))
        assert np.array_equal(loaded.toarray(), matrix.to_dense().numpy())
        assert loaded.shape == (layer.level_map.targets, size)


def test_files_appear_whole_or_not_at_all(
    spheres: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = VerticesToLatLon(spheres["so3"], *regular_grid(6, 12, west=0)).matrix()
    target = save_npz(tmp_path / "a.b", matrix)
    assert [path.name for path in tmp_path.iterdir()] == ["a.b.npz"]
    before = target.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_npz(target, matrix.double())
    assert [path.name for path in tmp_path.iterdir()] == ["a.b.npz"]
    assert target.read_bytes() == before
    with pytest.raises(FileNotFoundError):
        save_npz(tmp_path / "nowhere" / "a", matrix)
