"""Whether a graph is consistent with its metric, which is never said wrongly."""

import math
from collections.abc import Callable
from types import SimpleNamespace as Space

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.measure.comparison import AGREEING, compared
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.moments import EffectiveMetric
from cheblienet_graphs.measure.verdict import CONSISTENCY, verdict
from cheblienet_graphs.spectrum.lanczos import Eigenvalues

PERIODIC = {"boundary": "periodic", "weights": "selling", "levels": 1}


def test_no_eigenproblem_is_solved_for_as_many_zeros_as_components(
    report_on: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec("se2", 12, orientations=4, xi=1.5, eps=0.1, levels=1)
    (level,) = report_on(spec, eigenvalues=40).levels
    assert level.components > 6
    assert (abs(np.array(level.eigenvalues)) < 1e-6).sum() == level.components
    monkeypatch.delattr("cheblienet_graphs.measure.spectra.smallest_eigenvalues")
    (level,) = report_on(spec, eigenvalues=level.components).levels
    assert level.eigenvalues == [0] * level.components
    assert (level.eigenvalues_method, level.consistency) == ("components", "inconsistent")


def clusters(n: int) -> dict[str, object]:
    """Points whose mean second moments are far off, with Voronoi cells, too."""
    middles = np.repeat([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]], n, axis=0)
    points = np.random.default_rng(0).normal(middles, 0.02)
    return {"manifold": "r2", "coordinates": points, "domain": (0, 0, 1, 1), "weights": "voronoi"}


SELLING = {"size": 16, "weights": "selling"}
APART = {"size": 24, "orientations": 4, "alpha": 1000, "neighbors": 8, "eps": 1}
TORUS = {"size": 8, "boundary": "periodic"}
PAPER = "the paper's kernel weights: eps^2 realized"
ALONG = {**TORUS, "orientations": 4, "neighbors": 6}


@pytest.mark.parametrize(
    ("fields", "count", "consistency", "verdict"),
    [
        (APART, 6, "inconsistent", "has 4 components; orientations are not connected"),
        ({"manifold": "r2", **TORUS, "size": 2}, 6, "too coarse", "around the torus"),
        ({**SELLING, "size": 4}, 6, "too coarse", "from its middle to the boundary"),
        *((clusters(n), 6, "inconsistent", "eps^2 realized") for n in (3, 40)),
        (ALONG, 6, "inconsistent", "eps^2 realized 0, asked 0.1;"),  # and nothing but rounding
        ({"size": 24}, 6, "kernel weights", PAPER),
        (SELLING, 6, "not compared", "; spectrum not compared: none is known exactly with an"),
        ({**SELLING, **PERIODIC}, 1, "not compared", "; spectrum not compared: no eig"),
    ],
)
def test_verdicts_name_the_reason(
    report_on: Callable, fields: dict[str, object], count: int, consistency: str, verdict: str
) -> None:
    spec = GraphSpec(**{"manifold": "se2", "levels": 1} | fields)
    (level,) = report_on(spec, eigenvalues=count).levels
    assert level.consistency == consistency
    assert verdict in level.verdict
    assert ("a smaller `alpha`" in level.verdict) == (level.components == 4)
    exact = "second moments consistent with its metric: exact"
    assert level.verdict.startswith(exact) == (consistency == "not compared")


def test_levels_that_are_only_too_coarse_say_so(report_on: Callable) -> None:
    """On the torus a wave of k cycles on n pixels has 2 n^2 (1 - cos 2 pi k / n)."""
    report = report_on(GraphSpec("r2", 32, **PERIODIC | {"levels": 4}))
    for level, n in zip(report.levels, (32, 16, 8, 4), strict=True):
        share = (1 - math.cos(2 * math.pi / n)) / (2 * math.pi**2 / n**2)
        assert level.spectral_error == pytest.approx(1 - share, abs=1e-5)
        assert level.consistency == ("consistent" if share > 0.9 else "too coarse")
    assert "up to 19 % off: their waves are down to 2.8 edges long" in report.levels[3].verdict


@pytest.mark.parametrize("size", [16, 64])
def test_open_sides_of_kernel_weights_are_looked_at(report_on: Callable, size: int) -> None:
    """Their moments are right inside, their sides of first order: more neighbors add to that."""
    (level,) = report_on(GraphSpec("r2", size, levels=1)).levels
    assert level.consistency == ("kernel weights" if size == 16 else "consistent")
    if size == 16:
        assert "eigenvalues are up to 11 % off; right for training" in level.verdict
        assert level.finding.advice is not None
        assert {field for change in level.finding.advice.changes for field in change} == {"weights"}
    (cured,) = report_on(GraphSpec("r2", size, levels=1, weights="matched")).levels
    assert cured.consistency == "consistent"
    assert cured.spectral_error < level.spectral_error / 5


SPHERE = GraphSpec("s2", nside=2, weights="matched", neighbors=24)


def judged(eigenvalues: Eigenvalues, components: int = 1, reach: float = 1e-9) -> Finding:
    metrics = [EffectiveMetric(0, 1.0, None, 0.0, 2.0, 0.0, squared_reach=reach)]
    exact = [float(n * (n + 1)) for n in range(8) for _ in range(2 * n + 1)]
    level = Space(level=0, spec=SPHERE, sampled=Space(metric=SPHERE.metric(0)), areas_by_cells=None)
    level.scale, level.metrics = 1.0, metrics
    return verdict(level, components, compared(level, eigenvalues, exact))


factors = st.lists(st.floats(0, 3), min_size=1, max_size=7)


@given(factors, st.integers(1, 3), st.sampled_from(["chebyshev", "lanczos"]), st.floats(0, 10))
def test_consistent_is_never_said_of_a_wrong_spectrum(
    ratios: list[float], components: int, method: str, reach: float
) -> None:
    """Whatever the first eigenvalues are; further ones may be off where edges explain that."""
    # At the tolerance itself rounding decides.
    assume(all(abs(abs(ratio - 1) - AGREEING) > 1e-12 for ratio in ratios))
    values = np.array([0, *np.array([2, 2, 2, 6, 6, 6, 6][: len(ratios)]) * ratios])
    finding = judged(Eigenvalues(values, converged=True, method=method), components, reach)
    consistency = CONSISTENCY[finding.kind]
    changed = np.array(ratios)
    off = abs(changed - 1) > AGREEING
    decides, explained = off[:5].any(), bool((changed[off] < 1).all())
    assert consistency != "consistent" or (components == 1 and not decides and explained)
    assert consistency == "consistent" or off.any() or components > 1
    assert components == 1 or consistency == "inconsistent"
    assert consistency != "too coarse" or (decides and explained)


@pytest.mark.parametrize(
    ("values", "converged", "method", "kind"),
    [
        ([0, 2, 2, 2, 6, 6], False, "", "not compared"),
        ([0, 2, 2, 2, 6, 6], True, "lanczos", "consistent"),
        ([0, 2, 2, 6, 6, 6], True, "lanczos", "not compared"),
        ([0, 2, 2, 6, 6, 6], True, "dense", "inconsistent"),
        ([0, 1, 2, 6, 6, 6], True, "lanczos", "inconsistent"),
    ],
)
def test_eigenvalues_that_are_approximate_or_lack_copies_are_not_compared(
    values: list[float], converged: bool, method: str, kind: str
) -> None:
    """Without a copy of 2 the others move up; what is too low is so with all copies too."""
    assert judged(Eigenvalues(np.array(values), converged=converged, method=method)).kind == kind
