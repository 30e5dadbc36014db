"""Extreme but valid specifications end soon, in a result or in one line."""

import math
from pathlib import Path

import pytest

from cheblienet_graphs import CheblienetError, GraphSpec, build, inspect

TORUS = {"manifold": "se2", "boundary": "periodic", "eps": 0.001}
ROTATIONS = {"manifold": "so3", "orientations": 180}
EXTREME = [
    TORUS | {"points": 5, "orientations": 2, "xi": 10},
    TORUS | {"size": "2x33", "orientations": 5, "bandwidth": 0.01, "neighbors": 8},
    TORUS | {"points": 2, "orientations": 24, "xi": 1e-6, "neighbors": 200},
    ROTATIONS | {"subdivisions": 0, "xi": "auto", "neighbors": 2},
    ROTATIONS | {"points": 3, "xi": 1e6, "neighbors": 1},
    {"manifold": "se2", "size": 8, "orientations": 180, "neighbors": 8},
    {"manifold": "so3", "nside": 1, "orientations": 1, "weights": "matched", "neighbors": 1024},
    {"manifold": "se2", "size": "5x3", "orientations": 7, "weights": "selling", "eps": 0.03},
    {"manifold": "s2", "points": 2, "neighbors": 31, "bandwidth": 100},
    {"manifold": "r2", "size": "2x40", "boundary": "periodic", "laplacian": "combinatorial"},
]


@pytest.mark.slow
@pytest.mark.parametrize("fields", EXTREME, ids=str)
def test_any_specification_ends_soon(fields: dict[str, object], tmp_path: Path) -> None:
    """In a graph with finite eigenvalues, or refused in one line."""
    try:
        result = build(GraphSpec(**fields, levels=1), tmp_path / "g.zarr", name="g", device="cpu")
        report = inspect(tmp_path / "g.zarr", "g")
    except CheblienetError as refused:
        lines = str(refused).splitlines()
    else:
        assert result.levels[0].edges > 0
        assert all(math.isfinite(value) for value in report.levels[0].eigenvalues)
        lines = ["built"]
    assert len(lines) == 1
