"""Files of a store are read as they were written, and as zarr reads them, or not at all."""

import errno
import json
import os
import shutil
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zarr
from damage import edit
from refusing import refused

from cheblienet_graphs import StoreError, UnreadableError, verify
from cheblienet_graphs.store import arrays, catalog, layout
from cheblienet_graphs.store import folder as stored_folder
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.documents import MAX_METADATA, parsed_document
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.matrices import mapped_csr
from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.store.writer import Staging
from cheblienet_models import open_store


@pytest.fixture
def copy(store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(store, tmp_path / "graphs.zarr"))


def test_extreme_arrays_read_as_they_were_written(tmp_path: Path) -> None:
    """All-zero, 0-length, without entries, with empty rows: by our reader and by zarr."""
    staging = Staging(tmp_path / "g.zarr", "g", 0)
    with staging:
        staging.dense("zeros", (5,), "float64")
        staging.dense("nothing", (0,), "float32")
        staging.dense("wide", (3, 0), "float64")
        empty = staging.csr("empty", (3, 4), 0)
        gaps = staging.csr("gaps", (4, 4), 2)
        with Writer() as out:
            out.write(empty.indptr, 0, [0] * 4)
            out.write(gaps.indptr, 0, [0, 0, 1, 1, 2])
            out.write(gaps.indices, 0, [3, 0])
            out.write(gaps.data, 1, [5])
            out.write(gaps.data, 0, [2])
        with Folder(staging.path).kept_open() as root, warnings.catch_warnings():
            warnings.simplefilter("error")
            for name, dtype, shape in (
                ("zeros", "float64", (5,)),
                ("nothing", "float32", (0,)),
                ("wide", "float64", (3, 0)),
            ):
                array = mapped_array(root / name, shape, (dtype,))
                assert array.shape == shape
                assert not array.any()
                by_zarr = zarr.open_array(staging.path / name, mode="r")[:]
                assert (by_zarr.shape, by_zarr.dtype) == (array.shape, array.dtype)
            assert len(mapped_csr(root / "empty", (3, 4)).data) == 0
            matrix = mapped_csr(root / "gaps", (4, 4))
            assert matrix.data.tolist() == [2, 5]
            refused("must have shape", mapped_csr, root / "gaps", (4, 5), error=StoreError)
        assert (staging.path / "zeros" / "c" / "0").stat().st_size == 40


def test_metadata_that_the_system_can_not_read(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "pread", fail)
    message = r"zarr\.json can't be read: Input/output error"
    refused(message, open_store, copy, error=StoreError)


def test_arrays_that_the_system_can_not_map(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays._LIBRARY, "mmap", lambda *_: arrays._FAILED)
    monkeypatch.setattr(arrays.ctypes, "get_errno", lambda: errno.ENOMEM)
    with pytest.raises(UnreadableError, match=r"Cannot allocate memory.* no fault of the store"):
        mapped_array(Folder(copy) / "torus/v001/levels/0/area")


def test_metadata_are_as_deep_as_is_allowed_and_no_deeper(copy: Path) -> None:
    def nested(depth: int) -> list | None:
        return [nested(depth - 1)] if depth else None

    for depth, opens in ((29, True), (30, False)):  # within three objects
        edit(copy / "zarr.json", lambda d, n=depth: d["attributes"]["clg"].update(more=nested(n)))
        if opens:
            assert "torus" in open_store(copy)
        else:
            refused("nested more than 32 deep", open_store, copy, error=StoreError)


def test_values_differ_in_kind_too() -> None:
    texts = [layout.canonical({"a": [value]}) for value in (1, 1.0, True, "1", None, [1], {})]
    assert len(set(texts)) == len(texts)
    assert layout.canonical({"a": 1, "b": 2}) == layout.canonical({"b": 2, "a": 1})


def test_documents() -> None:
    node = b'{"node_type": "group", "a": [1, 1.5, -2e3, "\xc3\xa9", null]}'
    assert parsed_document(node, "here")["a"] == [1, 1.5, -2000.0, "é", None]
    utf_16 = json.dumps({"node_type": "group"}).encode("utf-16")
    for text in (b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"\xff", b"{", b"", utf_16):
        refused("here is not JSON", parsed_document, text, "here", error=StoreError)
    for text in (b"{}", b"[]", b'{"node_type": "file"}'):
        refused("here is not a zarr v3 document", parsed_document, text, "here", error=StoreError)


