"""Matrices read in blocks of rows: products, and views instead of copies."""

from pathlib import Path

import numpy as np
from examined import laplacian_of, random_matrix
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs.sparse.products import mapped_product
from cheblienet_graphs.sparse.rows import row_blocks, rows


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 30))
def test_blocks_cover_all_rows_once(degrees: list[int], entries: int) -> None:
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int32)]).astype(np.int32)
    blocks = list(row_blocks(indptr, entries))
    assert [row for block in blocks for row in range(*block)] == list(range(len(degrees)))
    for start, stop in blocks:
        assert indptr[stop] - indptr[start] <= max(entries, max(degrees[start:stop]))
        assert stop - start == 1 or indptr[stop] - indptr[start] <= entries


@given(st.integers(1, 60), st.floats(0, 0.4), st.integers(0, 99), st.integers(1, 50))
def test_products_are_the_same_in_blocks(
    size: int, density: float, seed: int, entries: int
) -> None:
    matrix = random_matrix(size, density, seed)
    by_blocks = mapped_product(matrix, cast_at_once=-1, entries=entries)
    for shape in ((size,), (size, 3)):
        x = np.random.default_rng(seed).standard_normal(shape)
        assert np.array_equal(by_blocks(x), mapped_product(matrix)(x))
        assert np.allclose(by_blocks(x), matrix.toarray().astype(float) @ x, atol=1e-12)


def test_rows_are_views(versions: Path) -> None:
    matrix = laplacian_of(versions, "open")
    part = rows(matrix, 100, 250)
    assert np.shares_memory(part.data, matrix.data)
    assert np.shares_memory(part.indices, matrix.indices)
    assert np.array_equal(part.toarray(), matrix.toarray()[100:250])
    assert len(part.data) == len(part.indices) == part.indptr[-1]
