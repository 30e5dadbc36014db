"""CSR matrices: their encoding, and those whose rows are averages."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import zarr

from cheblienet_models import StoreError
from cheblienet_models.store.csr import ENCODING, read_averages, read_csr
from cheblienet_models.store.files import opened

MAP = "torus/v001/pooling/0to1"


def read(store: Path, shape: tuple[int, int], *, averages: bool) -> object:
    with opened(str(store)) as root:
        return (read_averages if averages else read_csr)(root / MAP, shape)


@pytest.fixture
def shape(copy: Path) -> tuple[int, int]:
    rows, columns = zarr.open_group(copy / MAP, mode="r").attrs["shape"]
    return rows, columns


def empty_row(folder: Path) -> None:
    """The first row's entries go to the second."""
    pointers, columns = (zarr.open_array(folder / name) for name in ("indptr", "indices"))
    both = int(pointers[2])
    pointers[1], columns[:both] = 0, sorted(columns[:both])


def negative_weight(folder: Path) -> None:
    weights = zarr.open_array(folder / "data")
    weights[0], weights[1] = -weights[0], weights[1] + 2 * weights[0]


def other_sum(folder: Path) -> None:
    weights = zarr.open_array(folder / "data")
    weights[0] = 1.01 * weights[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (empty_row, "weights from 0 in every row"),
        (negative_weight, "weights from 0 in every row"),
        (other_sum, "rows that sum to 1"),
    ],
)
def test_averages(
    copy: Path, shape: tuple[int, int], change: Callable[[Path], None], message: str
) -> None:
    read(copy, shape, averages=True)
    change(copy / MAP)
    read(copy, shape, averages=False)
    with pytest.raises(StoreError, match=f"must have {message}"):
        read(copy, shape, averages=True)


def test_the_first_column_outside_is_refused(copy: Path, shape: tuple[int, int]) -> None:
    """The last entry, which still ascends: the least that would be read beyond a signal."""
    columns = zarr.open_array(copy / MAP / "indices")
    columns[-1] = shape[1]
    with pytest.raises(StoreError, match=rf"columns reach outside \[0, {shape[1]}\)"):
        read(copy, shape, averages=False)


def resident(file: Path) -> int:
    """Bytes of a mapped file that are memory of this process."""
    maps = Path("/proc/self/smaps").read_text().partition(f" {file}\n")[2]
    return int(maps.partition("Rss:")[2].split()[0]) * 1024


def test_checks_leave_no_pages_of_large_matrices_in_memory(tmp_path: Path) -> None:
    """They are read again where they are used, as they were."""
    matrix = scipy.sparse.random_array((2000, 3000), density=0.1, format="csr", rng=5)
    matrix.data = np.ones(matrix.nnz)
    matrix = scipy.sparse.csr_array(matrix / np.maximum(matrix.sum(axis=1), 1)[:, None])
    parts = {"data": ("<f4", "float32"), "indices": ("<i4", "int32"), "indptr": ("<i4", "int32")}
    group = zarr.open_group(tmp_path / "m.zarr", mode="w", zarr_format=3)
    group.attrs.update({**ENCODING, "shape": [*matrix.shape]})
    for part, (kind, dtype) in parts.items():
        values = getattr(matrix, part).astype(kind)
        raw = {"compressors": None, "filters": None, "fill_value": 0, "chunks": values.shape}
        group.create_array(part, shape=values.shape, dtype=dtype, **raw)[:] = values
    with opened(str(tmp_path)) as root:
        stored = read_averages(root / "m.zarr", matrix.shape)
    for part in ("data", "indices"):
        file = tmp_path / "m.zarr" / part / "c/0"
        assert resident(file) <= 0.1 * file.stat().st_size
        assert (getattr(stored, part) == getattr(matrix, part).astype(parts[part][0])).all()
        assert resident(file) >= 0.9 * file.stat().st_size
