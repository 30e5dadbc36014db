"""Publishing: what is on disk, what other libraries read, what a failure leaves behind."""

import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarr

from cheblienet_graphs import GraphSpec, StoreError, UnknownGraphError, build, inspect, open_group
from cheblienet_graphs.store import durable, layout
from cheblienet_graphs.store.facts import listing
from cheblienet_graphs.store.reader import mapped_csr
from cheblienet_graphs.store.verify import leftovers, verify
from cheblienet_models import open_store

SPEC = GraphSpec("r2", 8)


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("dtype", sorted(layout.DTYPES))
@pytest.mark.parametrize("shape", [(5,), (3, 2), (0,), (0, 4)])
def test_documents_are_those_zarr_writes(tmp_path: Path, dtype: str, shape: tuple) -> None:
    zarr.open_group(tmp_path / "z", mode="w").create_array(
        "a",
        shape=shape,
        dtype=layout.DTYPES[dtype],
        chunks=tuple(max(1, n) for n in shape),
        shards=None,
        compressors=None,
        filters=None,
        fill_value=0,
        attributes={"columns": ["x"]},
    )
    written = json.loads((tmp_path / "z" / "a" / "zarr.json").read_text())
    assert layout.array_document(shape, dtype, {"columns": ["x"]}) == written
    group = json.loads((tmp_path / "z" / "zarr.json").read_text())
    assert group.pop("consolidated_metadata", None) is None  # zarr before 3.1 writes a null
    assert layout.group_document({}) == group


@pytest.mark.parametrize("name", ["r2-24x16", "se2-16x16x6", "torus"])
def test_zarr_anndata_and_our_readers_agree(store: Path, name: str) -> None:
    import anndata.io

    pyramid = open_store(store)[name]
    for level, graph in enumerate(pyramid.levels):
        group = open_group(store, name)[f"levels/{level}/laplacian"]
        by_zarr = [group[part][:] for part in ("data", "indices", "indptr")]
        element = anndata.io.read_elem(group)
        by_anndata = [element.data, element.indices, element.indptr]
        mapped = mapped_csr(store / name / "v001" / "levels" / str(level) / "laplacian")
        by_scipy = [mapped.data, mapped.indices, mapped.indptr]
        by_torch = [graph.values.numpy(), graph.columns.numpy(), graph.row_pointers.numpy()]
        for arrays in zip(by_zarr, by_anndata, by_scipy, by_torch, strict=True):
            assert len({array.tobytes() for array in arrays}) == 1
            assert len({array.dtype for array in arrays}) == 1
        assert element.shape == (graph.num_vertices,) * 2


def test_zarr_sees_the_whole_hierarchy(store: Path) -> None:
    root = zarr.open_group(store, mode="r")
    assert sorted(root.group_keys()) == ["r2-24x16", "se2-16x16x6", "torus"]
    assert sorted(root["torus"].group_keys()) == ["v001"]
    version = root["torus/v001"]
    assert sorted(version.group_keys()) == ["levels", "pooling", "unpooling"]
    assert version.attrs["clg"]["schema"] == "1.0"
    assert root.attrs["clg"] == {"store_schema": 1}


def test_published_files_are_read_only(store: Path) -> None:
    for name in files(store / "torus" / "v001"):
        assert stat.S_IMODE((store / "torus" / "v001" / name).stat().st_mode) == 0o444


WRITING = (
    *("mkdir", "write", "pwrite", "posix_fallocate", "ftruncate"),
    *("fsync", "rename", "replace", "chmod"),
)


