"""Old versions are pruned, and totals told."""

import errno
import json
import os
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import (
    GraphSpec,
    SpecError,
    StoreError,
    UnknownGraphError,
    build,
    verify,
)
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.refs import prune, tag

SMALL = GraphSpec("r2", 4)


@pytest.fixture
def five(tmp_path: Path) -> Path:
    for _ in range(5):
        build(SMALL, tmp_path / "g.zarr", name="g", force=True)
    build(SMALL, tmp_path / "g.zarr", name="other")
    return tmp_path / "g.zarr"


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_old_versions_are_pruned(five: Path) -> None:
    tag(five, "g@v002", "paper")
    assert prune(five, "g", 5).versions == ()
    before = size(five / "g" / "v001") + size(five / "g" / "v003")
    removed = prune(five, "g", 2)
    assert (removed.graph, removed.versions, removed.nbytes) == ("g", ("v001", "v003"), before)
    assert removed.spared == {"v002": ("paper",)}
    assert layout.versions(five / "g") == ["v002", "v004", "v005"]
    assert layout.refs(five / "g") == {"latest": "v005", "paper": "v002"}
    assert prune(five, "g", 2).versions == ()
    assert prune(five, "g", 1, force=True).versions == ("v002", "v004")
    assert layout.refs(five / "g") == {"latest": "v005"}
    assert layout.versions(five / "other") == ["v001"]
    assert build(SMALL, five, name="g", force=True).version == "v006"
    assert verify(five) == []
    assert [path.name for path in five.parent.iterdir()] == ["g.zarr"]


@pytest.mark.parametrize("keep", [0, -1])
def test_at_least_one_version_is_kept(five: Path, keep: int) -> None:
    with pytest.raises(SpecError, match="keep must be an integer from 1"):
        prune(five, "g", keep)
    assert len(layout.versions(five / "g")) == 5


def test_pruning_is_of_graphs(five: Path) -> None:
    with pytest.raises(UnknownGraphError, match="not a version"):
        prune(five, "g@v001", 1)
    with pytest.raises(UnknownGraphError, match="No graph 'h'"):
        prune(five, "h", 1)
    assert len(layout.versions(five / "g")) == 5


def test_pruning_that_is_refused_halfway_says_so(
    five: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == "v002":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StoreError, match=r"v001 was removed before that"):
        prune(five, "g", 2)
    monkeypatch.undo()
    assert layout.versions(five / "g") == ["v002", "v003", "v004", "v005"]
    assert verify(five) == []


def test_pruning_and_totals_on_the_command_line(
    five: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(five)]
    assert run(["ls", *where]) == 0
    *versions, total = capsys.readouterr().out.splitlines()
    assert len(versions) == 6
    assert total.split()[:5] == ["total", "6", "versions", "2", "graphs"]
    assert run(["ls", "--json", *where]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6
    assert run(["tag", "g@v001", "paper", *where]) == 0
    capsys.readouterr()
    assert run(["rm", "g", "--keep", "3", *where]) == 0
    removed, spared = capsys.readouterr().err.splitlines()
    assert removed.startswith("Removed g@v002, ")
    assert removed.endswith(" kB.")
    assert spared == "g@v001 stays, as it is named paper; --force removes it all the same."
    for arguments, fragment in (
        (["g@v001", "--keep", "1"], "--keep is for a graph, named alone. Got 'g@v001'."),
        (["g", "--keep", "0"], "--keep must be an integer from 1. Got '0'."),
        (["g", "--keep", "-2"], "--keep must be an integer from 1. Got '-2'."),
        (["g", "--keep", "two"], "--keep must be an integer from 1. Got 'two'."),
    ):
        assert run(["rm", *arguments, *where]) == 2
        assert fragment in capsys.readouterr().err
    assert run(["rm", "g", "--keep", "1", "--force", *where]) == 0
    assert "Removed g@v001, g@v003, g@v004, " in capsys.readouterr().err
    assert run(["rm", "g", "--keep", "1", *where]) == 0
    assert capsys.readouterr().err == "Nothing to remove.\n"
