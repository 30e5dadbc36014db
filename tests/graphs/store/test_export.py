"""Levels and whole graphs in files of other libraries."""

import errno
import hashlib
import json
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, Mock

import numpy as np
import pytest
import scipy.sparse

from cheblienet_graphs import GraphSpec, StoreError
from cheblienet_graphs.archives.npz import to_npz
from cheblienet_graphs.store.folder import Folder
from cheblienet_models import open_store


@pytest.fixture
def exported(store: Path, tmp_path: Path) -> Path:
    to_npz(Folder(store / "torus/v001"), tmp_path / "torus-npz")
    return tmp_path / "torus-npz"


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def test_the_manifest_lists_every_file(store: Path, exported: Path) -> None:
    listed, pyramid = manifest(exported), open_store(store)["torus"]
    assert (listed["name"], listed["version"]) == ("torus", "v001")
    assert listed["spec_sha256"] == pyramid.spec_sha256
    assert GraphSpec.from_dict(listed["spec"]).sha256 == pyramid.spec_sha256
    assert listed["columns"] == ["x", "y", "theta"]
    assert [level["vertices"] for level in listed["levels"]] == [1024, 256]
    assert [level["grid"] for level in listed["levels"]] == [[4, 16, 16], [4, 8, 8]]
    assert {path.name for path in exported.iterdir()} == {"manifest.json", *listed["files"]}
    assert len(listed["files"]) == 2 * 4 + 2
    for name, entry in listed["files"].items():
        contents = (exported / name).read_bytes()
        assert entry["bytes"] == len(contents)
        assert entry["sha256"] == hashlib.sha256(contents).hexdigest()
        load = scipy.sparse.load_npz if name.endswith(".npz") else np.load
        values = load(exported / name)
        assert (list(values.shape), values.dtype.name) == (entry["shape"], entry["dtype"])
        assert entry.get("nnz", 0) == getattr(values, "nnz", 0)
        assert str(entry["level"]) == name.partition("-")[2][0]


def test_exports_and_empty_folders_are_replaced(exported: Path, store: Path) -> None:
    """Equal graphs have equal exports."""
    again = exported.with_name("again")
    again.mkdir()
    to_npz(Folder(store / "torus/v001"), again)
    for path in exported.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()
    to_npz(Folder(store / "r2-24x16/v001"), exported)
    assert manifest(exported)["name"] == "r2-24x16"
    assert {path.name for path in exported.parent.iterdir()} == {"torus-npz", "again"}


def test_nothing_else_is_replaced(
    store: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = store / "torus/v001"
    (tmp_path / "empty").mkdir()
    (exported / "notes.txt").write_text("mine")
    for name, contents in (("a", "x"), ("b", "{}"), ("c", '{"format": "cheblienet-npz"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(contents)
    for name in ("photos", "thesis.txt", "linked.npz"):
        (tmp_path / f"d-{name}").mkdir()
        manifest = {"format": "cheblienet-npz", "files": {name: {}}}
        (tmp_path / f"d-{name}" / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "d-photos/photos").mkdir()
    (tmp_path / "d-thesis.txt/thesis.txt").write_text("mine")
    (tmp_path / "d-linked.npz/linked.npz").symlink_to(tmp_path / "a/manifest.json")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "broken").symlink_to(tmp_path / "absent")
    before = sorted(path for path in tmp_path.rglob("*"))
    manifests = ("d-photos", "d-thesis.txt", "d-linked.npz")
    for name in ("torus-npz", "a", "b", "c", *manifests, "file", "link", "broken"):
        with pytest.raises(StoreError, match="choose another `output`"):
            to_npz(Folder(version), tmp_path / name)
    with pytest.raises(StoreError, match="Nothing was exported"):
        to_npz(Folder(version), tmp_path / "absent" / "out")
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(StoreError, match=r"is the working folder.*choose another `output`"):
        to_npz(Folder(version), Path())
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize("operation", ["save", "rename", "replace"])
def test_a_failure_or_interruption_changes_nothing(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
    earlier: bool,
    operation: str,
) -> None:
    """Wherever it comes; an earlier export stays."""
    folder = tmp_path / "out"
    if earlier:
        to_npz(Folder(store / "torus/v001"), folder)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    module = np if operation == "save" else Path
    calls = [DEFAULT] * (operation == "save") + [fault] * 9  # of arrays the second one
    fails = Mock(wraps=getattr(module, operation), side_effect=calls)
    monkeypatch.setattr(module, operation, fails)
    if earlier or operation != "rename":  # of what makes room
        with pytest.raises((StoreError, KeyboardInterrupt)) as raised:
            to_npz(Folder(store / "r2-24x16/v001"), folder)
        if isinstance(fault, OSError):
            assert "No space left. Nothing was exported; free some space or" in str(raised.value)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