def test_other_shapes_say_where_they_are(copy: Path) -> None:
    level = Folder(copy) / "torus/v001/levels/0"
    message = r"levels/0/degree must have shape \[7\]\. Got \[1024\]\.$"
    refused(message, mapped_array, level / "degree", (7,), error=StoreError)
    message = r"coordinates must have shape \[any, 2\]\. Got \[1024, 3\]\.$"
    refused(message, mapped_array, level / "coordinates", (None, 2), error=StoreError)
    message = r"degree must be of type int32 or int64\. Got 'float32'\.$"
    types = ("int32", "int64")
    refused(message, mapped_array, level / "degree", None, types, error=StoreError)


def test_maps_outlive_their_folder_and_are_private(copy: Path) -> None:
    """They take no descriptor, end with the last array, and writing changes no file."""
    file = copy / "torus/v001/levels/0/area/c/0"
    before, descriptors = file.read_bytes(), len(os.listdir("/proc/self/fd"))
    areas = [mapped_array(Folder(copy) / "torus/v001/levels/0/area") for _ in range(50)]
    part = areas[0][3:5]
    areas[1][:] = 7
    assert file.read_bytes() == before
    assert len(os.listdir("/proc/self/fd")) < descriptors + 25  # other threads may have some
    del areas
    assert part.tolist() == pytest.approx([1, 1])
    maps = Path("/proc/self/maps").read_text
    assert maps().count(str(file)) == 1
    del part
    assert str(file) not in maps()


@pytest.mark.parametrize(
    "put",
    [Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path.with_name("a"))],
    ids=["folder", "pipe", "link"],
)
def test_only_files_are_files(tmp_path: Path, put: Callable[[Path], object]) -> None:
    (tmp_path / "a").write_text("mine")
    put(tmp_path / "b")
    file = Folder(tmp_path) / "b"
    assert (Folder(tmp_path) / "a").contents() == b"mine"
    refused("is not a regular file|is a link", file.contents, error=StoreError)
    refused("is not a regular file|is a link", file.sha256, error=StoreError)


def test_large_documents_are_not_read(tmp_path: Path) -> None:
    for size in (MAX_METADATA, MAX_METADATA + 1):
        (tmp_path / "a").write_bytes(b" " * size)
        file = Folder(tmp_path) / "a"
        if size == MAX_METADATA:
            assert len(file.contents()) == size
        else:
            refused("has 4,194,305 bytes; 4,194,304 are allowed", file.contents, error=StoreError)


@pytest.mark.parametrize("path", ["..", "../a", "a/../b", "", "a//b", ".hidden", "/etc", "a b"])
def test_paths_stay_below(tmp_path: Path, path: str) -> None:
    refused("is no path below a graph", Folder(tmp_path).__truediv__, path, error=StoreError)


def test_a_folder_is_a_path_for_others(tmp_path: Path) -> None:
    folder = Folder(tmp_path) / "a/b"
    assert (os.fspath(folder), Path(folder), folder.name) == (
        f"{tmp_path}/a/b",
        tmp_path / "a/b",
        "b",
    )
    assert folder.parent == Folder(tmp_path) / "a" == Folder(tmp_path / "a")
    assert Folder(tmp_path / "a").parent.name == tmp_path.name
    assert len({folder, Folder(tmp_path / "a/b")}) == 1
    assert folder.status() is None


def test_what_is_removed_while_a_folder_is_listed_is_left_out(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: [*listed(folder), "v009"])
    names = catalog.graph_names(Folder(copy))
    assert names == sorted(open_store(copy).keys())
    assert catalog.versions(Folder(copy) / names[0]) == ["v001"]
    assert verify(copy) == []


def test_few_folders_are_kept_open_for_many_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_folder, "MOST_KEPT", 5)
    paths = [f"{a}/{b}/{c}" for a in "abcd" for b in "abcd" for c in "abcd"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    with Folder(tmp_path).kept_open() as root, ThreadPoolExecutor(8) as pool:
        opened = [root / path for path in paths]
        for _ in range(20):
            assert list(pool.map(Folder.contents, opened)) == [path.encode() for path in paths]
            assert [name for name, _ in (root / "b").entries()] == ["a", "b", "c", "d"]
            files = [path.resolve() for path in Path("/proc/self/fd").iterdir()]
            assert sum(file.is_relative_to(tmp_path.resolve()) for file in files) <= 7
    (tmp_path / "a/a").rename(tmp_path / "a/e")
    refused("can't be read: No such", opened[0].contents, error=StoreError)
    assert opened[-1].contents() == b"d/d/d"
