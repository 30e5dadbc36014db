"""A whole graph for scipy and numpy alone."""

import errno
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from failures import failing

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, StoreError, build
from cheblienet_graphs.store import export_npz
from cheblienet_graphs.store.export_npz import to_npz
from cheblienet_models import open_store


@pytest.fixture
def version(store: Path) -> Path:
    return store / "torus" / "v001"


@pytest.fixture
def exported(version: Path, tmp_path: Path) -> Path:
    to_npz(version, tmp_path / "torus-npz")
    return tmp_path / "torus-npz"


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def test_values_are_those_of_the_store(store: Path, exported: Path) -> None:
    pyramid = open_store(store)["torus"]
    for level, graph in enumerate(pyramid.levels):
        laplacian = scipy.sparse.load_npz(exported / f"laplacian-{level}.npz")
        assert laplacian.dtype == np.float32
        assert np.array_equal(laplacian.toarray(), graph.laplacian.to_dense().numpy())
        for name in ("coordinates", "degree", "area"):
            values = np.load(exported / f"{name}-{level}.npy")
            assert np.array_equal(values, getattr(graph, name).numpy())
    for name, shape in (("pooling-0to1", (256, 1024)), ("unpooling-1to0", (1024, 256))):
        matrix = scipy.sparse.load_npz(exported / f"{name}.npz")
        assert matrix.shape == shape
        stored = store / "torus/v001" / name.replace("-", "/")
        for part in ("data", "indices", "indptr"):
            raw = np.fromfile(stored / part / "c/0", getattr(matrix, part).dtype)
            assert np.array_equal(raw, getattr(matrix, part))


def test_delta_comes_back(store: Path, exported: Path) -> None:
    level = manifest(exported)["levels"][0]
    rescaled = scipy.sparse.load_npz(exported / "laplacian-0.npz").astype(np.float64)
    delta = (rescaled + scipy.sparse.identity(1024)) * level["lambda_max"] / 2
    assert delta.diagonal() == pytest.approx(np.ones(1024), abs=1e-6)  # normalized, no isolated
    root = np.sqrt(np.load(exported / "degree-0.npy").astype(np.float64))
    assert np.abs(delta @ root).max() < 1e-5 * root.max()


def test_the_manifest_tells_every_file(store: Path, exported: Path) -> None:
    told = manifest(exported)
    pyramid = open_store(store)["torus"]
    assert (told["name"], told["version"]) == ("torus", "v001")
    assert told["spec_sha256"] == pyramid.spec_sha256
    assert GraphSpec.from_dict(told["spec"]).sha256 == pyramid.spec_sha256
    assert told["columns"] == ["x", "y", "theta"]
    assert [level["vertices"] for level in told["levels"]] == [1024, 256]
    assert [level["grid"] for level in told["levels"]] == [[4, 16, 16], [4, 8, 8]]
    files = {path.name for path in exported.iterdir()} - {"manifest.json"}
    assert files == told["files"].keys()
    assert len(files) == 2 * 4 + 2
    for name, entry in told["files"].items():
        contents = (exported / name).read_bytes()
        assert entry["bytes"] == len(contents)
        assert entry["sha256"] == hashlib.sha256(contents).hexdigest()
        load = scipy.sparse.load_npz if name.endswith(".npz") else np.load
        values = load(exported / name)
        assert (list(values.shape), values.dtype.name) == (entry["shape"], entry["dtype"])
        assert entry.get("nnz", 0) == getattr(values, "nnz", 0)
        assert str(entry["level"]) == name.partition("-")[2][0]


def test_stored_eigenpairs_go_along(tmp_path: Path) -> None:
    build(GraphSpec("r2", 8, eigenpairs=3, levels=1), tmp_path / "g.zarr", name="g")
    to_npz(tmp_path / "g.zarr/g/v001", tmp_path / "out")
    eigenvectors = np.load(tmp_path / "out/eigenvectors-0.npy").astype(np.float64)
    lambda_max = manifest(tmp_path / "out")["levels"][0]["lambda_max"]
    rescaled = scipy.sparse.load_npz(tmp_path / "out/laplacian-0.npz")
    delta = (rescaled + scipy.sparse.identity(64)) * lambda_max / 2
    eigenvalues = np.load(tmp_path / "out/eigenvalues-0.npy")
    assert np.allclose(delta @ eigenvectors, eigenvectors * eigenvalues, atol=1e-5)


