"""Matrices in blocks of rows, against dense algebra, another library and exact fractions."""

import math
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from examined import laplacian_of, random_matrix
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph, csr_array

from cheblienet_graphs import sparse
from cheblienet_graphs.sparse import RowBlock, laplacian, mapped_product, rows, with_diagonal


def weighted_graph(size: int, density: float, seed: int) -> csr_array:
    """Symmetric weights from 0.5 on, none on the diagonal; some vertices have no edges."""
    pattern = random_matrix(size, density, seed).toarray() != 0
    weights = np.random.default_rng(seed).uniform(0.5, 2, (size, size))
    upper = np.triu(weights * (pattern | pattern.T), 1)
    return csr_array(upper + upper.T)


def block_of(graph: csr_array, start: int, stop: int) -> RowBlock:
    """The rows start..stop of a graph, with their vertices themselves."""
    degrees = np.diff(graph.indptr)[start:stop]
    columns = graph.indices[graph.indptr[start] : graph.indptr[stop]]
    return with_diagonal(start, degrees, columns, np.ones(len(columns)))[0]


def dense(block: RowBlock, values: np.ndarray, size: int) -> np.ndarray:
    shape = (block.stop - block.start, size)
    return csr_array((values, block.columns, block.indptr), shape=shape).toarray()


GRAPHS = (st.integers(1, 30), st.floats(0, 0.3), st.integers(0, 99))


@given(*GRAPHS)
def test_sums_do_not_depend_on_the_order_of_a_row(size: int, density: float, seed: int) -> None:
    block = block_of(weighted_graph(size, density, seed), 0, size)
    generator = np.random.default_rng(seed)
    values = 10.0 ** generator.uniform(-9, 9, len(block.columns))
    sums = block.sums(values)
    parts = np.split(values, block.indptr[1:-1])
    assert sums.tolist() == [sum(sorted(part)) for part in parts]  # from the least on
    assert sums == pytest.approx([math.fsum(part) for part in parts], rel=1e-14)
    shuffled = np.concatenate([generator.permutation(part) for part in parts])
    assert np.array_equal(block.sums(shuffled), sums)


@given(*GRAPHS, st.booleans(), st.integers(1, 30), st.floats(0.1, 50))
def test_the_laplacian_by_definition(
    size: int, density: float, seed: int, normalized: bool, rows: int, lambda_max: float
) -> None:
    """In blocks of rows, each vertex inserted among its neighbors; rescaled, too."""
    graph = weighted_graph(size, density, seed)
    degree = graph.toarray().sum(axis=1)
    area = np.random.default_rng(seed).uniform(0.5, 2, size)
    root = sparse.inverse_root(degree if normalized else area)
    delta, scaled = [], []
    for start in range(0, size, rows):
        block = block_of(graph, start, min(start + rows, size))
        weights = graph.toarray()[block.rows, block.columns]
        values = laplacian(block, weights, degree, root)
        single = sparse.rescaled(values.astype(np.float32), block.rows == block.columns, lambda_max)
        delta.append(dense(block, values, size))
        scaled.append(dense(block, single, size))
    whole = np.concatenate(delta)
    assert np.array_equal(whole, whole.T)
    if normalized:
        expected = csgraph.laplacian(graph, normed=True).toarray()
    else:
        expected = (np.diag(degree) - graph.toarray()) / np.sqrt(np.outer(area, area))
    assert np.allclose(whole, expected, rtol=1e-13, atol=1e-13)
    expected = 2 / lambda_max * whole.astype(np.float32).astype(np.float64) - np.eye(size)
    assert np.allclose(np.concatenate(scaled), expected, rtol=1e-14, atol=1e-14)


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 30))
def test_blocks_cover_all_rows_once(degrees: list[int], entries: int) -> None:
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int32)]).astype(np.int32)
    blocks = list(sparse.row_blocks(indptr, entries))
    assert [row for block in blocks for row in range(*block)] == list(range(len(degrees)))
    assert all(b - a == 1 or indptr[b] - indptr[a] <= entries for a, b in blocks)


@pytest.mark.parametrize("spare", [-1, 0])
def test_matrices_of_up_to_the_limit_are_cast_once(spare: int) -> None:
    matrix = random_matrix(30, 0.2, 0)
    with patch.object(sparse, "CAST_AT_ONCE", matrix.nnz + spare):
        product = mapped_product(matrix)
    x = np.random.default_rng(0).standard_normal(30)
    before = product(x)
    matrix.data[:] = 0  # what was cast does not see it
    assert np.array_equal(product(x), before if spare >= 0 else np.zeros(30))


@given(st.integers(1, 60), st.floats(0, 0.4), st.integers(0, 99), st.integers(1, 50))
def test_products_are_those_of_float64_in_any_blocks(
    size: int, density: float, seed: int, entries: int
) -> None:
    matrix = random_matrix(size, density, seed)
    for shape in ((size,), (size, 1), (size, 3)):
        x = np.random.default_rng(seed).standard_normal(shape)
        whole = mapped_product(matrix)(x)
        with patch.multiple(sparse, CAST_AT_ONCE=-1, CAST_TOGETHER=entries):
            assert np.array_equal(mapped_product(matrix)(x), whole)
        exact = matrix.toarray().astype(np.float64) @ x
        assert whole.dtype == np.float64
        assert np.allclose(whole, exact, rtol=1e-13, atol=1e-14)
        shift = np.random.default_rng(seed + 1).standard_normal(size)
        shifted = mapped_product(matrix, shift)(x)
        assert np.allclose(shifted, whole + np.diag(shift) @ x, rtol=1e-13, atol=1e-13)


def test_a_shift_of_the_diagonal_gives_the_null_vector_back() -> None:
    """-1 belongs to the root of the masses, but for what float32 rounds away."""
    graph = weighted_graph(60, 0.03, 0)
    root = np.sqrt(graph.sum(axis=1))
    assert 0 < np.count_nonzero(root == 0) < 30
    inverse = np.divide(1, root, out=np.zeros(60), where=root > 0)
    delta = np.eye(60) - inverse[:, None] * graph.toarray() * inverse
    matrix = csr_array((2 / 1.7 * delta - np.eye(60)).astype(np.float32))
    shift = sparse.null_shift(matrix, root)
    assert np.all(shift[root == 0] == 0)
    assert 0 < abs(shift).max() < 1e-6
    assert mapped_product(matrix, shift)(root) == pytest.approx(-root, rel=1e-14, abs=1e-15)


def test_rows_are_views(versions: Path) -> None:
    matrix = laplacian_of(versions, "open")
    part = rows(matrix, 100, 250)
    assert np.shares_memory(part.data, matrix.data)
    assert np.shares_memory(part.indices, matrix.indices)
    assert np.array_equal(part.toarray(), matrix.toarray()[100:250])
    assert len(part.data) == len(part.indices) == part.indptr[-1]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40), st.integers(0, 40))
def test_exact_sums(values: list[float], split: int) -> None:
    array = np.array(values, float)
    exact = sum((Fraction(value) for value in values), Fraction())
    assert Fraction(sparse.exact_sum(array), 2**1127) == exact
    assert sparse.exact_sum(array) == sparse.exact_sum(array[:split]) + sparse.exact_sum(
        array[split:]
    )
    times = np.arange(len(array)) % 3
    assert sparse.exact_sum(array, times) == sparse.exact_sum(np.repeat(array, times))
    if sum(abs(Fraction(value)) for value in values) < 2**1000:  # else fsum itself may overflow
        assert sparse.rounded(sparse.exact_sum(array)) == math.fsum(values)
