"""Matrices of three arrays against dense ones, and faults against the rules, row by row."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cheblienet_graphs.csr import Csr

DENSE = arrays(
    np.float32, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.sampled_from([0, 1, 2])
)


def of(dense: np.ndarray) -> Csr:
    matrix = scipy.sparse.csr_array(dense)
    return Csr(dense.shape, matrix.indptr, matrix.indices, matrix.data)


@given(DENSE, st.data())
def test_a_matrix_and_its_blocks_are_those_of_scipy(dense: np.ndarray, data: st.DataObject) -> None:
    matrix = of(dense)
    start = data.draw(st.integers(0, len(dense)))
    stop = data.draw(st.integers(start, len(dense)))
    block = matrix.block(start, stop)
    assert np.array_equal(matrix.scipy().toarray(), dense)
    assert np.array_equal(block.scipy().toarray(), dense[start:stop])
    assert block.shape == (stop - start, dense.shape[1])
    assert np.shares_memory(block.data, matrix.data) or not block.nnz
    assert matrix.fault() is None
    assert block.fault() is None
    assert matrix.nnz == np.count_nonzero(dense)
    assert matrix.rows.tolist() == np.nonzero(dense)[0].tolist()
    assert np.array_equal(Csr.empty(dense.shape).scipy().toarray(), np.zeros_like(dense))
    assert Csr.empty(dense.shape).fault() is None


@given(DENSE)
def test_means_are_by_weight(dense: np.ndarray) -> None:
    dense[:, 0] += 1  # each row has some
    rows, columns = np.nonzero(dense)
    means = Csr.means(rows, columns, dense[rows, columns].astype(float), dense.shape)
    np.testing.assert_allclose(means.scipy().toarray(), dense / dense.sum(axis=1, keepdims=True))


def faulty(pointers: list[int], columns: list[int], width: int) -> bool:
    """Whether a product would read what is not there, or a column twice or out of order."""
    if pointers[0] != 0 or pointers[-1] != len(columns) or pointers != sorted(pointers):
        return True
    rows = [columns[a:b] for a, b in pairwise(pointers)]
    within = all(0 <= column < width for column in columns)
    return not within or any(row != sorted(set(row)) for row in rows)


@given(
    st.lists(st.integers(-1, 4), min_size=2, max_size=5),
    st.lists(st.integers(-1, 3), max_size=4),
    st.integers(1, 3),
)
def test_what_is_no_matrix_is_a_fault(pointers: list[int], columns: list[int], width: int) -> None:
    values = np.ones(len(columns), np.float32)
    for ends in (pointers, [0, *sorted(pointers)[1:-1], len(columns)]):
        shape = len(ends) - 1, width
        matrix = Csr(shape, np.array(ends, np.int32), np.array(columns, np.int32), values)
        assert (matrix.fault() is not None) == faulty(ends, columns, width)


@pytest.mark.parametrize(
    ("pointers", "columns", "fault"),
    [
        ([0, 2, 2, 4], [0, 1, 1, 0], "columns do not ascend in every row"),
        ([0, 0, 2, 4], [0, 1, 0, 2], None),
        ([0, 2, 4, 4], [0, 1, 0, 2], None),
        ([0, 1, 2, 4], [0, 1, 0, 3], r"columns reach outside [0, 3)"),
        ([0, 3, 2, 4], [0, 1, 0, 2], "row pointers do not ascend from 0 to 4"),
    ],
)
def test_faults_say_what_is_wrong(
    pointers: list[int], columns: list[int], fault: str | None
) -> None:
    """Rows without entries are none, wherever they are."""
    parts = np.array(pointers), np.array(columns), np.ones(4, np.float32)
    assert Csr((3, 3), *parts).fault() == fault
