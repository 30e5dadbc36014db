"""Matrices as they are mapped; damaged ones are in `tests/models/test_damaged_stores.py`."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from refusing import refused

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.limits import Range
from cheblienet_graphs.store import arrays as stored_arrays
from cheblienet_graphs.store.arrays import within
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.layout import (
    array_document,
    csr_attributes,
    dense_attributes,
    document_bytes,
    group_document,
)
from cheblienet_graphs.store.matrices import mapped_averages, mapped_csr


def resident(file: Path) -> int:
    """Bytes of a mapped file that are memory of this process."""
    maps = Path("/proc/self/smaps").read_text().partition(f" {file}\n")[2]
    return int(maps.partition("Rss:")[2].split()[0]) * 1024


def write(folder: Path, shape: tuple[int, int], **parts: np.ndarray) -> None:
    documents = {".": group_document(csr_attributes(shape))}
    for name, values in parts.items():
        documents[name] = array_document(values.shape, values.dtype.name, dense_attributes())
        (folder / name / "c").mkdir(parents=True)
        values.tofile(folder / name / "c" / "0")
    for node, document in documents.items():
        (folder / node / "zarr.json").write_bytes(document_bytes(document))


def test_checks_leave_no_pages_of_large_matrices_in_memory(tmp_path: Path) -> None:
    """They are read again where they are used, as they were."""
    entries = np.random.default_rng(5).random((2000, 3000)) < 0.1
    matrix = scipy.sparse.csr_array(entries / entries.sum(axis=1, keepdims=True))
    parts = {"data": "float32", "indices": "int32", "indptr": "int32"}
    given = {part: getattr(matrix, part).astype(dtype) for part, dtype in parts.items()}
    write(tmp_path / "m.zarr", matrix.shape, **given)
    with Folder(tmp_path).kept_open() as root:
        stored = mapped_averages(root / "m.zarr", matrix.shape)
    for part in ("data", "indices"):
        file = tmp_path / "m.zarr" / part / "c/0"
        assert resident(file) <= 0.1 * file.stat().st_size
        assert (getattr(stored, part) == given[part]).all()
        assert resident(file) >= 0.9 * file.stat().st_size


@pytest.mark.parametrize("sizes", [(3, 2, 2), (2, 3, 2), (2, 2, 4)])
def test_parts_of_unequal_lengths_are_refused(tmp_path: Path, sizes: tuple[int, int, int]) -> None:
    parts = np.ones(sizes[0], "float32"), np.arange(sizes[1], dtype="int32")
    pointers = np.minimum(np.arange(sizes[2], dtype="int32"), 2)
    write(tmp_path / "m.zarr", (1, 9), data=parts[0], indices=parts[1], indptr=pointers)
    with Folder(tmp_path).kept_open() as root:
        message = "(indptr|data) must have shape"
        refused(message, mapped_csr, root / "m.zarr", (1, 9), error=StoreError)


def test_all_blocks_of_an_array_are_within_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_arrays, "CHECKED_AT_ONCE", 3)
    array, allowed = Folder("a"), Range(-1, 1)
    assert within(array, np.ones(7), allowed).sum() == 7
    for place in range(7):
        for value in (2.0, -2.0, np.nan):
            values = np.ones(7)
            values[place] = value
            refused("not finite or outside", within, array, values, allowed, error=StoreError)
