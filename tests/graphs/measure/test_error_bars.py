"""Error bars of eigenvalues, against spectra that are known otherwise."""

import math
from collections.abc import Callable
from pathlib import Path

import cut_truth
import numpy as np
import pytest
from benchmark_scripts import loaded
from marks import slow_but

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.measure import error_bars as bars
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.plot.spectrum import spectrum_of

(coverage,) = loaded("coverage")
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
    "refined": GraphSpec("s2", refined=(2, 4, -10, 35, 30, 60), weights="voronoi", levels=2),
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
    widths = np.array(level.error_bars.bars)
    assert len(widths) >= 8
    true = true[: len(widths)]
    errors = np.array(level.eigenvalues)[: len(widths)] * level.eigenvalue_scale - true
    left = np.array(level.error_bars.extrapolated) - true
    assert widths[0] == 0
    assert abs(left[0]) < 1e-9
    assert (abs(errors[1:]) <= 1.5 * widths[1:]).mean() >= 0.8
    assert np.median(widths[1:] / abs(errors[1:])) < 1.3  # none is wide at all costs
    assert np.median(abs(left[1:] / errors[1:])) < 0.2


@pytest.mark.parametrize("graphs", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_errors_of_random_graphs_of_all_kinds_are_within_their_bars(graphs: int) -> None:
    specs, with_bars = coverage.kinds(np.random.default_rng(2)), set()
    for _ in range(graphs):
        spec = next(specs)
        level = coverage.reported(spec)
        if level is None or level.error_bars.unknown:
            continue
        ratios, left = coverage.off(level)
        assert (ratios <= 1.5).mean() >= 0.8, spec
        assert ratios.max() < 5, spec
        assert np.median(left) < 1, spec  # extrapolation makes errors smaller
        with_bars.add((spec.manifold, spec.weights))
    assert len(with_bars) >= 3


@pytest.mark.parametrize(("orientations", "count"), [(4, 4), (8, 8)])
def test_there_are_no_bars_from_functions_on_that_a_fiber_does_not_carry(
    orientations: int, count: int, report_on: Callable
) -> None:
    fields = TORUS | {"orientations": orientations, "eps_squared": 0.1, "xi": 0.5}
    level = report_on(GraphSpec("se2", 24, **fields), eigenvalues=16, level=0).levels[0]
    exact, far = np.array(level.exact_eigenvalues), np.array(level.error_bars.extrapolated)
    assert len(far) >= count
    np.testing.assert_allclose(far, exact[: len(far)], rtol=0.03)


INSIDE = np.hypot(*(np.mgrid[:16, :16] - 7.5)) < 8
STATIONS = np.random.default_rng(0).uniform((-80, -170, 1), (80, 170, 2), (60, 3))
SELLING = {"manifold": "r2", "size": 16, "weights": "selling"}
CAST = STATIONS[:, :2]
CELLS, PERIODIC = {"weights": "voronoi", "levels": 2}, {"boundary": "periodic", "levels": 2}
GIVEN = {"coordinates": [STATIONS, STATIONS[:20]], "weights": "voronoi"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({**SELLING, "levels": 1}, "no coarser level"),
        ({"manifold": "r2", "size": 16, "levels": 2}, "open sides are not corrected"),
        ({"size": 16, "boundary": "periodic", "levels": 2}, "along base and fiber at once"),
        ({**SELLING, "mask": INSIDE, "levels": 2}, "a mask of whole pixels"),
        ({"manifold": "s2", "nside": 4, "levels": 2}, "need not converge on irregular"),
        ({"manifold": "s2", **GIVEN}, "areas are given"),
        ({"size": 16, **TORUS, "laplacian": "normalized"}, "not equal"),
        ({"manifold": "s2", "gaussian": "O12", **CELLS, "laplacian": "normalized"}, "not equal"),
        ({"manifold": "r2", "points": 200, **CELLS, "laplacian": "normalized"}, "not alike"),
        ({"manifold": "s2", "points": 200, **CELLS}, "not alike"),
        ({"manifold": "s2", "coordinates": [CAST, CAST[:20]], "weights": "voronoi"}, "not alike"),
        ({"manifold": "r3s2", "size": 8, "axes": 7, **TORUS}, "too few axes"),
        ({"size": 16, "orientations": 3, **TORUS}, "too few orientations"),
        ({"manifold": "r2", "size": (8, 24), "neighbors": 24, **PERIODIC}, "as wide as the"),
    ],
)
def test_what_is_not_known_is_not_estimated(
    fields: dict[str, object], why: str, report_on: Callable
) -> None:
    report = report_on(GraphSpec(**{"manifold": "se2"} | fields), level=0)
    known = report.levels[0].error_bars
    assert why in (known.unknown or "")
    assert (known.bars, known.extrapolated) == ((), ())
    assert "±" not in str(report)


def test_bars_end_where_errors_are_beyond_a_tenth(
    report_on: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = report_on(GraphSpec("r2", 8, **TORUS), eigenvalues=30)
    level = report.levels[0]
    assert (len(level.eigenvalues), len(level.error_bars.bars)) == (30, 9)
    assert "errors not estimated: there is no coarser level" in report.full_text()
    assert f"{level.error_bars.extrapolated[1]:.6g}" in report.full_text()
    one = report_on(GraphSpec("r2", 8, **TORUS), eigenvalues=1)
    assert one.levels[0].error_bars.bars == (0,)
    monkeypatch.setattr(bars, "AGREEING", 0.01)
    none = report_on(GraphSpec("r2", 8, **TORUS), eigenvalues=30)
    assert none.levels[0].error_bars.unknown == "they are larger than 1 %"
    without = report_on(GraphSpec("r2", 8, **TORUS), eigenvalues=0)
    assert without.levels[0].error_bars.unknown == "no eigenvalues were computed"


def test_the_figure_has_the_bars_of_the_report(report_on: Callable, tmp_path: Path) -> None:
    spec = GraphSpec("se2", 16, orientations=4, weights="selling", levels=2)
    known = report_on(spec, eigenvalues=9).levels[0].error_bars
    graph = open_graph(tmp_path / "g.zarr")
    data = spectrum_of(graph, count=9)
    widths, count = np.array(known.bars), len(known.bars)
    np.testing.assert_allclose(data.bars[:count], widths, rtol=1e-9)
    np.testing.assert_allclose(
        data.relative_bars[1:count], widths[1:] / data.values[1:count], rtol=1e-9
    )
    assert np.isnan(data.bars[count:]).all()
    coarsest = spectrum_of(graph, level=1, count=9)
    assert coarsest.bars is coarsest.relative_bars is None
