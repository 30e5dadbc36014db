"""Whether a stored Laplacian is symmetric, in blocks of rows."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from examined import laplacian_of

from cheblienet_graphs.store.agreement import is_symmetric


def changed(matrix: scipy.sparse.csr_array, what: str) -> scipy.sparse.csr_array:
    """With one entry of another value, or missing, or moved within its row."""
    entries = matrix.tocoo()
    row, column, data = *entries.coords, entries.data.copy()
    place = np.flatnonzero(row != column)[7]
    keep = np.ones(len(data), bool)
    if what == "value":
        data[place] += 0.25
    elif what == "missing":
        keep[place] = False
    else:
        taken = set(column[row == row[place]])
        column = column.copy()
        column[place] = next(c for c in range(matrix.shape[1]) if c not in taken)
    parts = (data[keep], (row[keep], column[keep]))
    found = scipy.sparse.csr_array(parts, shape=matrix.shape)
    found.sort_indices()
    return found


@pytest.mark.parametrize("entries", [1, 30, 10**6])
@pytest.mark.parametrize("name", ["open", "sphere", "random"])
def test_symmetry_in_blocks(versions: Path, name: str, entries: int) -> None:
    laplacian = laplacian_of(versions, name)
    assert is_symmetric(laplacian, entries)
    for what in ("value", "missing", "moved"):
        for matrix in (
            changed(laplacian, what),
            scipy.sparse.csr_array(changed(laplacian, what).T),
        ):
            matrix.sort_indices()
            assert (matrix != matrix.T).nnz
            assert not is_symmetric(matrix, entries)
