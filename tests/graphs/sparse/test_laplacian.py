"""Rows of the Laplacian in blocks, against dense algebra, another library and exact sums."""

import math

import numpy as np
import pytest
from examined import random_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph, csr_array

from cheblienet_graphs.sparse.blocks import RowBlock, ascending_sums, with_diagonal
from cheblienet_graphs.sparse.laplacian import inverse_root, laplacian, rescaled


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
def test_each_vertex_is_inserted_among_its_neighbours(
    size: int, density: float, seed: int, data: st.DataObject
) -> None:
    graph = weighted_graph(size, density, seed)
    start = data.draw(st.integers(0, size - 1))
    stop = data.draw(st.integers(start + 1, size))
    block = block_of(graph, start, stop)
    neighbours = graph.toarray()[start:stop] != 0
    expected = [
        sorted({row, *np.flatnonzero(neighbours[row - start])}) for row in range(start, stop)
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


def test_sums_of_rows_with_nothing_are_zero() -> None:
    empty = RowBlock(3, 5, np.array([0, 0, 0]), np.array([], np.int64))
    assert empty.sums(np.array([])).tolist() == [0, 0]
    assert empty.rows.tolist() == []
    assert ascending_sums(np.zeros((2, 0))).tolist() == [0, 0]


def test_inverse_roots() -> None:
    with np.errstate(all="raise"):
        found = inverse_root(np.array([4.0, 0.0, 0.25]))
    assert found.tolist() == [0.5, 0, 2]


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


@settings(deadline=None)
@given(*GRAPHS, st.floats(0.1, 50))
def test_rescaled_by_definition(size: int, density: float, seed: int, lambda_max: float) -> None:
    graph = weighted_graph(size, density, seed)
    block = block_of(graph, 0, size)
    values = np.random.default_rng(seed).standard_normal(len(block.columns)).astype(np.float32)
    given_values = values.copy()
    scaled = rescaled(values, block.rows == block.columns, lambda_max)
    delta = dense(block, values.astype(np.float64), size)
    expected = 2 / lambda_max * delta - np.eye(size)
    assert scaled.dtype == np.float64
    assert np.allclose(dense(block, scaled, size), expected, rtol=1e-14, atol=1e-14)
    assert np.array_equal(values, given_values)
