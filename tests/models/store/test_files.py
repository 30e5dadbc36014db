"""Reading files and documents: as they were written, as zarr reads them, or not at all."""

import errno
import math
import os
import warnings
from functools import partial
from pathlib import Path

import pytest
import zarr
from damage import edit
from refusing import refused

from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.store.writer import Staging
from cheblienet_models import StoreError, open_store
from cheblienet_models.store import files
from cheblienet_models.store.csr import read_csr
from cheblienet_models.store.files import canonical, opened, parsed


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
                array = (root / name).array((dtype,), shape)
                assert array.shape == shape
                assert not array.any()
                by_zarr = zarr.open_array(staging.path / name, mode="r")[:]
                assert (by_zarr.shape, by_zarr.dtype) == (array.shape, array.dtype)
            assert len(read_csr(root / "empty", (3, 4)).data) == 0
            matrix = read_csr(root / "gaps", (4, 4))
            assert matrix.data.tolist() == [2, 5]
            refused("must have shape", read_csr, root / "gaps", (4, 5), error=StoreError)
        assert (staging.path / "zeros" / "c" / "0").stat().st_size == 40


def test_metadata_that_the_system_can_not_read(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "pread", fail)
    message = r"zarr\.json can't be read: Input/output error"
    refused(message, open_store, copy, error=StoreError)


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
    texts = [canonical({"a": [value]}) for value in (1, 1.0, True, "1", None, [1], {})]
    assert len(set(texts)) == len(texts)
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})


def test_documents() -> None:
    assert parsed(b'{"a": [1, 1.5, -2e3, "\xc3\xa9", null]}') == {"a": [1, 1.5, -2000.0, "é", None]}
    for text in (b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"\xff", b"{", b""):
        with pytest.raises(ValueError):  # noqa: PT011 -- words are those of Python
            parsed(text)


def test_other_shapes_and_facts_say_where_they_are(copy: Path) -> None:
    with opened(str(copy)) as root:
        degree, places = (root / f"torus/v001/levels/0/{n}" for n in ("degree", "coordinates"))
        message = r"levels/0/degree must have shape \[7\]\. Got \[1024\]\.$"
        refused(message, degree.array, ("float32",), (7,), error=StoreError)
        message = r"coordinates must have shape \[any, 2\]\. Got \[1024, 3\]\.$"
        refused(message, places.array, ("float64",), (None, 2), error=StoreError)
    grids, count = ([4], [4] * 6, [0, 4], [4, 2**31]), partial(files.read_count, most=10)
    for read, what, values in (
        (files.read_number, r"number in \(0, 1e\+15\]", (0, -1, 10**400, math.nan, True, "1")),
        (count, r"count in \[1, 10\]", (0, 11, True, 1.0, "1")),
        (files.read_grid, "grid of orientations and 1 to 4 sides", grids),
    ):
        for value in values:
            message = rf"^here must have (a )?{what}\. Got "
            refused(message, read, "here", what.split()[0], value, error=StoreError)
    assert files.read_number("here", "number", 0, zero=True) == 0
