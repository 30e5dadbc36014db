"""Export to other libraries, and the way out and back as a zip archive."""

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from cheblienet_graphs import CheblienetError, GraphSpec, StoreError, build, verify
from cheblienet_graphs.store import export, layout
from cheblienet_graphs.store.archive import export_zip, import_zip
from cheblienet_graphs.store.verify import leftovers
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


def test_anndata(store: Path, version: Path, tmp_path: Path) -> None:
    import anndata

    export.to_anndata(version, 0, tmp_path / "g.h5ad")
    data = anndata.read_h5ad(tmp_path / "g.h5ad")
    assert data.obsm["coordinates"].shape == (1024, 3)
    assert np.allclose(data.obsp["weights"].toarray(), dense_weights(store), atol=1e-5)
    assert list(data.obs) == ["degree", "area"]


def test_missing_anndata_is_named(
    version: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(CheblienetError, match="pip install anndata"):
        export.to_anndata(version, 0, tmp_path / "g.h5ad")


def test_unwritable_export_leaves_nothing(version: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Nothing was exported"):
        export.to_scipy(version, 0, tmp_path / "absent" / "l.npz")
    assert list(tmp_path.iterdir()) == []


def test_zip_round_trip(version: Path, tmp_path: Path) -> None:
    export_zip(version, tmp_path / "g.zip")
    uncompressed = sum(path.stat().st_size for path in version.rglob("*") if path.is_file())
    assert (tmp_path / "g.zip").stat().st_size < uncompressed / 2
    other = tmp_path / "other.zarr"
    assert import_zip(tmp_path / "g.zip", other) == ("torus", "v001", True)
    assert import_zip(tmp_path / "g.zip", other) == ("torus", "v001", False)
    assert import_zip(tmp_path / "g.zip", other, "copy") == ("copy", "v001", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zip", "other.zarr"]
    assert verify(other) == []
    for path in version.rglob("*"):
        if path.is_file():
            again = other / "copy" / "v001" / path.relative_to(version)
            assert again.read_bytes() == path.read_bytes()
    again = open_store(other, verify=True)["copy"]
    assert again.spec_sha256 == layout.check_version(version)["spec_sha256"]
    export_zip(version, tmp_path / "h.zip")
    assert (tmp_path / "h.zip").read_bytes() == (tmp_path / "g.zip").read_bytes()


def test_faulty_versions_are_not_exported(tmp_path: Path) -> None:
    build(GraphSpec("r2", 8), tmp_path / "g.zarr", name="g")
    degree = tmp_path / "g.zarr/g/v001/levels/0/degree/c/0"
    degree.chmod(0o644)
    degree.write_bytes(degree.read_bytes()[::-1])
    with pytest.raises(StoreError, match="other contents than were published"):
        export_zip(tmp_path / "g.zarr/g/v001", tmp_path / "g.zip")
    assert not (tmp_path / "g.zip").exists()


def rewritten(
    source: Path, target: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]
) -> None:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            changed = change(entry.filename, old.read(entry))
            if changed is not None:
                new.writestr(*changed)


DEGREE = "torus/levels/0/degree/c/0"
HOSTILE: list[Callable[[str, bytes], tuple[str, bytes] | None]] = [
    lambda name, data: (name, data[::-1] if name == DEGREE else data),
    lambda name, data: (name, data[:-1] if name == DEGREE else data),
    lambda name, data: None if name == DEGREE else (name, data),
    lambda name, data: None if name == "torus/zarr.json" else (name, data),
    lambda name, data: (name, b"{}" if name == "torus/zarr.json" else data),
    lambda name, data: (name, b"[" * 10**5 if name == "torus/zarr.json" else data),
    lambda name, data: (name, b" " * 5 * 10**6 if name == "torus/zarr.json" else data),
    lambda name, data: ("../" * 9 + name if name == DEGREE else name, data),
    lambda name, data: ("/etc/" + name if name == DEGREE else name, data),
    lambda name, data: ("else/" + name[6:] if name == DEGREE else name, data),
    lambda name, data: (name + "/0" if name == DEGREE else name, data),
    lambda name, data: (name, data + b"x" * 10**6 if name == DEGREE else data),
]


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_archives_are_refused(version: Path, tmp_path: Path, change: Callable) -> None:
    export_zip(version, tmp_path / "g.zip")
    rewritten(tmp_path / "g.zip", tmp_path / "bad.zip", change)
    with pytest.raises(StoreError, match=r"bad\.zip"):
        import_zip(tmp_path / "bad.zip", tmp_path / "other.zarr")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.zip", "g.zip"]


def test_archives_that_are_none(version: Path, tmp_path: Path) -> None:
    store = tmp_path / "other.zarr"
    with pytest.raises(StoreError, match="No such file"):
        import_zip(tmp_path / "absent.zip", store)
    (tmp_path / "text.zip").write_text("x" * 100)
    with pytest.raises(StoreError, match="not a whole zip"):
        import_zip(tmp_path / "text.zip", store)
    export_zip(version, tmp_path / "g.zip")
    contents = bytearray((tmp_path / "g.zip").read_bytes())
    contents[len(contents) // 3] ^= 255
    (tmp_path / "flipped.zip").write_bytes(contents)
    with pytest.raises(StoreError):
        import_zip(tmp_path / "flipped.zip", store)
    (tmp_path / "cut.zip").write_bytes(contents[: len(contents) // 2])
    with pytest.raises(StoreError, match="not a whole zip"):
        import_zip(tmp_path / "cut.zip", store)
    assert not store.exists()
    assert leftovers(store) == []
