"""Stores that somebody changed are refused, whatever was changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import edit, extend, field, shape, to_fifo, to_folder, to_link, truncate

from cheblienet_models import StoreError, open_store


def put(index: int, value: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        values = np.fromfile(path, "<i4")
        values[index] = value
        values.tofile(path)

    return change


LAPLACIAN = "torus/v001/levels/0/laplacian"


METADATA = f"{LAPLACIAN}/data/zarr.json"


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


MUTATIONS += [
    ("torus/v001/zarr.json", lambda p, v=v: edit(p, lambda d: scale_of(d, v)))
    for v in (0, -1.5, "1", True, [1.0], float("inf"), float("nan"), 10**400)
]


def scale_of(document: dict[str, Any], value: object) -> None:
    document["attributes"]["clg"]["levels"][0]["eigenvalue_scale"] = value


@pytest.mark.parametrize(("where", "change"), MUTATIONS)
def test_mutated_stores_are_refused(
    copy: Path, where: str, change: Callable[[Path], object]
) -> None:
    change(copy / where)
    with pytest.raises(StoreError) as caught:
        open_store(copy)["torus"]
    assert len(str(caught.value)) < 2000
    if where != "zarr.json":
        assert open_store(copy)["se2-16x16x6"].levels  # its neighbors are not affected


def test_extra_attributes_are_tolerated(copy: Path) -> None:
    edit(copy / METADATA, lambda d: d["attributes"].update(note="mine"))
    edit(copy / "torus/zarr.json", lambda d: d["attributes"].update(note="mine"))
    assert open_store(copy)["torus"].levels
