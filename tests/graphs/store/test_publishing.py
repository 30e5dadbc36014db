"""Publishing: what is on disk, what a failure leaves behind, what a name stands for."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import zarr
from csr_truth import mapped
from outside import whole_path

from cheblienet_graphs import (
    GraphSpec,
    MapSpec,
    StoreError,
    build,
    build_map,
    open_group,
)
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.assembly.pipeline import dry_run
from cheblienet_graphs.assembly.versions import same_digest
from cheblienet_graphs.errors import OtherGraphWarning, UnreadableError
from cheblienet_graphs.store import catalog, durable, layout, refs, staging_folder
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.store.staging_folder import locked
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.verification.versions import verify
from cheblienet_models import open_store

SPEC, FLAT = GraphSpec("r2", 8), GraphSpec("r2", 8, levels=1)


@pytest.mark.parametrize("name", ["r2-24x16", "se2-16x16x6", "torus"])
def test_zarr_anndata_and_our_readers_agree(store: Path, name: str) -> None:
    import anndata.io

    pyramid = open_store(store)[name]
    for level, graph in enumerate(pyramid.levels):
        group = open_group(store, name)[f"levels/{level}/laplacian"]
        by_zarr = [group[part][:] for part in ("data", "indices", "indptr")]
        element = anndata.io.read_elem(group)
        by_anndata = [element.data, element.indices, element.indptr]
        ours = mapped(Folder(store / name / "v001" / "levels" / str(level) / "laplacian"))
        by_scipy = [ours.data, ours.indices, ours.indptr]
        by_torch = [graph.values.numpy(), graph.columns.numpy(), graph.row_pointers.numpy()]
        for arrays in zip(by_zarr, by_anndata, by_scipy, by_torch, strict=True):
            assert len({array.tobytes() for array in arrays}) == 1
            assert len({array.dtype for array in arrays}) == 1
        assert element.shape == (graph.num_vertices,) * 2


def test_zarr_sees_the_whole_hierarchy(store: Path) -> None:
    """Of files that are read-only."""
    root = zarr.open_group(store, mode="r")
    assert sorted(root.group_keys()) == ["r2-24x16", "se2-16x16x6", "torus"]
    assert sorted(root["torus"].group_keys()) == ["v001"]
    assert sorted(root["torus/v001"].group_keys()) == ["levels", "pooling", "unpooling"]
    assert root["torus/v001"].attrs["clg"]["schema"] == "1.0"
    assert root.attrs["clg"] == {"store_schema": 1}
    files = [path for path in (store / "torus" / "v001").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o444}


WRITING = (
    *("mkdir", "write", "pwrite", "posix_fallocate", "ftruncate"),
    *("fsync", "rename", "replace", "chmod"),
)


@contextlib.contextmanager
def failing_system(code: int, at: int) -> Iterator[list[str]]:
    """Let os calls pass until the one numbered `at`, which fails; they are listed."""
    calls: list[str] = []

    def counted(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            calls.append(name)
            if len(calls) == at:
                raise OSError(code, os.strerror(code))
            return function(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in WRITING:
            patch.setattr(os, name, counted(name, getattr(os, name)))
        yield calls


@pytest.mark.slow
@pytest.mark.parametrize(("code", "existing"), [(errno.ENOSPC, False), (errno.EIO, True)])
def test_any_refused_call_publishes_nothing_and_loses_nothing(
    tmp_path: Path, code: int, existing: bool
) -> None:
    """Every mkdir, write, fallocate, fsync, rename and chmod of a build fails in turn."""
    if existing:
        build(FLAT, tmp_path / "counted")
    with failing_system(code, at=-1) as calls:
        build(FLAT, tmp_path / "counted", force=True)
    assert len(calls) > 40
    for at in range(1, len(calls) + 1):
        store = tmp_path / ("same" if existing else str(at)) / "g.zarr"
        if existing and at == 1:
            build(FLAT, store)
        message = f"{os.strerror(code)}. Nothing was published"
        with failing_system(code, at), pytest.raises(StoreError, match=message):
            build(FLAT, store, force=True)
        if existing:
            assert [version.version for version in listing(store)] == ["v001"]
            assert layout.read_attributes(Folder(store / "r2-8x8")) == {"refs": {"latest": "v001"}}
        elif catalog.check_store(Folder(store)):
            assert listing(store) == []
        assert leftovers(store) == []
    assert build(FLAT, store, force=True).version == ("v002" if existing else "v001")
    assert verify(store) == []


THREE, TWO = GraphSpec("r2", 32, levels=3), GraphSpec("r2", 32, levels=2, neighbors=6)


def test_another_specification_under_a_used_name_is_told(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    first = build(THREE, store, name="g")
    assert first.difference == ""
    with pytest.warns(OtherGraphWarning, match=r"g@v002 differs from g@v001: .*levels 3 -> 2"):
        second = build(TWO, store, name="g")
    assert second.version == "v002"
    assert second.difference.endswith(": neighbors 8 -> 6, levels 3 -> 2. g stands for g@v002.")
    words = r"g stands for g@v002\. Open g@v001, or use another"
    with pytest.warns(OtherGraphWarning, match=words) as warned:
        again = build(THREE, store, name="g")  # not what the name stands for any more
    assert (again.built, again.version) == (False, "v001")
    assert warned[0].filename == __file__  # whose line it is
    assert "g@v001 differs from g@v002: neighbors 6 -> 8, levels 2 -> 3." in again.difference
    again = build(TWO, store, name="g")
    assert (again.built, again.version, again.difference) == (False, "v002", "")
    assert again.levels == second.levels


def test_a_store_on_another_file_system_than_its_staging_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a mount point is: a version could not be moved into it when it is built."""
    places = iter([tmp_path, Path("/proc"), tmp_path, Path("/proc")])
    monkeypatch.setattr(durable, "check_writable", lambda _: next(places))
    for function in (dry_run, build):
        with pytest.raises(StoreError, match=r"another file system than .*choose another place"):
            function(SPEC, tmp_path / "g.zarr")
    assert list(tmp_path.iterdir()) == []


