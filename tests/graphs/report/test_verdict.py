"""Whether a graph is consistent with its metric, which is never said wrongly."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.inspect import Report
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.moments import EffectiveMetric
from cheblienet_graphs.report.verdict import AGREEING, CONSISTENCY, compared, verdict
from cheblienet_graphs.samplings.random import Random
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.spectrum.numeric import Eigenvalues

PERIODIC = {"boundary": "periodic", "weights": "selling", "levels": 1}


@pytest.fixture
def report_on(tmp_path: Path) -> Callable[..., Report]:
    """Builds a graph and reports on it."""

    def made(spec: GraphSpec, **options: int) -> Report:
        build(spec, tmp_path / "g.zarr", name="g", device="cpu")
        return inspect(tmp_path / "g.zarr", **options)

    return made


def level_of(report: Report) -> LevelReport:
    (level,) = report.levels
    return level


RANDOM = GraphSpec("s2", points=2000, seed=1, weights="matched", neighbors=30)


def test_no_eigenproblem_is_solved_for_as_many_zeros_as_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec("se2", 12, orientations=4, xi=1.5, eps=0.1, levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    level = level_of(inspect(tmp_path / "g.zarr", eigenvalues=40))
    assert level.components > 6
    assert (abs(np.array(level.eigenvalues)) < 1e-6).sum() == level.components
    monkeypatch.delattr("cheblienet_graphs.report.spectra.smallest_eigenvalues")
    level = level_of(inspect(tmp_path / "g.zarr", eigenvalues=level.components))
    assert level.eigenvalues == [0] * level.components
    assert level.eigenvalues_method == "components"
    assert level.consistency == "inconsistent"


def test_right_second_moments_with_a_wrong_spectrum(
    report_on: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points that all stand for the same area: eigenvalues 20 % low, and none of it resolution."""
    monkeypatch.setattr(Random, "base_areas", property(lambda self: np.ones(self.size)))
    level = level_of(report_on(RANDOM))
    assert level.effective_metric[0].deviation < 1e-6
    assert level.spectral_error > 0.2
    assert level.consistency == "inconsistent"
    assert level.verdict == (
        "not consistent with its metric: first eigenvalues are up to 28 % off; second moments "
        "exact: use `weights='voronoi'`"
    )


@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_orientations_that_are_not_linked(report_on: Callable, boundary: str) -> None:
    given = {"orientations": 4, "alpha": 1000, "neighbors": 8, "eps": 1, "levels": 1}
    level = level_of(report_on(GraphSpec("se2", 24, boundary=boundary, **given)))
    assert level.components == 4
    assert level.consistency == "inconsistent"
    assert level.verdict == (
        "not consistent with its metric: falls into 4 components; orientations are not linked, as "
        "no edge leads to another one (a smaller `alpha` does): use `weights='selling'` "
        "(K <= 8) or `weights='matched'`"
    )


def test_levels_that_are_only_too_coarse_say_so(report_on: Callable) -> None:
    """On the torus a wave of k cycles on n pixels has 2 n^2 (1 - cos 2 pi k / n)."""
    report = report_on(GraphSpec("r2", 32, **PERIODIC | {"levels": 4}))
    for level, n in zip(report.levels, (32, 16, 8, 4), strict=True):
        share = (1 - math.cos(2 * math.pi / n)) / (2 * math.pi**2 / n**2)
        assert level.spectral_error == pytest.approx(1 - share, abs=1e-5)
        assert level.consistency == ("consistent" if share > 0.9 else "too coarse")
    assert report.levels[3].verdict == (
        "too coarse for its first eigenvalues, up to 19 % off: their waves are down to 2.8 edges "
        "long; second moments exact"
    )
    assert "levels 1, 2 and 3: 98.05 %, 92.19 % and 68.75 % zeros, below" in str(report)


def test_lattices_smaller_than_their_stencils_are_too_coarse(report_on: Callable) -> None:
    torus = level_of(report_on(GraphSpec("r2", 2, boundary="periodic", levels=1)))
    assert torus.verdict == "too coarse for its metric: its edges reach around the torus"
    plane = level_of(report_on(GraphSpec("se2", 4, weights="selling", levels=1)))
    assert plane.verdict == (
        "too coarse for its metric: its edges reach from its middle to the boundary"
    )
    assert {torus.consistency, plane.consistency} == {"too coarse"}


def test_spectra_that_are_not_compared(report_on: Callable) -> None:
    for chosen, count, why in (({}, 6, "none is known exactly with an"), (PERIODIC, 1, "no eig")):
        spec = GraphSpec("se2", 16, **{"weights": "selling", "levels": 1} | chosen)
        level = level_of(report_on(spec, eigenvalues=count))
        assert (level.consistency, level.spectral_error) == ("not compared", None)
        assert level.verdict.startswith("second moments consistent with its metric: exact")
        assert f"; spectrum not compared: {why}" in level.verdict


SPHERE = GraphSpec("s2", nside=2, weights="matched", neighbors=24)


def judged(found: Eigenvalues, components: int = 1, reach: float = 1e-9) -> Finding:
    metrics = [EffectiveMetric(0, 1.0, None, 0.0, 2.0, 0.0, squared_reach=reach)]
    comparison = compared(SPHERE, found, 1.0, [0, 2, 2, 2, 6, 6, 6, 6])
    sampled = SampledManifold(SPHERE.full_sampling(0), SPHERE.geometry, SPHERE.metric(0))
    return verdict(SPHERE, sampled, metrics, components, comparison)


factors = st.lists(st.floats(0, 3), min_size=1, max_size=7)


@given(factors, st.integers(1, 3), st.sampled_from(["chebyshev", "lanczos"]), st.floats(0, 10))
def test_consistent_is_never_said_of_a_wrong_spectrum(
    ratios: list[float], components: int, method: str, reach: float
) -> None:
    """Whatever the first eigenvalues are; only those compared may be off."""
    # At the tolerance itself rounding decides.
    assume(all(abs(abs(ratio - 1) - AGREEING) > 1e-12 for ratio in ratios))
    values = np.array([0, *np.array([2, 2, 2, 6, 6, 6, 6][: len(ratios)]) * ratios])
    said = judged(Eigenvalues(values, converged=True, method=method), components, reach)
    off = abs(np.array(ratios[:5]) - 1) > AGREEING
    if components > 1:
        assert CONSISTENCY[said.kind] == "inconsistent"
    elif not off.any():
        assert CONSISTENCY[said.kind] == "consistent"
    else:
        assert CONSISTENCY[said.kind] != "consistent"
    if CONSISTENCY[said.kind] == "too coarse":
        assert (np.array(ratios[:5])[off] < 1).all()


def test_eigenvalues_that_are_approximate_or_lack_copies_are_not_compared() -> None:
    """Without a copy of 2 the others move up; what is too low is so with all copies too."""
    exact, one_less = np.array([0, 2, 2, 2, 6, 6]), np.array([0, 2, 2, 6, 6, 6])
    assert judged(Eigenvalues(exact, converged=False, method="")).kind == "not compared"
    assert judged(Eigenvalues(exact, converged=True, method="lanczos")).kind == "consistent"
    said = judged(Eigenvalues(one_less, converged=True, method="lanczos"))
    assert str(said).endswith("spectrum not compared: copies of eigenvalues may be missing")
    low = np.array([0, 1, 2, 6, 6, 6])
    assert judged(Eigenvalues(low, converged=True, method="lanczos")).kind == "inconsistent"
    dense = judged(Eigenvalues(one_less, converged=True, method="dense"))
    assert dense.kind == "inconsistent"