class FailingSystem:
    """Lets os calls pass until the one numbered `at`, which fails; counts them all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int, at: int) -> None:
        self.calls, self.code, self.at = 0, code, at
        for name in WRITING:
            monkeypatch.setattr(os, name, self.wrapped(getattr(os, name)))

    def wrapped(self, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            self.calls += 1
            if self.calls == self.at:
                raise OSError(self.code, os.strerror(self.code))
            return function(*arguments, **options)

        return call


def calls_of_a_build(folder: Path) -> int:
    with pytest.MonkeyPatch.context() as patch:
        system = FailingSystem(patch, 0, at=-1)
        build(SPEC, folder / "g.zarr", force=True)
    return system.calls


@pytest.mark.slow
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("existing", [False, True])
def test_any_refused_call_publishes_nothing_and_loses_nothing(
    tmp_path: Path, code: int, *, existing: bool
) -> None:
    """Every mkdir, write, fallocate, fsync, rename and chmod of a build fails in turn."""
    (tmp_path / "counted").mkdir()
    if existing:
        build(SPEC, tmp_path / "counted" / "g.zarr")
    calls = calls_of_a_build(tmp_path / "counted")
    assert calls > 60
    for at in range(1, calls + 1):
        store = tmp_path / ("same" if existing else str(at)) / "g.zarr"
        if existing and at == 1:
            build(SPEC, store)
        with pytest.MonkeyPatch.context() as patch:
            system = FailingSystem(patch, code, at)
            with pytest.raises(StoreError, match="Nothing was published") as caught:
                build(SPEC, store, force=True)
        assert system.calls >= at
        assert os.strerror(code) in str(caught.value)
        assert "\n" not in str(caught.value)
        if existing:
            assert [version.version for version in listing(store)] == ["v001"]
            assert layout.read_attributes(store / "r2-8x8") == {"refs": {"latest": "v001"}}
        elif layout.check_store(store):
            assert listing(store) == []
        assert leftovers(store) == []
    assert build(SPEC, store, force=True).version == ("v002" if existing else "v001")
    assert verify(store) == []


def test_build_that_would_not_fit_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"bytes are needed, .* are free.*free some space"):
        build(GraphSpec("se2", 30_000, orientations=18), tmp_path / "g.zarr")
    assert list(tmp_path.iterdir()) == []


def test_foreign_places_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="is a file"):
        build(SPEC, tmp_path / "file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match="other files"):
        build(SPEC, tmp_path / "folder")
    zarr.open_group(tmp_path / "foreign.zarr", mode="w")
    with pytest.raises(StoreError, match="another program"):
        build(SPEC, tmp_path / "foreign.zarr")
    build(SPEC, tmp_path / "ours.zarr")
    zarr.open_group(tmp_path / "ours.zarr" / "theirs", mode="w")
    with pytest.raises(StoreError, match="not a graph of ours"):
        build(SPEC, tmp_path / "ours.zarr", name="theirs")
    assert (tmp_path / "file").read_text() == "mine"
    assert files(tmp_path / "ours.zarr" / "theirs") == {"zarr.json"}
    assert [version.name for version in listing(tmp_path / "ours.zarr")] == ["r2-8x8"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "v001", "zarr.json", "x" * 65, "a@b", "-x", "é"])
def test_names_that_could_not_be_folders(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownGraphError, match="name must be"):
        build(SPEC, tmp_path / "g.zarr", name=name)
    assert list(tmp_path.iterdir()) == []


def test_listing(store: Path, tmp_path: Path) -> None:
    found = listing(store)
    assert [version.name for version in found] == ["r2-24x16", "se2-16x16x6", "torus"]
    assert found[1].vertices == (1536, 384)
    assert found[1].refs == ("latest",)
    for version in found:
        named = f"{version.name}@{version.version}"
        assert version.bytes == inspect(store, named, eigenvalues=0).bytes
    with pytest.raises(UnknownGraphError, match="no store"):
        listing(tmp_path / "nothing")


def test_replaced_file_is_whole_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    durable.replace(target, b"old", tmp_path / "temporary")

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="no"):
        durable.replace(target, b"new", tmp_path / "temporary")
    assert target.read_bytes() == b"old"
    assert files(tmp_path) == {"file"}


@pytest.mark.parametrize("given", ["se2", {"manifold": "se2", "size": 8}, None])
def test_what_is_no_specification_is_refused(tmp_path: Path, given: Any) -> None:
    with pytest.raises(TypeError, match=r"spec must be a GraphSpec, such as .* Got a \w+\.$"):
        build(given, tmp_path / "g.zarr")
    assert list(tmp_path.iterdir()) == []
