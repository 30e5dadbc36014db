"""Solving for xi: the fraction of edges within an orientation that is asked for."""

from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.assembly.level_plan import level_plans, solved_plans
from cheblienet_graphs.assembly.xi import first_guess, scanned
from cheblienet_graphs.search.choice import Choice


@pytest.mark.parametrize("size", [{"nside": 4, "levels": 1}, {"points": 300}])
def test_xi_is_solved_for_the_fraction(tmp_path: Path, size: dict[str, int]) -> None:
    spec = GraphSpec("so3", **size, xi="auto")
    build(spec, tmp_path / "g.zarr", name="g")
    levels = inspect(tmp_path / "g.zarr", "g", eigenvalues=0).levels
    assert abs(levels[0].in_plane_fraction - 0.4) < 0.01
    assert 0.2 < levels[0].xi_squared / (6 * spec.squared_spacing(0)) < 5


def test_xi_on_the_lattice_reproduces_the_papers_split(tmp_path: Path) -> None:
    spec = GraphSpec("se2", 32, orientations=6, eps_squared=0.1, in_plane_fraction=0.4, levels=1)
    assert first_guess(spec) == pytest.approx(0.965, abs=5e-4)
    build(spec, tmp_path / "g.zarr", name="g")
    level = inspect(tmp_path / "g.zarr", "g", eigenvalues=0).levels[0]
    alpha = level.xi_squared * 32**2 / 6
    # 40/60 at interior vertices; the boundary takes a little, see the plateau [.918, 1.140].
    assert 0.918 <= alpha <= 1.140
    assert level.in_plane_fraction == pytest.approx(0.391, abs=2e-3)


@pytest.mark.parametrize("fraction", [0.2, 0.55])
def test_other_fractions(fraction: float) -> None:
    spec = GraphSpec("so3", subdivisions=2, in_plane_fraction=fraction)
    plans = level_plans(spec, Choice("pruned", "cpu"))
    level, *_ = solved_plans(plans, lambda _, solve: solve(), np.empty, lambda *_: None)
    engine = level.neighbors.engine()
    assert abs(engine.in_plane_degree / engine.total_degree - fraction) < 0.005


def test_a_scan_that_meets_no_edges_keeps_its_guess() -> None:
    assert scanned(lambda _: float("nan"), 0.4, 1.0) == 1.0
