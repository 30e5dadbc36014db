"""Staged versions: parts of arrays, records, and what stays of a build to go on with."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from builds import SPECS, Whole, inodes, interrupted, manifest
from damage import truncate
from marks import slow_but
from outside import HEX, state, victim

from cheblienet_graphs import GraphSpec, StoreError, build
from cheblienet_graphs.store import durable, layout, writer
from cheblienet_graphs.store import leftovers as module
from cheblienet_graphs.store.durable import locked_folder, opened_folder
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.staged import Records
from cheblienet_graphs.store.writer import Staging

SPEC, BLOCK_ROWS = SPECS["torus"], 100


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """What an interrupted build left, beside the store tmp_path / "g"."""
    assert interrupted(SPEC, tmp_path / "g", 4, block_rows=BLOCK_ROWS)
    [folder] = leftovers(tmp_path / "g")
    return folder


def test_a_build_is_kept_that_lacks_the_space_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, store = GraphSpec("se2", 48, levels=2), tmp_path / "g"
    interrupted(spec, store, 4, block_rows=4000)
    kept = inodes(store)
    with monkeypatch.context() as patch:
        patch.setattr(writer.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
        with pytest.raises(StoreError, match=r"bytes are needed, 0 are free.*some space") as caught:
            build(spec, store, resume=True, block_rows=4000)
    [note] = caught.value.__notes__
    assert f"{len(kept)} finished blocks are kept" in note
    assert "`resume=True`" in note
    assert inodes(store) == kept
    assert build(spec, store, resume=True, block_rows=4000).resumed


HALVES = {
    "nameless": lambda folder: (folder / "build.json").unlink(),
    "torn": lambda folder: truncate(folder / "build.json"),
    "other json": lambda folder: (folder / "build.json").write_text("[]"),
    "without arrays": lambda folder: shutil.rmtree(folder / "version"),
    "without records": lambda folder: shutil.rmtree(folder / "finished"),
}


@pytest.mark.parametrize("halve", slow_but(["nameless", "torn"], HALVES))
def test_half_a_build_is_not_gone_on_with(
    tmp_path: Path, left: Path, halve: str, expected: Whole
) -> None:
    """The next build that resumes deletes it, as nobody could go on with it."""
    store = tmp_path / "g"
    HALVES[halve](left)
    assert not build(SPEC, store, name="other", block_rows=BLOCK_ROWS).resumed
    assert leftovers(store) == [left]  # another build has no business with it
    shutil.rmtree(store)
    assert not build(SPEC, store, resume=True, block_rows=BLOCK_ROWS).resumed
    assert manifest(store) == expected["torus"]
    assert list(tmp_path.iterdir()) == [store]


def test_what_others_left_is_spared(tmp_path: Path, left: Path) -> None:
    """Builds of another identity, builds at work, and what the package does not write."""
    store, staging = tmp_path / "g", left.parent
    identity = json.loads((left / "build.json").read_text())
    (left / "build.json").write_text(json.dumps(identity | {"name": "other"}))
    victim(staging / "mine")
    (staging / HEX[0]).mkdir()
    before = state(staging)
    with locked_folder(staging / HEX[0]):
        assert not build(SPEC, store, resume=True, block_rows=BLOCK_ROWS).resumed
        assert state(staging) == before


@pytest.mark.parametrize("what", ["clean", "resume"])
def test_killed_while_deleting(tmp_path: Path, left: Path, what: str, expected: Whole) -> None:
    """What is left of a build's folder then is not taken for a build."""
    store = tmp_path / "g"
    how = f"build(GraphSpec.from_dict({SPEC.to_dict()!r}), {str(store)!r}, resume=True)"
    if what == "resume":
        HALVES["nameless"](left)
    else:
        how = f"leftovers.clean({str(store)!r})"
    program = f"""
import os, shutil
from pathlib import Path
from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store import leftovers
def killed(name, dir_fd, **_):
    folder = Path("/dev/fd", str(dir_fd), name)
    shutil.copytree(folder / "finished", folder / "still")
    shutil.rmtree = remove; remove(folder / "version"); os._exit(9)
remove, leftovers.shutil.rmtree = shutil.rmtree, killed
{how}"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    assert len(leftovers(store)) == 1
    assert not build(SPEC, store, resume=True, block_rows=BLOCK_ROWS).resumed
    assert manifest(store) == expected["torus"]
    assert list(tmp_path.iterdir()) == [store]


def test_folder_that_can_not_be_deleted_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refusing = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr(module, "discard", refusing)
    with pytest.raises(RuntimeError) as caught, Staging(tmp_path / "g", "g", 0):
        raise RuntimeError
    [note] = caught.value.__notes__
    assert f"{layout.staging_folder(tmp_path / 'g')} can't be cleared: Permission denied" in note
    assert build(SPEC, tmp_path / "g").built
    assert capsys.readouterr().err == f"{note}\n"


def test_nothing_is_said_of_a_build_that_somebody_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    staging = Staging(tmp_path / "g", "g", 0)
    staging.__enter__()
    shutil.rmtree(layout.staging_folder(tmp_path / "g"))
    staging.close(error := RuntimeError())
    assert getattr(error, "__notes__", []) == []
    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


def test_block_at_work_in_a_folder_that_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It makes something new as long as it can, which is until the folder has another name."""
    (tmp_path / "build" / "finished").mkdir(parents=True)
    remove = shutil.rmtree

    def at_work(name: str, **how: Any) -> None:
        remove(name, **how)
        if name == "build":
            (tmp_path / "build" / "finished").mkdir(parents=True)

    monkeypatch.setattr(module.shutil, "rmtree", at_work)
    with opened_folder(tmp_path) as staging:
        module.discard("build", staging)
    assert list(tmp_path.iterdir()) == []


def test_overlapping_records_are_counted_once(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for rows in ((0, 10), (5, 15), (10, 12), (20, 30)):
        records.keep("s", rows, {"entries": rows[1] - rows[0]})
    (tmp_path / "s" / "torn-name").write_text("{")  # not yet renamed
    assert records.finished("s") == {
        (0, 10): {"entries": 10},
        (10, 12): {"entries": 2},
        (20, 30): {"entries": 10},
    }
    assert records.result("s", (5, 15)) == {"entries": 10}
    assert records.result("s", (0, 15)) is None
    assert records.finished("t") == {}
    assert len(records) == 4


def test_nothing_comes_back_once_a_build_is_gone(tmp_path: Path) -> None:
    """A block that ends after its build was removed records nothing."""
    with pytest.raises(FileNotFoundError):
        Records(tmp_path / "gone" / "finished").keep("s", (0, 1), {})


def test_a_record_that_may_not_last_is_no_change_of_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = durable.NotDurableError(errno.EIO, os.strerror(errno.EIO))
    monkeypatch.setattr(durable, "sync_change", Mock(side_effect=refused))
    with (
        pytest.raises(StoreError, match=r"Input/output error\. Nothing was published"),
        durable.write_errors("g.zarr"),
    ):
        Records(tmp_path).keep("s", (0, 1), {})
