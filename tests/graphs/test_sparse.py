"""Matrices in blocks of rows, against dense algebra, another library and exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from examined import random_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph, csr_array

from cheblienet_graphs.sparse import (
    CAST_AT_ONCE,
    RowBlock,
    exact_sum,
    inverse_root,
    laplacian,
    mapped_product,
    rescaled,
    rounded,
    row_blocks,
    rows,
    with_diagonal,
)


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
    return with_diagonal(start, degrees, columns)


def dense(block: RowBlock, values: np.ndarray, size: int) -> np.ndarray:
    shape = (block.stop - block.start, size)
    return csr_array((values, block.columns, block.indptr), shape=shape).toarray()


GRAPHS = (st.integers(1, 30), st.floats(0, 0.3), st.integers(0, 99))


@settings(deadline=None)
@given(*GRAPHS, st.data())
def test_each_vertex_is_inserted_among_its_neighbors(
    size: int, density: float, seed: int, data: st.DataObject
) -> None:
    graph = weighted_graph(size, density, seed)
    start = data.draw(st.integers(0, size - 1))
    stop = data.draw(st.integers(start + 1, size))
    block = block_of(graph, start, stop)
    neighbors = graph.toarray()[start:stop] != 0
    expected = [
        sorted({row, *np.flatnonzero(neighbors[row - start])}) for row in range(start, stop)
    ]
    assert (block.start, block.stop) == (start, stop)
    assert block.indptr.tolist() == [0, *np.cumsum([len(row) for row in expected])]
    assert block.columns.tolist() == [column for row in expected for column in row]
    assert block.rows.tolist() == [
        start + number for number, row in enumerate(expected) for _ in row
    ]


@settings(deadline=None)
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


@settings(deadline=None)
@given(*GRAPHS, st.booleans(), st.integers(1, 30))
def test_the_laplacian_by_definition(
    size: int, density: float, seed: int, normalized: bool, rows: int
) -> None:
    graph = weighted_graph(size, density, seed)
    degree = graph.toarray().sum(axis=1)
    area = np.random.default_rng(seed).uniform(0.5, 2, size)
    mass = degree if normalized else area
    root = inverse_root(mass)
    found = []
    for start in range(0, size, rows):
        block = block_of(graph, start, min(start + rows, size))
        weights = graph.toarray()[block.rows, block.columns]
        found.append(dense(block, laplacian(block, weights, degree, root), size))
    delta = np.concatenate(found)
    assert np.array_equal(delta, delta.T)
    if normalized:
        expected = csgraph.laplacian(graph, normed=True).toarray()
    else:
        expected = (np.diag(degree) - graph.toarray()) / np.sqrt(np.outer(area, area))
    assert np.allclose(delta, expected, rtol=1e-13, atol=1e-13)
    block = block_of(graph, 0, size)
    entries = delta[block.rows, block.columns].astype(np.float32)
    scaled = rescaled(entries, block.rows == block.columns, 3.0)
    narrow = dense(block, entries.astype(float), size)
    assert np.allclose(dense(block, scaled, size), narrow * 2 / 3 - np.eye(size), rtol=1e-14)


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 30))
def test_blocks_cover_all_rows_once(degrees: list[int], entries: int) -> None:
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int32)]).astype(np.int32)
    blocks = list(row_blocks(indptr, entries))
    assert [row for block in blocks for row in range(*block)] == list(range(len(degrees)))
    assert all(b - a == 1 or indptr[b] - indptr[a] <= entries for a, b in blocks)


@given(st.integers(1, 60), st.floats(0, 0.4), st.integers(0, 99), st.integers(1, 50))
def test_products_are_those_of_float64_in_any_blocks(
    size: int, density: float, seed: int, entries: int
) -> None:
    matrix = random_matrix(size, density, seed)
    for shape in ((size,), (size, 1), (size, 3)):
        x = np.random.default_rng(seed).standard_normal(shape)
        whole = mapped_product(matrix, cast_at_once=CAST_AT_ONCE)(x)
        assert np.array_equal(mapped_product(matrix, cast_at_once=-1, entries=entries)(x), whole)
        exact = matrix.toarray().astype(np.float64) @ x
        assert whole.dtype == np.float64
        assert np.allclose(whole, exact, rtol=1e-13, atol=1e-14)
    part = rows(matrix, size // 3, size)
    assert np.shares_memory(part.data, matrix.data) or not part.nnz
    assert np.array_equal(part.toarray(), matrix.toarray()[size // 3 :])


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40),
    st.integers(0, 40),
)
def test_exact_sums(values: list[float], split: int) -> None:
    array = np.array(values, float)
    exact = sum((Fraction(value) for value in values), Fraction())
    assert Fraction(exact_sum(array), 2**1127) == exact
    assert exact_sum(array) == exact_sum(array[:split]) + exact_sum(array[split:])
    times = np.arange(len(array)) % 3
    assert exact_sum(array, times) == exact_sum(np.repeat(array, times))
    if sum(abs(Fraction(value)) for value in values) < 2**1000:  # else fsum itself may overflow
        assert rounded(exact_sum(array)) == math.fsum(values)