def test_builds_at_the_same_time_publish_once(tmp_path: Path) -> None:
    """Each looks again before it publishes; --force publishes anyway."""
    store, builds = tmp_path / "g.zarr", []

    def meanwhile(*_: object) -> None:
        if not builds:
            builds.append(None)
            builds.append(build(SPEC, store))

    late = build(SPEC, store, progress=meanwhile)
    assert (builds[1].built, builds[1].version) == (True, "v001")
    assert (late.built, late.version, late.levels) == (False, "v001", builds[1].levels)
    assert len(late.checks) == len(late.levels)
    builds.clear()
    forced = build(SPEC, store, force=True, progress=meanwhile)
    assert (builds[1].built, forced.built, forced.version) == (False, True, "v002")
    assert leftovers(store) == verify(store) == []


def test_maps_and_archives_at_the_same_time_are_published_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sphere = GraphSpec("s2", subdivisions=1)
    spec, store = MapSpec(sphere, sphere, neighbors=3), tmp_path / "g.zarr"
    first: list[Any] = []

    def meanwhile(*_: object) -> None:
        if not first:
            first.append(None)
            first.append(build_map(spec, store, name="map"))

    late = build_map(spec, store, name="map", progress=meanwhile)
    assert (late.built, late.version) == (False, "v001")
    export_zip(Folder(store / "map/v001"), tmp_path / "map.zip")
    other, publish = tmp_path / "other.zarr", Staging.publish_as_is
    first.clear()

    def publish_late(staging: Staging, *given: Any) -> str:
        if not first:
            first.append(None)
            first.append(import_zip(tmp_path / "map.zip", other))
        return publish(staging, *given)

    monkeypatch.setattr(Staging, "publish_as_is", publish_late)
    late = import_zip(tmp_path / "map.zip", other)
    assert (late.built, late.version) == (False, "v001")
    assert first[1].built
    assert catalog.versions(Folder(other / "map")) == ["v001"]


