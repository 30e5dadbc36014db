"""Export to other libraries."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from cheblienet_graphs import StoreError
from cheblienet_graphs.store import export
from cheblienet_models import open_store


@pytest.fixture
def version(store: Path) -> Path:
    return store / "torus" / "v001"


def dense_weights(store: Path) -> np.ndarray:
    """W from the stored Laplacian, by its definition."""
    graph = open_store(store)["torus"].levels[0]
    delta = graph.laplacian.to_dense().double().numpy() + np.eye(graph.num_vertices)
    root = np.sqrt(graph.degree.double().numpy())
    weights = -delta * graph.lambda_max / 2 * np.outer(root, root)
    np.fill_diagonal(weights, 0)
    return weights


def test_scipy(store: Path, version: Path, tmp_path: Path) -> None:
    export.to_scipy(version, 0, tmp_path / "l.npz")
    loaded = scipy.sparse.load_npz(tmp_path / "l.npz")
    expected = open_store(store)["torus"].levels[0].laplacian.to_dense().numpy()
    assert np.array_equal(loaded.toarray(), expected)


def test_pyg(store: Path, version: Path, tmp_path: Path) -> None:
    export.to_pyg(version, 0, tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz") as arrays:
        assert sorted(arrays) == ["edge_index", "edge_weight", "pos"]
        edges, weights, points = arrays["edge_index"], arrays["edge_weight"], arrays["pos"]
    assert (edges.dtype, weights.dtype, points.shape) == (np.int64, np.float32, (1024, 3))
    rebuilt = np.zeros((1024, 1024))
    rebuilt[tuple(edges)] = weights
    assert np.allclose(rebuilt, dense_weights(store), atol=1e-5)
    assert ((rebuilt > 0) == (rebuilt.T > 0)).all()


def test_unwritable_export_leaves_nothing(version: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Nothing was exported"):
        export.to_scipy(version, 0, tmp_path / "absent" / "l.npz")
    assert list(tmp_path.iterdir()) == []
