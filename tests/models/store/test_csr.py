"""CSR matrices in memory; damaged ones are in `test_mutations.py`."""

from pathlib import Path

import numpy as np
import scipy.sparse
import zarr

from cheblienet_models.store.csr import ENCODING, read_averages
from cheblienet_models.store.files import opened


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
