"""Symbols against dense matrices and many waves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheblienet_graphs.spectrum.symbol import TOLERANCE, Symbol, summit


def random_symbol(seed: int, size: int, dimension: int, reach: int) -> Symbol:
    random = np.random.default_rng(seed)
    count = 6
    row, column = random.integers(0, size, (2, count))
    offsets = random.integers(-reach, reach + 1, (count, dimension))
    values = random.normal(size=count)
    both = np.concatenate([offsets, -offsets, np.zeros((size, dimension), np.int64)])
    diagonal = np.arange(size)
    return Symbol(
        size,
        np.concatenate([row, column, diagonal]),
        np.concatenate([column, row, diagonal]),
        both,
        np.concatenate([values, values, np.full(size, 20.0)]),
    )


def on_box(symbol: Symbol, sides: tuple[int, ...]) -> np.ndarray:
    """The dense matrix of what a symbol does to the signals of a box."""
    places = np.stack(np.indices(sides), axis=-1).reshape(-1, len(sides))
    matrix = np.zeros((symbol.orientations, len(places)) * 2)
    for row, column, offset, value in zip(
        symbol.row, symbol.column, symbol.offsets, symbol.values, strict=True
    ):
        ends = places + offset
        inside = ((ends >= 0) & (ends < sides)).all(axis=1)
        matrix[row, inside, column, np.ravel_multi_index(ends[inside].T, sides)] += value
    size = symbol.orientations * len(places)
    return matrix.reshape(size, size)


@settings(max_examples=30)
@given(st.integers(0, 2**20), st.integers(1, 3), st.integers(1, 2), st.integers(1, 3))
def test_no_wave_has_a_larger_eigenvalue(seed: int, size: int, dimension: int, reach: int) -> None:
    """Of random Hermitian symbols; and one has nearly that."""
    graph = random_symbol(seed, size, dimension, reach)
    highest = summit(graph)
    assert highest is not None
    waves = np.random.default_rng(seed).uniform(-math.pi, math.pi, (4000, dimension))
    reached = np.linalg.eigvalsh(graph.around(waves)[0])[:, -1]
    assert reached.max() <= highest.bound
    at_the_wave = np.linalg.eigvalsh(graph.around(highest.place[None])[0])[0, -1]
    assert at_the_wave == pytest.approx(highest.bound, rel=2 * TOLERANCE)


@settings(max_examples=40)
@given(
    st.integers(0, 2**20),
    st.integers(1, 2),
    st.integers(1, 2),
    st.integers(5, 14),
    st.sampled_from([2, 3, 4]),
)
def test_no_signal_of_a_box_has_a_larger_eigenvalue(
    seed: int, size: int, dimension: int, side: int, parts: int
) -> None:
    graph = random_symbol(seed, size, dimension, 2)
    highest = summit(graph)
    assert highest is not None
    sides = (side, side + 3)[:dimension]
    wave = replace(highest, sides=np.array(sides, np.float64))
    bound = wave.confined(parts, math.inf).bound
    assert np.linalg.eigvalsh(on_box(graph, sides))[-1] <= bound * (1 + 1e-12)
    assert bound <= highest.bound


@pytest.mark.parametrize("sides", [(40,), (41,), (36, 60)])
def test_waves_confined_as_in_closed_form(sides: tuple[int, ...]) -> None:
    """Paths with 4 at each vertex and -1 for each edge: 4 + 2 cos(pi / (N + 1)) along each side."""
    dimension = len(sides)
    steps = np.concatenate([np.eye(dimension), -np.eye(dimension)]).astype(np.int64)
    count, none = len(steps) + 1, np.zeros((1, dimension), np.int64)
    zeros = np.zeros(count, np.int64)
    values = np.array([4.0 * dimension] + [-1.0] * len(steps))
    graph = Symbol(1, zeros, zeros, np.concatenate([none, steps]), values)
    highest = summit(graph)
    assert highest is not None
    assert highest.bound == pytest.approx(6 * dimension, rel=2 * TOLERANCE)
    long = np.array(sides, np.float64)
    exact = sum(4 + 2 * math.cos(math.pi / (side + 1)) for side in sides)
    lost = 6 * dimension - exact
    wave = replace(highest, sides=long)
    bounds = [wave.confined(parts, math.inf).bound for parts in (4, 8, 16)]
    assert bounds == sorted(bounds, reverse=True)
    assert exact <= bounds[-1] <= exact + 0.2 * lost
