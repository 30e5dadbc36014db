"""Error bars of eigenvalues, against spectra that are known otherwise."""

import math
from collections.abc import Callable
from pathlib import Path

import cut_truth
import numpy as np
import pytest
from marks import slow_but

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.plot.spectrum import spectrum_of
from cheblienet_graphs.report.opened import open_graph

TORUS = {"boundary": "periodic", "weights": "selling", "levels": 2}
XI = math.sqrt(0.1)


def disc(size: int, **fields: object) -> GraphSpec:
    domain = cut_truth.elliptic(0.45 * np.eye(2), size)
    cut = {"mask": domain, "mask_edge": "cut", "weights": "selling", "levels": 2}
    return GraphSpec(size=size, **cut | fields)


FAMILIES = {
    "torus": GraphSpec("se2", 24, orientations=8, eps_squared=0.1, xi=XI, **TORUS),
    "axes": GraphSpec("r3s2", 12, axes="ico21", xi=XI, **TORUS),
    "matched": GraphSpec("r2", 24, boundary="periodic", weights="matched", levels=2),
    "box": GraphSpec("r3", "12x8x8", weights="selling", levels=2),
    "icosphere": GraphSpec("s2", subdivisions=3, weights="voronoi", levels=2),
    "random": GraphSpec("s2", points=800, seed=2, weights="voronoi", levels=2),
    "disc": disc(24, manifold="r2"),
    "oriented disc": disc(20, manifold="se2", orientations=10, eps_squared=0.1, xi=XI),
}


@pytest.mark.parametrize("name", slow_but([*FAMILIES][2::2], FAMILIES))
def test_errors_are_as_large_as_their_bars(name: str, report_on: Callable) -> None:
    level = report_on(FAMILIES[name], eigenvalues=16, level=0).levels[0]
    truths = {
        "disc": lambda: cut_truth.plane(0.45 * np.eye(2), np.eye(2), 16),
        "oriented disc": lambda: cut_truth.oriented(0.45, 0.1, XI, 16),
    }
    exact = truths[name]() if name in truths else level.exact_eigenvalues
    true = np.array(exact)
    errors = np.array(level.eigenvalues) * level.eigenvalue_scale - true
    bars, left = np.array(level.error_bars.bars), np.array(level.error_bars.extrapolated) - true
    assert bars[0] == 0
    assert abs(left[0]) < 1e-9
    assert (abs(errors[1:]) <= 1.5 * bars[1:]).mean() >= 0.8
    assert np.median(bars[1:] / abs(errors[1:])) < 1.3  # none is wide at all costs
    assert np.median(abs(left[1:] / errors[1:])) < 0.2


INSIDE = np.hypot(*(np.mgrid[:16, :16] - 7.5)) < 8
STATIONS = np.random.default_rng(0).uniform((-80, -170, 1), (80, 170, 2), (60, 3))
SELLING = {"manifold": "r2", "size": 16, "weights": "selling"}
GIVEN = {"coordinates": [STATIONS, STATIONS[:20]], "weights": "voronoi"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({**SELLING, "levels": 1}, "no coarser level"),
        ({"manifold": "r2", "size": 16, "levels": 2}, "open sides are not corrected"),
        ({"size": 16, "boundary": "periodic", "levels": 2}, "along base and fiber at once"),
        ({**SELLING, "mask": INSIDE, "levels": 2}, "a mask of whole pixels"),
        ({"manifold": "s2", "subdivisions": 2, "levels": 2}, "need not converge on irregular"),
        ({"manifold": "s2", **GIVEN}, "areas are given"),
        ({"size": 16, **TORUS, "laplacian": "normalized"}, "not equal"),
    ],
)
def test_what_is_not_known_is_not_estimated(
    fields: dict[str, object], why: str, report_on: Callable
) -> None:
    report = report_on(GraphSpec(**{"manifold": "se2"} | fields), level=0)
    bars = report.levels[0].error_bars
    assert why in (bars.unknown or "")
    assert (bars.bars, bars.extrapolated) == ((), ())
    assert "±" not in str(report)


def test_as_many_bars_as_the_coarser_level_has_eigenvalues(report_on: Callable) -> None:
    report = report_on(GraphSpec("r2", 8, **TORUS), eigenvalues=30)
    level = report.levels[0]
    assert (len(level.eigenvalues), len(level.error_bars.bars)) == (30, 16)
    assert "errors not estimated: there is no coarser level" in report.full_text()
    assert f"limit       0, {level.error_bars.extrapolated[1]:.4g} (4x)" in report.short_text(
        extrapolate=True
    )
    without = report_on(GraphSpec("r2", 8, **TORUS), eigenvalues=0)
    assert without.levels[0].error_bars.unknown == "no eigenvalues were computed"


def test_the_figure_has_the_bars_of_the_report(report_on: Callable, tmp_path: Path) -> None:
    spec = GraphSpec("se2", 16, orientations=4, weights="selling", levels=2)
    bars = report_on(spec, eigenvalues=9).levels[0].error_bars
    graph = open_graph(tmp_path / "g.zarr")
    data = spectrum_of(graph, count=9)
    np.testing.assert_allclose(data.bars, bars.bars, rtol=1e-9)
    np.testing.assert_allclose(data.relative_bars[1:], bars.bars[1:] / data.values[1:], rtol=1e-9)
    coarsest = spectrum_of(graph, level=1, count=9)
    assert coarsest.bars is coarsest.relative_bars is None
