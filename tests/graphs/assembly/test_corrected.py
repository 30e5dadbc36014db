"""Stored graphs of open lattices with corrected sides: spectra, symmetries, masks."""

import math
from pathlib import Path

import numpy as np
import pytest
from moments import stored

from cheblienet_graphs import GraphSpec, inspect

SQUARE = [4.721371, 4.721371, 8.686968, 15.843847, 16.630591, 19.234069, 19.234069]
"""The first eigenvalues but 0 of SE(2) on a square, eps^2 = xi^2 = 0.1: benchmarks/neumann.py."""


def errors(spec: GraphSpec, exact: np.ndarray, folder: Path) -> np.ndarray:
    version, _ = stored(spec, folder)
    (level,) = inspect(version.parents[1], f"g@{version.name}", eigenvalues=len(exact) + 1).levels
    assert level.components == 1
    return np.array(level.eigenvalues[1:]) * level.eigenvalue_scale / exact - 1


def cosines(dimension: int, count: int) -> np.ndarray:
    squares = sum(axis**2 for axis in np.indices((8,) * dimension))
    return math.pi**2 * np.sort(squares.ravel())[1 : count + 1]


@pytest.mark.parametrize(("manifold", "sizes"), [("r2", (12, 24, 48)), ("r3", (6, 12, 18))])
def test_cosines_converge_at_second_order(
    manifold: str, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    exact = cosines(int(manifold[1]), 7)
    found = []
    for correction in (True, False):
        specs = [
            GraphSpec(manifold, n, weights="matched", levels=1, boundary_correction=correction)
            for n in sizes
        ]
        worst = [abs(errors(spec, exact, tmp_path)).max() for spec in specs]
        found.append(math.log(worst[1] / worst[2]) / math.log(sizes[2] / sizes[1]))
        if correction:
            assert worst[2] < 0.02
    assert found[0] > 1.9
    assert found[1] < 1.5


def in_square(n: int, n_o: int, weights: str, correction: bool, folder: Path) -> float:
    spec = GraphSpec(
        "se2",
        n,
        orientations=n_o,
        eps_squared=0.1,
        xi=math.sqrt(0.1),
        weights=weights,
        levels=1,
        boundary_correction=correction,
    )
    return float(abs(errors(spec, np.array(SQUARE), folder)).max())


@pytest.mark.parametrize(("weights", "before", "after"), [("selling", 35, 22), ("matched", 94, 54)])
def test_errors_in_a_square(weights: str, before: int, after: int, tmp_path: Path) -> None:
    assert in_square(16, 6, weights, False, tmp_path) > before / 1000
    assert in_square(16, 6, weights, True, tmp_path) < after / 1000