def test_a_link_to_a_store_is_that_store(tmp_path: Path) -> None:
    """It has the same staging and locks, wherever it leads."""
    (tmp_path / "far").mkdir()
    store, link = tmp_path / "far/g.zarr", tmp_path / "g.zarr"
    build(SPEC, store)
    link.symlink_to("far/g.zarr")
    assert layout.staging_folder(link) == layout.staging_folder(store)
    with locked(link), ExitStack() as held:
        assert staging_folder._got_lock(store, held) is None
    assert build(SPEC, link, force=True).version == "v002"
    assert catalog.versions(Folder(store / "r2-8x8")) == ["v001", "v002"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "g.zarr"]


def refused(*_: object, **__: object) -> Iterator[Path]:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("call", ["open", "listdir"])
def test_a_graph_that_others_may_not_read_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store, allowed = tmp_path / "g.zarr", getattr(os, call)
    for name in ("mine", "theirs"):
        build(SPEC, store, name=name)

    def guarded(path: str | int, *given: Any, **options: Any) -> Any:
        known = "theirs" in whole_path(path, options.get("dir_fd"))
        return (refused if known else allowed)(path, *given, **options)

    monkeypatch.setattr(os, call, guarded)
    assert catalog.resolve(store, "mine").name == "v001"
    assert verify(store, "mine") == []
    assert not build(SPEC, store, name="mine").built
    assert same_digest(SPEC, store, "theirs").name == "mine"
    assert [(row.name, bool(row.fault)) for row in listing(store)] == [
        ("mine", False), ("theirs", True)]  # fmt: skip
    for function in (catalog.resolve, verify):
        with pytest.raises(UnreadableError, match="ask its owner"):
            function(store, "theirs")


def test_files_of_a_version_are_never_written_into(three: Path, tmp_path: Path) -> None:
    """Processes map them: nothing that a command does may change what these see."""
    (name,) = catalog.graph_names(Folder(three))
    files = [path for path in (three / name / "v001").rglob("*") if path.is_file()]
    with ExitStack() as stack:
        held = {path: stack.enter_context(path.open("rb")) for path in files}
        before = {path: (file.read(), os.fstat(file.fileno())) for path, file in held.items()}
        assert all(not status.st_mode & 0o222 for _, status in before.values())
        build(GraphSpec("r2", 8), three, force=True)
        refs.tag(three, f"{name}@v001", "paper")
        refs.untag(three, name, "paper")
        refs.remove(three, f"{name}@v002")
        export_zip(Folder(three / name / "v001"), tmp_path / "v001.zip")
        assert not import_zip(tmp_path / "v001.zip", three).built
        verify(three)
        leftovers(three)
        for path, (_, status) in before.items():
            assert path.stat().st_ino == status.st_ino
            assert path.stat().st_mtime_ns == status.st_mtime_ns
        refs.remove(three, f"{name}@v001", force=True)
        for path, file in held.items():
            file.seek(0)
            assert file.read() == before[path][0]
            assert not path.exists()


def test_stores_that_are_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses, as a pathlib.Path too, and blank text: nothing is made of that name."""
    monkeypatch.chdir(tmp_path)
    for store in ("s3://bucket/k", Path("s3://bucket/k"), "file:///tmp/x", "gs://b", " ", "\t\n"):
        with pytest.raises(StoreError, match="store must be a folder of this machine's"):
            build(SPEC, store)
        with pytest.raises(StoreError, match="store must be a folder of this machine's"):
            listing(store)
        with pytest.raises(StoreError, match="must be a folder of this machine's"):
            open_store(store)
        assert list(tmp_path.iterdir()) == []
