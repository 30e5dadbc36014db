"""Refs, removal and concurrency."""

import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, SpecError, StoreError, UnknownGraphError, build, inspect
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.store import catalog, durable, layout, refs, staging_folder
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.leftovers import clean, leftovers
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.store.refs import Removed, prune, remove, tag, untag
from cheblienet_graphs.verification import versions as checks
from cheblienet_graphs.verification.versions import verify
from cheblienet_models import Store, open_store

SPEC = GraphSpec("r2", 8)
NAME = "r2-8x8"


def test_tags(three: Path) -> None:
    tag(three, f"{NAME}@v001", "paper")
    assert open_store(three)[f"{NAME}@paper"].version == "v001"
    assert catalog.resolve(three, f"{NAME}@paper").name == "v001"
    tag(three, NAME, "paper")
    build(SPEC, three, force=True)
    assert catalog.refs(Folder(three / NAME)) == {"latest": "v004", "paper": "v003"}
    assert listing(three)[2].refs == ("paper",)
    untag(three, NAME, "paper")
    assert catalog.refs(Folder(three / NAME)) == {"latest": "v004"}
    with pytest.raises(UnknownGraphError, match="no ref 'paper'"):
        untag(three, NAME, "paper")
    for ref in ("latest", "v001", "v5", "", "a/b", "..", "x@y", "é", 5):
        with pytest.raises(UnknownGraphError, match="ref must be"):
            tag(three, NAME, ref)


def test_removal(three: Path) -> None:
    tag(three, f"{NAME}@v002", "paper")
    for name, reason in (("nothing", "No graph"), (f"{NAME}@v009", "No version 'v009'")):
        with pytest.raises(StoreError, match=reason):
            remove(three, name)
    remove(three, f"{NAME}@latest")
    assert catalog.versions(Folder(three / NAME)) == ["v001", "v002"]
    assert open_store(three)[NAME].version == "v002"
    assert build(SPEC, three, force=True).version == "v004"  # numbers are not given again
    remove(three, f"{NAME}@v002", force=True)
    assert catalog.refs(Folder(three / NAME)) == {"latest": "v004"}
    remove(three, f"{NAME}@v001")
    remove(three, f"{NAME}@v004")
    assert list(open_store(three)) == listing(three) == verify(three) == leftovers(three) == []
    assert build(SPEC, three).version == "v005"


