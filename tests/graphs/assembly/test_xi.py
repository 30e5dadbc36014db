"""Solving for xi: the fraction of edges within an orientation that is asked for."""

from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.xi import first_guess, scanned, searched
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.spec.words import reached


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
    level = Level(spec, Choice("pruned", "cpu"))
    engine = level.neighbors.engine()
    assert abs(engine.in_plane_degree / engine.total_degree - fraction) < 0.005


def test_a_fraction_out_of_reach_is_said(tmp_path: Path) -> None:
    spec = GraphSpec("so3", nside=2, in_plane_fraction=0.95, levels=1)
    built = build(spec, tmp_path / "g.zarr", name="g", device="cpu")
    (line,) = reached(spec, list(built.levels))
    assert "(asked for 0.95)" in line


def test_scan_takes_the_middle_of_the_nearest_plateau() -> None:
    def steps(alpha: float) -> float:
        return 0.1 if alpha < 0.5 else 0.38 if alpha < 2 else 0.7

    assert scanned(steps, 0.4, 1.0) == pytest.approx(1.0, rel=0.03)
    assert scanned(lambda _: float("nan"), 0.4, 1.0) == 1.0
    assert scanned(lambda alpha: 0.4 if 9 < alpha < 10 else 0.01 * alpha, 0.4, 1.0) == (
        pytest.approx(9.5, rel=0.03)
    )


def test_search_meets_the_target_or_stops_at_a_step() -> None:
    smooth = searched(lambda alpha: 1 - 1 / (1 + alpha), 0.4, 5.0)
    assert smooth == pytest.approx(2 / 3, rel=0.02)
    trials = []

    def step(alpha: float) -> float:
        trials.append(alpha)
        return 0.1 if alpha < 0.7 else 0.5

    assert step(searched(step, 0.4, 5.0)) == 0.5
    assert len(trials) < 40
