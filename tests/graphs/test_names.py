"""Names used again, versions that come twice or grow old, and what lies beside a store."""

import dataclasses
import errno
import json
import os
import threading
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import (
    GraphSpec,
    SpecError,
    StoreError,
    UnknownGraphError,
    build,
    inspect,
    verify,
)
from cheblienet_graphs.store import durable, layout
from cheblienet_graphs.store.archive import export_zip, import_zip
from cheblienet_graphs.store.refs import locked, prune, remove, tag, tidy, untag
from cheblienet_graphs.store.verify import clean, leftovers

THREE, TWO = GraphSpec("r2", 32, levels=3), GraphSpec("r2", 32, levels=2, neighbors=6)
SMALL = GraphSpec("r2", 4)


def test_another_specification_under_a_used_name_is_told(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    first = build(THREE, store, name="g")
    assert (first.other, first.changes) == (None, {})
    second = build(TWO, store, name="g")
    assert (second.version, second.other) == ("v002", "v001")
    assert second.changes == {"levels": (3, 2), "neighbors": (8, 6)}
    found = build(THREE, store, name="g")  # not what the name stands for any more
    assert (found.built, found.version, found.other) == (False, "v001", "v002")
    assert found.changes == {"levels": (2, 3), "neighbors": (6, 8)}
    again = build(TWO, store, name="g")
    assert (again.built, again.version, again.other, again.changes) == (False, "v002", None, {})
    forced = build(TWO, store, name="g", force=True)
    assert (forced.version, forced.other, forced.changes) == ("v003", "v002", {})


def test_fields_that_only_one_specification_has_are_told(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    build(GraphSpec("s2", subdivisions=1), store, name="g")
    changes = build(GraphSpec("s2", nside=2), store, name="g").changes
    assert changes["sampling"] == ("icosahedral", "healpix")
    assert changes["subdivisions"] == (1, None)
    assert changes["nside"] == (None, 2)


def test_the_command_line_tells_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(tmp_path / "g.zarr"), "--name", "g"]
    assert run(["build", "r2", "--size", "32", "--levels", "3", *where]) == 0
    assert "other than" not in capsys.readouterr().err
    assert run(["build", "r2", "--size", "32", "--levels", "2", *where, "--json"]) == 0
    captured = capsys.readouterr()
    told = "g@v002 is other than g@v001: levels 3 -> 2. g stands for g@v002."
    assert captured.err.splitlines()[-1] == told
    assert json.loads(captured.out)["other"] == "v001"
    assert json.loads(captured.out)["changes"] == {"levels": [3, 2]}
    assert run(["build", "r2", "--size", "32", "--levels", "3", *where]) == 0
    told = "g@v001 is other than g@v002: levels 2 -> 3. g stands for g@v002."
    assert capsys.readouterr().err.splitlines()[-1] == told
    quiet = [*where, "--quiet"]
    assert run(["build", "r2", "--size", "32", "--levels", "1", *quiet]) == 0
    assert capsys.readouterr().err == ""


def test_facts_of_levels_are_alike_whether_built_or_found(tmp_path: Path) -> None:
    built, found = (build(SMALL, tmp_path / "g.zarr") for _ in range(2))
    assert (built.built, found.built) == (True, False)
    assert built.levels == found.levels
    assert hash(built.levels) == hash(found.levels)
    (level,) = found.levels
    assert level["grid"] == level.grid == (1, 4, 4)
    assert dict(level) == dataclasses.asdict(level)
    assert set(level) == {field.name for field in dataclasses.fields(level)}
    with pytest.raises(KeyError):
        level["values"]
    with pytest.raises(TypeError):
        level["edges"] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        level.edges = 3


def test_relative_paths_and_tildes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    build(SMALL, "g.zarr", name="g")
    export_zip(tmp_path / "g.zarr/g/v001", "~/g.zip")
    for store, file in (("g.zarr", "g.zip"), ("~/g.zarr", "~/g.zip"), (Path("g.zarr"), "./g.zip")):
        assert tag(store, "g", "paper") == tmp_path / "g.zarr/g/v001"
        untag(store, "g", "paper")
        version = import_zip(file, store, "copy").version
        assert remove(store, f"copy@{version}").versions == (version,)
        assert prune(store, "g", 1).versions == ()
        assert verify(store) == []
        assert clean(store) == []
        assert inspect(store, eigenvalues=0).name == "g"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zarr", "g.zip"]
    with pytest.raises(StoreError, match="Write the path out"):
        tag("~nobody-of-that-name/g.zarr", "g", "paper")


def test_an_archive_imported_twice_is_there_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(SMALL, tmp_path / "g.zarr", name="g")
    build(SMALL, tmp_path / "g.zarr", name="g", force=True)
    export_zip(tmp_path / "g.zarr/g/v001", tmp_path / "g.zip")
    where = ["--store", str(tmp_path / "other.zarr")]
    for expected in ("", "It is there already, as g@v001.\n"):
        assert run(["import", str(tmp_path / "g.zip"), *where]) == 0
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("g@v001\n", expected)
    assert import_zip(tmp_path / "g.zip", tmp_path / "g.zarr") == ("g", "v001", False)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["g.zarr", "g.zip", "other.zarr"]


def test_a_damaged_version_is_no_reason_not_to_import_it_again(tmp_path: Path) -> None:
    build(SMALL, tmp_path / "g.zarr", name="g")
    export_zip(tmp_path / "g.zarr/g/v001", tmp_path / "g.zip")
    degree = tmp_path / "g.zarr/g/v001/levels/0/degree/c/0"
    degree.chmod(0o644)
    degree.write_bytes(degree.read_bytes()[::-1])
    assert import_zip(tmp_path / "g.zip", tmp_path / "g.zarr") == ("g", "v002", True)
    assert import_zip(tmp_path / "g.zip", tmp_path / "g.zarr") == ("g", "v002", False)


def test_nothing_stays_beside_a_store(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    build(SMALL, store, name="g")
    export_zip(store / "g/v001", tmp_path / "g.zip")
    tag(store, "g", "paper")
    untag(store, "g", "paper")
    import_zip(tmp_path / "g.zip", store, "copy")
    remove(store, "copy@v001")
    with pytest.raises(StoreError):
        remove(store, "g@v009")
    with pytest.raises(SpecError):
        build(GraphSpec("se2", 8, eps=0.001, alpha=1e6, bandwidth=0.01), store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zarr", "g.zip"]
    layout.staging_folder(store).mkdir()  # as a killed process leaves it
    assert clean(store) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zarr", "g.zip"]


def test_the_lock_of_a_store_excludes_others_while_its_folder_comes_and_goes(
    tmp_path: Path,
) -> None:
    """Threads hold it by descriptors of their own, as processes do."""
    store, folder = tmp_path / "g.zarr", layout.staging_folder(tmp_path / "g.zarr")
    inside, most, failures = [0], [0], []

    def work() -> None:
        try:
            for _ in range(100):
                with locked(store):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    (folder / "file").write_text("x")
                    (folder / "file").unlink()
                    inside[0] -= 1
                tidy(store)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert most == [1]
    assert not folder.exists()


def test_who_waited_for_a_folder_that_went_makes_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder goes between opening and locking it, and another takes its place."""
    folder = layout.staging_folder(tmp_path / "g.zarr")
    flock, waits = durable.fcntl.flock, []

    def late(descriptor: int, operation: int) -> None:
        if len(waits) < 2:
            folder.rename(tmp_path / f"gone{len(waits)}")
            if not waits:
                folder.mkdir()
        waits.append(descriptor)
        flock(descriptor, operation)

    monkeypatch.setattr(durable.fcntl, "flock", late)
    with locked(tmp_path / "g.zarr"):
        assert os.path.samestat(os.fstat(waits[-1]), folder.stat())
    assert len(waits) == 3
    assert not folder.exists()


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


def test_what_goes_while_leftovers_are_listed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Builders at work end between the listing of their folder and the look at what is in it."""
    store = tmp_path / "g.zarr"
    staging = layout.staging_folder(store)
    (staging / "left").mkdir(parents=True)
    monkeypatch.setattr(
        Path,
        "iterdir",
        lambda folder: iter([folder / "left", folder / "build", folder / "temporary.json"]),
    )
    assert leftovers(store) == [staging / "left"]
    monkeypatch.undo()
    assert clean(store) == [staging / "left"]
    assert leftovers(store) == []