@pytest.mark.parametrize("operation", ["write", "fsync", "replace", "rename"])
def test_refused_removal_changes_nothing(
    three: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    tag(three, f"{NAME}@v002", "paper")
    monkeypatch.setattr(os, operation, Mock(side_effect=OSError(5, "Input/output error")))
    with pytest.raises(StoreError, match="Nothing was changed"):
        remove(three, f"{NAME}@v002", force=True)
    assert catalog.refs(Folder(three / NAME)) == {"latest": "v003", "paper": "v002"}
    assert catalog.versions(Folder(three / NAME)) == ["v001", "v002", "v003"]
    assert [path.name for path in three.parent.iterdir()] == ["g.zarr"]
    assert verify(three) == []


def test_tags_survive_concurrent_builds_and_removals(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"

    def work(number: int) -> str:
        name = "ab"[number % 2]
        version = build(SPEC, store, name=name, force=True).version
        tag(store, f"{name}@{version}", f"tag{number}")
        doomed = build(SPEC, store, name=name, force=True).version
        remove(store, f"{name}@{doomed}")
        return version

    with ThreadPoolExecutor(8) as pool:
        tagged = list(pool.map(work, range(8)))
    for parity, name in enumerate("ab"):
        versions = {f"tag{number}": tagged[number] for number in range(parity, 8, 2)}
        assert catalog.refs(Folder(store / name)).items() >= versions.items()
        assert catalog.versions(Folder(store / name)) == sorted(versions.values())
        assert len({*versions.values()}) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]
    assert verify(store) == []


@pytest.fixture
def five(three: Path) -> Path:
    for _ in range(2):
        build(SPEC, three, force=True)
    build(SPEC, three, name="other")
    return three


def test_old_versions_are_pruned(five: Path) -> None:
    tag(five, f"{NAME}@v002", "paper")
    assert prune(five, NAME, 5).versions == ()
    files = [
        file for n in (1, 3) for file in (five / NAME / f"v00{n}").rglob("*") if file.is_file()
    ]
    nbytes = sum(file.stat().st_size for file in files)
    assert prune(five, NAME, 2) == Removed(NAME, ("v001", "v003"), nbytes, {"v002": ("paper",)})
    assert catalog.versions(Folder(five / NAME)) == ["v002", "v004", "v005"]
    assert prune(five, NAME, 2).versions == ()
    assert prune(five, NAME, 1, force=True).versions == ("v002", "v004")
    assert catalog.refs(Folder(five / NAME)) == {"latest": "v005"}
    assert catalog.versions(Folder(five / "other")) == ["v001"]
    assert build(SPEC, five, force=True).version == "v006"
    assert verify(five) == []
    assert [path.name for path in five.parent.iterdir()] == ["g.zarr"]


def full(file: str, contents: bytes, within: int | None = None) -> None:
    """Make a file of which nothing can be written, as a full disk lets one."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=within))
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("folders", [True, False], ids=["of files", "of folders, too"])
def test_removing_takes_no_space(
    five: Path, monkeypatch: pytest.MonkeyPatch, *, folders: bool
) -> None:
    """The attributes of the graph take the place of those of the version that goes."""
    tag(five, f"{NAME}@v002", "paper")
    monkeypatch.setattr(durable, "write", full)
    if not folders:
        refused = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(StoreError, match=r"No space left on device. Nothing was changed; free"):
        tag(five, f"{NAME}@v003", "paper")
    os.link(five / NAME / "v001/zarr.json", five.parent / "backup")
    before = (five.parent / "backup").read_bytes()
    with pytest.raises(StoreError, match=r"No space left on device. Nothing was changed; free"):
        remove(five, f"{NAME}@v001")  # whose document is that of a backup, too
    assert (five.parent / "backup").read_bytes() == before
    assert verify(five) == leftovers(five) == []
    (five.parent / "backup").unlink()
    document, victim = five / NAME / "v001/zarr.json", five.parent / ("x" * 250)
    document.rename(victim)  # its name is longer than what is written
    document.symlink_to("../" * 2 + f"../{victim.name}")
    victim.chmod(0o400)
    with pytest.raises(StoreError, match=r"No space left on device. Nothing was changed; free"):
        remove(five, f"{NAME}@v001")
    assert (victim.read_bytes(), stat.S_IMODE(victim.stat().st_mode)) == (before, 0o400)
    document.unlink()
    victim.rename(document)
    with staging_folder.locked_alone(five), ExitStack() as held:
        assert staging_folder._got_store(five, held) is None
        if folders:
            assert staging_folder._got_lock(five, held) is None
    pyramid = open_store(five)[f"{NAME}@v005"]
    values = pyramid.levels[0].values.clone()
    assert remove(five, f"{NAME}@v001").versions == ("v001",)
    assert remove(five, f"{NAME}@paper", force=True).versions == ("v002",)
    assert remove(five, f"{NAME}@latest").versions == ("v005",)
    assert prune(five, NAME, 1).versions == ("v003",)
    assert pyramid.levels[0].values.equal(values)
    monkeypatch.undo()
    assert catalog.refs(Folder(five / NAME)) == {"latest": "v004"}
    assert verify(five) == leftovers(five) == []
    assert stat.S_IMODE((five / NAME / "zarr.json").stat().st_mode) == 0o644
    assert build(SPEC, five, force=True, name=NAME).version == "v006"  # no number twice


def test_a_full_disk_stops_no_removal_half_way(five: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not even that can be written, the version is back in its place."""
    before = catalog.refs(Folder(five / NAME))
    monkeypatch.setattr(durable, "write", full)
    monkeypatch.setattr(os, "ftruncate", Mock(side_effect=OSError(errno.EIO, "broken")))
    with pytest.raises(StoreError, match=r"broken. Nothing was changed"):
        remove(five, f"{NAME}@v001")
    assert catalog.versions(Folder(five / NAME))[0] == "v001"
    assert catalog.refs(Folder(five / NAME)) == before


def test_a_change_that_may_not_last_is_told_as_one(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a folder that can't be made durable; what is undone is none."""
    fsync = os.fsync

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    message = r"was changed, but whether that outlives a crash of the machine is not known: Input"
    with pytest.raises(StoreError, match=message):
        tag(three, f"{NAME}@v001", "paper")
    assert catalog.refs(Folder(three / NAME))["paper"] == "v001"
    with pytest.raises(StoreError, match=message):
        untag(three, NAME, "paper")
    assert "paper" not in catalog.refs(Folder(three / NAME))
    with pytest.raises(StoreError, match="Nothing was changed"):
        remove(three, f"{NAME}@v001")
    with pytest.raises(StoreError, match="Nothing was published"):
        build(SPEC, three, force=True)
    assert catalog.versions(Folder(three / NAME)) == ["v001", "v002", "v003"]
    assert verify(three) == leftovers(three) == []


def test_what_can_not_be_undone_is_told(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a disk refuses everything from some moment on."""
    fsync, rename, replace = os.fsync, os.rename, os.replace
    message = "was changed, but not wholly, and that could not be undone"
    broken: list[None] = []

    def fail(*given: object, **within: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def sync(descriptor: int) -> None:
        if broken and stat.S_ISDIR(os.fstat(descriptor).st_mode):
            monkeypatch.setattr(os, "rename", fail)
            monkeypatch.setattr(os, "replace", fail)
            fail()
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    before = catalog.versions(Folder(three / NAME))

    def begin(*given: str, **within: int) -> None:
        broken.append(None)
        rename(*given, **within)

    monkeypatch.setattr(os, "rename", begin)
    with pytest.raises(StoreError, match=message):
        build(SPEC, three, force=True)
    monkeypatch.setattr(os, "rename", rename)
    monkeypatch.setattr(os, "replace", replace)
    assert len(catalog.versions(Folder(three / NAME))) == len(before) + 1
    with pytest.raises(StoreError, match=message):
        remove(three, f"{NAME}@v001")


def test_pruning_is_of_graphs_and_keeps_some(
    five: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SpecError, match="keep must be an integer from 1"):
        prune(five, NAME, 0)
    with pytest.raises(UnknownGraphError, match="not a version"):
        prune(five, f"{NAME}@v001", 1)
    assert len(catalog.versions(Folder(five / NAME))) == 5
    tag(five, f"{NAME}@v001", "paper")
    assert run(["rm", NAME, "--keep", "4", "--store", str(five)]) == 0
    assert "stays, as it is named paper; --force removes it" in capsys.readouterr().err
    rename = os.rename

    def refuse(name: str, *target: str, **within: int) -> None:
        if name == "v003":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(name, *target, **within)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(StoreError, match=r"v002 was removed before that"):
        prune(five, NAME, 2)
    assert catalog.versions(Folder(five / NAME)) == ["v001", "v003", "v004", "v005"]
    assert verify(five) == []


def test_relative_paths_and_tildes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing stays beside a store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    build(SPEC, "g.zarr", name="g")
    export_zip(Folder(tmp_path / "g.zarr/g/v001"), "~/g.zip")
    for store, file in (("g.zarr", "g.zip"), ("~/g.zarr", "~/g.zip"), (Path("g.zarr"), "./g.zip")):
        assert tag(store, "g", "paper") == tmp_path / "g.zarr/g/v001"
        untag(store, "g", "paper")
        version = import_zip(file, store, "copy").version
        assert remove(store, f"copy@{version}").versions == (version,)
        assert prune(store, "g", 1).versions == ()
        assert verify(store) == []
        layout.staging_folder(tmp_path / "g.zarr").mkdir()  # as a killed process leaves it
        assert clean(store) == []
        assert inspect(store, eigenvalues=0).name == "g"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zarr", "g.zip"]
    with pytest.raises(StoreError, match="Write the path out"):
        tag("~nobody-of-that-name/g.zarr", "g", "paper")


def test_a_removal_is_told_where_the_document_of_the_store_can_not_be_read_then(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refs, "drop_copies", Mock(side_effect=StoreError("can't be read")))
    assert remove(three, f"{NAME}@v002").versions == ("v002",)


def test_a_version_that_is_removed_while_its_folders_are_listed(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = checks._file_faults

    def late(version: Folder, *of: object) -> object:
        if version.name == "v002":
            remove(three, f"{NAME}@v002")
        return real(version, *of)  # type: ignore[arg-type]

    monkeypatch.setattr(checks, "_file_faults", late)
    assert verify(three) == []
    assert catalog.versions(Folder(three / NAME)) == ["v001", "v003"]


@pytest.mark.parametrize("read", [list, lambda store: [store[f"{NAME}@v003"].name]])
def test_a_version_that_is_removed_after_its_name_was_read(
    three: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Store], list[str]]
) -> None:
    """The graph and its other versions are there."""
    real = os.listdir

    def late(folder: int) -> list[str]:
        names = real(folder)
        if "v001" in names:
            monkeypatch.setattr(os, "listdir", real)
            remove(three, f"{NAME}@v001")
        return names

    monkeypatch.setattr(os, "listdir", late)
    assert read(open_store(three)) == [NAME]
    assert catalog.versions(Folder(three / NAME)) == ["v002", "v003"]