def test_scipy_and_numpy_alone_read_it(exported: Path) -> None:
    script = f"""
import json, pathlib, sys, numpy, scipy.sparse
folder = pathlib.Path({str(exported)!r})
for name, entry in json.loads((folder / "manifest.json").read_text())["files"].items():
    load = scipy.sparse.load_npz if "nnz" in entry else numpy.load
    assert list(load(folder / name).shape) == entry["shape"]
assert not [name for name in sys.modules if name.startswith("cheblienet") or name == "zarr"]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_export_is_replaced_by_the_next(exported: Path, store: Path) -> None:
    to_npz(store / "r2-24x16/v001", exported)
    assert manifest(exported)["name"] == "r2-24x16"
    levels = len(manifest(exported)["levels"])
    assert (exported / f"laplacian-{levels - 1}.npz").exists()
    assert [path.name for path in exported.parent.iterdir()] == ["torus-npz"]


def test_equal_graphs_have_equal_exports(version: Path, exported: Path) -> None:
    to_npz(version, exported.with_name("again"))
    for path in exported.iterdir():
        assert path.read_bytes() == (exported.with_name("again") / path.name).read_bytes()


def test_an_empty_folder_is_filled(version: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    to_npz(version, tmp_path / "empty")
    assert manifest(tmp_path / "empty")["name"] == "torus"


def test_nothing_else_is_replaced(version: Path, exported: Path, tmp_path: Path) -> None:
    (exported / "notes.txt").write_text("mine")
    for name, contents in (("a", "x"), ("b", "{}"), ("c", '{"format": "cheblienet-npz"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(contents)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "broken").symlink_to(tmp_path / "absent")
    before = sorted(path for path in tmp_path.rglob("*"))
    for name in ("torus-npz", "a", "b", "c", "file", "link", "broken"):
        with pytest.raises(StoreError, match="choose another `output`"):
            to_npz(version, tmp_path / name)
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_full_disk_and_an_interruption_leave_nothing(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
    earlier: bool,
) -> None:
    folder = tmp_path / "out"
    if earlier:
        to_npz(store / "torus/v001", folder)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    save, saved = np.save, []

    def third_fails(file: Path, values: np.ndarray) -> None:
        saved.append(file)
        file.write_bytes(b"half a fi")
        if len(saved) == 3:
            raise fault
        save(file, values)

    monkeypatch.setattr(export_npz.np, "save", third_fails)
    with pytest.raises((StoreError, KeyboardInterrupt)) as raised:
        to_npz(store / "r2-24x16/v001", folder)
    if isinstance(fault, OSError):
        assert "No space left. Nothing was exported; free some space or" in str(raised.value)
    assert len(saved) == 3
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_an_unwritable_place(version: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Nothing was exported"):
        to_npz(version, tmp_path / "absent" / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_rename_that_fails_keeps_the_earlier_export(
    store: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, renamed = Path.rename, []

    def second_fails(self: Path, target: Path) -> Path:
        renamed.append(target)
        if len(renamed) == 2:
            raise OSError(errno.EACCES, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(StoreError, match="Permission denied"):
        to_npz(store / "r2-24x16/v001", exported)
    assert manifest(exported)["name"] == "torus"
    assert [path.name for path in exported.parent.iterdir()] == ["torus-npz"]


def test_command(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    where = ["--store", str(store)]
    for _ in range(2):  # the second one replaces the first
        assert run(["export", "torus", "--to", "npz", *where]) == 0
        assert capsys.readouterr() == ("torus-npz\n", "")
    assert run(["export", "torus", "--to", "npz", "--output", "out", *where]) == 0
    assert manifest(tmp_path / "out") == manifest(tmp_path / "torus-npz")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    capsys.readouterr()
    message = failing(capsys, "export", "torus", "--to", "npz", "--output", "full", *where)[1]
    assert "choose another --output." in message


def test_not_into_a_store(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--store", str(store), "--output", str(store / "torus" / "out")]
    code, message = failing(capsys, "export", "torus", "--to", "npz", *arguments)
    assert code == 1
    assert "is in the store" in message
