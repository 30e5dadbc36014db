"""Which eigenvalues a verdict takes, against spectra and solvers that it does not use."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.measure.comparison import deciding
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.measure.spectra import exact_eigenvalues
from cheblienet_graphs.report import level as levels

TORUS = {"boundary": "periodic", "weights": "selling", "levels": 1}
SMALL = {"manifold": "se2", "size": 8, "xi": 0.3}


def test_what_is_exact_by_construction_does_not_decide(report_on: Callable) -> None:
    """Over axes at xi = 2: 0, 6 / 4 five times by construction, then 20 / 4 nine times."""
    spec = GraphSpec("r3s2", 5, axes=43, xi=2, **TORUS)
    level = report_on(spec, eigenvalues=15).levels[0]
    assert level.exact_eigenvalues == pytest.approx([0, *[1.5] * 5, *[5] * 9])
    assert deciding(spec, spec.metric(0), spec.geometry.spectrum(64, spec.metric(0), None)) == 15
    values = np.array(level.eigenvalues) * level.eigenvalue_scale
    np.testing.assert_allclose(values[1:6], 1.5, rtol=1e-5)
    assert level.spectral_error == pytest.approx(abs(values[6:] / 5 - 1).max())
    assert level.spectral_error > 0.1
    assert level.consistency == "too coarse"


@pytest.mark.parametrize("boundary", ["periodic", "open"])
def test_the_first_25_are_looked_at(boundary: str, report_on: Callable, tmp_path: Path) -> None:
    """Their largest error, from a dense matrix; the report lists as many as were asked for."""
    spec = GraphSpec("r2", "12x10", **TORUS | {"boundary": boundary})
    [level] = report_on(spec, eigenvalues=3).levels
    assert len(level.eigenvalues) == len(level.exact_eigenvalues) == 3
    arrays = open_graph(tmp_path / "g.zarr").level(0)
    delta = (arrays.laplacian.toarray().astype(np.float64) + np.eye(120)) * level.lambda_max / 2
    values = scipy.linalg.eigvalsh(delta)[1:25] * level.eigenvalue_scale
    errors = abs(values / np.array(exact_eigenvalues(arrays, 25))[1:] - 1)
    assert level.further_error == pytest.approx(errors.max(), abs=1e-5)
    assert level.spectral_error == pytest.approx(errors[:5].max(), abs=1e-5)
    assert level.further_error > 2 * level.spectral_error
    percent = f"first 25 within {100 * errors.max():.2g} %"
    assert percent in level.verdict


def test_of_large_graphs_no_more_are_computed(
    report_on: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "LARGE", 100)
    spec = GraphSpec("s2", subdivisions=2, weights="voronoi", levels=1)
    level = report_on(spec).levels[0]
    assert level.further_error is None
    assert "first 6 eigenvalues within" in level.verdict
    assert "first 25" not in level.verdict
    assert report_on(GraphSpec("r2", 12, **TORUS)).levels[0].further_error is not None


@pytest.mark.parametrize(("stored", "further"), [(8, False), (30, True)])
def test_stored_ones_are_taken_if_they_are_enough(
    stored: int, *, further: bool, report_on: Callable
) -> None:
    level = report_on(GraphSpec("r2", 12, **TORUS, eigenpairs=stored)).levels[0]
    assert level.eigenvalues_method == "stored"
    assert (level.further_error is not None) == further


@pytest.mark.parametrize(
    ("fields", "too_few"),
    [
        *(({"manifold": "r3s2", "size": 5, "axes": n, "xi": 0.5}, n < 12) for n in (3, 7, 12)),
        ({**SMALL, "orientations": 2, "boundary": "periodic"}, True),
        ({**SMALL, "orientations": 2}, True),
        ({**SMALL, "orientations": 4}, False),
        *(({**SMALL, "orientations": n, "period": "2pi"}, n < 4) for n in (3, 4)),
    ],
)
def test_fibers_of_too_few_samples_are_named(
    fields: dict[str, object], *, too_few: bool, report_on: Callable
) -> None:
    """With nothing to compare with; their first functions are exact, so they tell nothing."""
    level = report_on(GraphSpec(**fields, weights="selling", levels=1)).levels[0]
    fiber = "axes" if "axes" in fields else "orientations"
    assert level.consistency == ("too coarse" if too_few else "not compared")
    assert level.verdict.startswith(f"too few {fiber} for its metric: ") == too_few


def test_families_that_level_off_are_not_consistent(report_on: Callable) -> None:
    """Four times the points and more leave 40 % of the error; finite volumes lose it."""
    errors = {"as given": [], "voronoi": []}
    for subdivisions in (2, 3, 4):
        given = GraphSpec("s2", subdivisions=subdivisions, weights="kernel", levels=1)
        cured = GraphSpec("s2", subdivisions=subdivisions, weights="voronoi", levels=1)
        one, other = (report_on(spec, eigenvalues=2).levels[0] for spec in (given, cured))
        assert one.consistency == "kernel weights"
        assert "eigenvalues stay off, however many points" in one.verdict
        assert one.finding.advice.changes == ({"weights": "voronoi"},)
        assert other.consistency == "consistent"
        errors["as given"].append(one.further_error)
        errors["voronoi"].append(other.further_error)
    assert errors["as given"][-1] > errors["as given"][0] / 2.5
    assert errors["voronoi"][-1] < errors["voronoi"][0] / 3
