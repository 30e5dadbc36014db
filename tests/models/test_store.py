"""Opening stores: zero-copy, silent, and closed to anything that is not ours."""

import gc
import json
import os
import pickle
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import zarr

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.store.writer import Staging
from cheblienet_models import StoreError, open_store
from cheblienet_models.store.csr import read_csr
from cheblienet_models.store.files import opened


@pytest.fixture
def copy(store: Path, tmp_path: Path) -> Path:
    """A private copy of the store, writable."""
    shutil.copytree(store, tmp_path / "g.zarr")
    for path in (tmp_path / "g.zarr").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "g.zarr"


def anonymous_kilobytes() -> int:
    """Private memory of this process, by the kernel's account."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return int(text.split("Anonymous:")[1].split()[0])


def test_mapping_interface(store: Path) -> None:
    opened = open_store(store)
    assert list(opened) == ["r2-24x16", "se2-16x16x6", "torus"]
    assert len(opened) == 3
    assert "torus" in opened
    assert "nothing" not in opened
    assert "torus@v001" in opened
    assert "torus@v002" not in opened
    assert "torus@" not in opened
    assert 3 not in opened
    assert opened["torus"].version == opened["torus@v001"].version == "v001"
    assert opened["torus@latest"].spec == opened["torus"].spec
    assert "torus" in repr(opened)


def test_pyramid(store: Path) -> None:
    pyramid = open_store(store)["se2-16x16x6"]
    assert (pyramid.name, pyramid.version) == ("se2-16x16x6", "v001")
    assert pyramid.spec["orientations"] == 6
    fine, coarse = pyramid.levels
    assert (fine.grid, coarse.grid) == ((6, 16, 16), (6, 8, 8))
    assert (fine.num_vertices, coarse.num_vertices) == (1536, 384)
    assert fine.coordinates.shape == (1536, 3)
    assert fine.degree.shape == fine.area.shape == (1536,)
    assert fine.num_edges == (len(fine.values) - 1536) // 2
    dense = fine.laplacian.to_dense()
    assert torch.equal(dense, dense.T)
    assert 1 < fine.lambda_max < 2


@pytest.mark.parametrize(
    "name", ["nothing", "torus@v002", "torus@paper", "torus@", "", "..", "../x", "a/b"]
)
def test_unknown_names(store: Path, name: str) -> None:
    with pytest.raises(StoreError, match=r"There: "):
        open_store(store)[name]
    with pytest.raises(KeyError):
        open_store(store)[name]


def test_names_are_text(store: Path) -> None:
    with pytest.raises(KeyError, match="name is text"):
        open_store(store)[3]


def test_places_that_are_no_store(tmp_path: Path) -> None:
    for path in ("nothing", ""):
        with pytest.raises(StoreError):
            open_store(tmp_path / path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="Not a directory"):
        open_store(tmp_path / "file")


def test_opening_copies_nothing_and_warns_of_nothing(tmp_path: Path) -> None:
    build(GraphSpec("se2", 128, orientations=6, levels=2), tmp_path / "g.zarr")
    opened = open_store(tmp_path / "g.zarr")
    opened["se2-128x128x6"]
    before = anonymous_kilobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pyramid = opened["se2-128x128x6"]
        product = pyramid.levels[0].laplacian @ torch.ones(pyramid.levels[0].num_vertices, 1)
    growth = anonymous_kilobytes() - before
    nbytes = 8 * len(pyramid.levels[0].values)
    assert nbytes > 10_000_000
    assert growth < nbytes / 1000 / 4
    assert product.abs().max() < 2
    names = ("levels/0/laplacian/data", "levels/0/laplacian/indices", "pooling/0to1/indices")
    maps = Path("/proc/self/maps").read_text()
    assert all(f"v001/{name}/c/0" in maps for name in names)


def test_laplacian_shares_the_buffers(store: Path) -> None:
    graph = open_store(store)["torus"].levels[0]
    assert graph.laplacian.values().data_ptr() == graph.values.data_ptr()
    assert graph.laplacian.col_indices().data_ptr() == graph.columns.data_ptr()


def test_writes_stay_private(store: Path) -> None:
    first, second = (open_store(store)["torus"].levels[0] for _ in range(2))
    first.values.zero_()
    assert second.values.abs().max() > 0


def test_maps_survive_deletion(copy: Path) -> None:
    graph = open_store(copy)["torus"].levels[0]
    expected = graph.values.clone()
    shutil.rmtree(copy)
    assert torch.equal(graph.values, expected)


def test_pickles_are_handles(store: Path) -> None:
    pyramid = open_store(store)["torus"]
    for thing in (pyramid, pyramid.levels[1], pyramid.pooling(0), pyramid.unpooling(0)):
        data = pickle.dumps(thing)
        assert len(data) < 1000
        again = pickle.loads(data)
        assert type(again) is type(thing)
        for a, b in zip(thing.buffers(), again.buffers(), strict=True):
            assert torch.equal(a, b)


def test_no_descriptor_outlives_its_maps(store: Path) -> None:
    def held() -> list[Path]:
        """Files of the store that are open; what else is open here is not ours to count."""
        gc.collect()
        descriptors = map(Path.resolve, Path("/proc/self/fd").iterdir())
        return [file for file in descriptors if store in (file, *file.parents)]

    opened = open_store(store)
    with (store / "zarr.json").open():
        assert store / "zarr.json" in held()  # the test can tell
    before = held()
    pyramids = [opened["torus"] for _ in range(20)]
    with pytest.raises(StoreError):
        opened["nothing"]
    pyramids.clear()
    assert held() == before


def edit(path: Path, change: Callable[[dict], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def extend(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def to_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def to_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put(index: int, value: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        values = np.fromfile(path, "<i4")
        values[index] = value
        values.tofile(path)

    return change


LAPLACIAN = "torus/v001/levels/0/laplacian"
METADATA = f"{LAPLACIAN}/data/zarr.json"


def shape(value: object) -> Callable[[Path], None]:
    return lambda path: edit(path, lambda d: d.update(shape=value))


def field(**values: object) -> Callable[[Path], None]:
    return lambda path: edit(path, lambda d: d.update(values))


CHUNK = f"{LAPLACIAN}/data/c/0"
MUTATIONS: list[tuple[str, Callable[[Path], object]]] = [
    (CHUNK, truncate),
    (CHUNK, extend),
    (CHUNK, Path.unlink),
    (CHUNK, to_link),
    (CHUNK, to_fifo),
    (CHUNK, to_folder),
    (LAPLACIAN, to_link),
    ("torus", to_link),
    ("torus/v001", to_link),
    (METADATA, to_link),
    (METADATA, Path.unlink),
    (METADATA, lambda path: path.write_text("{")),
    (METADATA, lambda path: path.write_text("[]")),
    (METADATA, lambda path: path.write_bytes(b"\xff\xfe")),
    (METADATA, lambda path: path.write_text("[" * 100_000)),
    (METADATA, lambda path: path.write_text('{"a": ' * 100_000)),
    (METADATA, lambda path: path.write_text(" " * 10_000_000)),
    (METADATA, lambda path: path.write_text('{"shape": [' + "9" * 5000 + "]}")),
    (METADATA, shape([-1])),
    (METADATA, shape([True])),
    (METADATA, shape([1e300])),
    (METADATA, shape([10**30])),
    (METADATA, shape([2**61])),
    (METADATA, shape([0])),
    ("torus/v001/levels/0/coordinates/zarr.json", shape([0, 2**62])),
    ("torus/v001/pooling/0to1/data/c/0", lambda p: p.write_bytes(b"\xff" * 4096)),
    ("torus/v001/pooling/0to1/data/c/0", lambda p: p.write_bytes(b"\0" * 4096)),
    ("torus/v001/pooling/0to1/indptr/c/0", put(-2, 1024)),
    ("torus/v001/unpooling/1to0/data/c/0", put(0, 0)),
    (METADATA, shape([])),
    (METADATA, shape("wide")),
    (METADATA, shape(None)),
    (METADATA, field(data_type="float64")),
    (METADATA, field(data_type="<f4")),
    (METADATA, field(data_type=["float32"])),
    (METADATA, field(codecs=[{"name": "bytes", "configuration": {"endian": "big"}}])),
    (METADATA, field(codecs=[{"name": "bytes"}, {"name": "zstd"}])),
    (METADATA, field(codecs=[{"name": "transpose", "configuration": {"order": [0]}}])),
    (METADATA, field(codecs=[])),
    (METADATA, field(zarr_format=2)),
    (METADATA, field(zarr_format=3.0)),
    (METADATA, field(node_type="group")),
    (METADATA, field(fill_value=1.0)),
    (METADATA, field(surprise=1)),
    (METADATA, field(chunk_grid={"name": "rectangular"})),
    (f"{LAPLACIAN}/indices/c/0", put(0, -1)),
    (f"{LAPLACIAN}/indices/c/0", put(5, 10**6)),
    (f"{LAPLACIAN}/indices/c/0", put(1, 0)),
    (f"{LAPLACIAN}/indptr/c/0", put(0, 1)),
    (f"{LAPLACIAN}/indptr/c/0", put(1, 10**6)),
    (f"{LAPLACIAN}/indptr/c/0", put(1, -5)),
    (f"{LAPLACIAN}/indptr/c/0", put(-1, 3)),
    (f"{LAPLACIAN}/zarr.json", lambda p: edit(p, lambda d: d["attributes"].update(shape=[1, 1]))),
    (f"{LAPLACIAN}/zarr.json", lambda p: edit(p, lambda d: d.update(attributes=[]))),
    (f"{LAPLACIAN}/zarr.json", lambda p: edit(p, lambda d: d["attributes"].clear())),
    ("torus/v001/levels/0/degree/zarr.json", shape([3])),
    ("torus/v001/zarr.json", lambda p: edit(p, lambda d: d["attributes"].clear())),
    ("torus/zarr.json", lambda p: edit(p, lambda d: d["attributes"].clear())),
    ("torus/zarr.json", lambda p: edit(p, lambda d: d["attributes"]["clg"].update(refs=[1]))),
    ("zarr.json", lambda p: edit(p, lambda d: d["attributes"]["clg"].update(store_schema=2))),
]


def clg(**values: object) -> Callable[[Path], None]:
    return lambda path: edit(path, lambda d: d["attributes"]["clg"].update(values))


MUTATIONS += [
    ("torus/v001/zarr.json", change)
    for change in (
        clg(schema="2.0"),
        clg(schema=1),
        clg(levels=[]),
        clg(levels=[1, 2]),
        clg(levels="many"),
        clg(levels=[{"lambda_max": 0}] * 2),
        clg(levels=[{"lambda_max": True}] * 2),
        clg(levels=[{"lambda_max": 10**400}] * 2),
        clg(levels=[{"lambda_max": float("inf")}] * 2),
        clg(levels=[{"lambda_max": 1.4}] * 40),
        clg(spec=None),
        clg(levels=[{"grid": [4, 16.0, 16], "lambda_max": 1.5}] * 2),
        clg(levels=[{"grid": [4, 16, 17], "lambda_max": 1.5}] * 2),
        clg(levels=[{"grid": [1024], "lambda_max": 1.5}] * 2),
        clg(levels=[{"grid": 1024, "lambda_max": 1.5}] * 2),
        clg(levels=[{"grid": [4, True, 256], "lambda_max": 1.5}] * 2),
        clg(levels=[{"grid": [4, 1, 1, 1, 16, 16], "lambda_max": 1.5}] * 2),
        clg(spec_sha256=3),
    )
]


@pytest.mark.parametrize(("where", "change"), MUTATIONS)
def test_mutated_stores_are_refused(
    copy: Path, where: str, change: Callable[[Path], object]
) -> None:
    change(copy / where)
    with pytest.raises(StoreError) as caught:
        open_store(copy)["torus"]
    assert len(str(caught.value)) < 2000
    if where != "zarr.json":
        assert open_store(copy)["se2-16x16x6"].levels  # its neighbours are not affected


def test_extra_attributes_are_tolerated(copy: Path) -> None:
    edit(copy / METADATA, lambda d: d["attributes"].update(note="mine"))
    edit(copy / "torus/zarr.json", lambda d: d["attributes"].update(note="mine"))
    assert open_store(copy)["torus"].levels


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
        with opened(str(staging.path)) as root, warnings.catch_warnings():
            warnings.simplefilter("error")
            for name, dtype, shape in (
                ("zeros", "float64", (5,)),
                ("nothing", "float32", (0,)),
                ("wide", "float64", (3, 0)),
            ):
                array = (root / name).array((dtype,), len(shape))
                assert array.shape == shape
                assert not array.any()
                by_zarr = zarr.open_array(staging.path / name, mode="r")[:]
                assert (by_zarr.shape, by_zarr.dtype) == (array.shape, array.dtype)
            assert len(read_csr(root / "empty", (3, 4)).data) == 0
            matrix = read_csr(root / "gaps", (4, 4))
            assert matrix.data.tolist() == [2, 5]
            with pytest.raises(StoreError, match="must have shape"):
                read_csr(root / "gaps", (4, 5))
        assert (staging.path / "zeros" / "c" / "0").stat().st_size == 40


def test_missing_chunk_is_refused_where_zarr_reads_zeros(copy: Path) -> None:
    (copy / CHUNK).unlink()
    assert not zarr.open_array(copy / LAPLACIAN / "data", mode="r")[:].any()
    with pytest.raises(StoreError, match="No such file"):
        open_store(copy)["torus"]
