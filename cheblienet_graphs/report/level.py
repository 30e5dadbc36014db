"""The report on one level of a pyramid, and how it is measured."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from cheblienet_graphs.measure import diagnostics
from cheblienet_graphs.measure.comparison import FURTHER, LARGE, LONGEST, compared, deciding
from cheblienet_graphs.measure.diagnostics import GradientReport, gradient_report
from cheblienet_graphs.measure.error_bars import ErrorBars, error_bars
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.moments import EffectiveMetric, MeasuredLevel
from cheblienet_graphs.measure.spectra import exact_eigenvalues, first_eigenvalues
from cheblienet_graphs.measure.verdict import CONSISTENCY, Consistency, verdict
from cheblienet_graphs.report.sentences import sentence
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spectrum.numeric import multiplicities
from cheblienet_graphs.store.facts import LevelFacts
from cheblienet_graphs.typing import Progress


@dataclass(frozen=True, kw_only=True)
class LevelReport(LevelFacts):
    """One graph of the pyramid: its recorded facts, and what was measured.

    Where a version is older than `eigenvalue_scale`, that is measured, too.

    Args:
        level: 0 is the finest.
        sparsity: share of zeros of the Laplacian.
        degree: min, mean, max number of neighbors.
        components: connected components.
        eigenvalues: the smallest of Delta, ascending, repeated by multiplicity.
        multiplicities: of the distinct eigenvalues; the last may have more copies.
        eigenvalues_converged: whether the solver reached its tolerance.
        eigenvalues_method: "bloch", "dense", "chebyshev", "shift-invert" or "lanczos"; "stored"
            where they come from the build, "components" where there are enough components for all
            to be 0; None where there are none.
        multiplicities_may_be_larger: whether copies of eigenvalues may have been missed, as
            Lanczos recursions with single vectors can.
        exact_eigenvalues: of the Laplace-Beltrami operator, in its units; None where none
            are known.
        error_bars: estimated errors of the eigenvalues, and values extrapolated, in its units.
        effective_metric: the metrics that the weights realize, by orientation.
        spectral_error: the largest relative error of the first eigenvalues, 6 or more, that decide
            the verdict; None where none were compared.
        further_error: that of the first 25, where the graph is not too large for these.
        finding: the consistency with its causes and advice.
        verdict: the finding in words.
        equivariance: symmetry -> max |P'LP - L|; names of symmetries that the sampling has only
            approximately say so.
        weights: min, median, max of the edges.
        inside: share of the sampling's points inside the mask, or of the area, where its edge cuts
            pixels; None without one.
        cut: where it does, "share" of the points with a cut pixel, "least" and "most" mass of a
            vertex, in pixels; else None.
        derivatives: how well gradients differentiate; None where there are none.
    """

    level: int
    sparsity: float
    degree: dict[str, float]
    components: int
    eigenvalues: list[float]
    multiplicities: list[int]
    eigenvalues_converged: bool
    eigenvalues_method: str | None
    multiplicities_may_be_larger: bool
    exact_eigenvalues: list[float] | None
    error_bars: ErrorBars
    effective_metric: list[EffectiveMetric]
    spectral_error: float | None
    further_error: float | None
    finding: Finding
    verdict: str
    equivariance: dict[str, float]
    weights: dict[str, float]
    inside: float | None
    cut: dict[str, float] | None
    derivatives: GradientReport | None

    @property
    def consistency(self) -> Consistency:
        """Agreement with the metric, such as "consistent"; `verdict.RULES` has all answers."""
        return CONSISTENCY[self.finding.kind]

    def to_json(self, spec: GraphSpec) -> dict[str, Any]:
        """All of it as JSON types, findings in words."""
        fields = asdict(self)
        del fields["finding"]
        if self.cut is None:
            del fields["cut"]
        if self.derivatives is None:
            del fields["derivatives"]
        elif self.derivatives.steep is not None:
            fields["derivatives"]["steep"] = sentence(self.derivatives.steep, spec)
        return fields | {"consistency": self.consistency}


def level_report(arrays: MeasuredLevel, count: int, progress: Progress) -> LevelReport:
    """Examine a published level.

    Args:
        arrays: of the level.
        count: of eigenvalues to compute, if there are so many.
        progress: called with the name of a stage, its steps done and the most there may be.
    """
    number, facts, spec = arrays.level, arrays.of_level, arrays.spec
    # Arrays bound the size, so they are opened first: points of a false size would fill the memory.
    laplacian, sampled = arrays.laplacian, arrays.sampled
    count = min(count, facts.vertices)

    def step(what: str, done: int = 0, total: int = 0) -> None:
        progress(f"level {number}: {what}", done, total)

    step("components")
    components = arrays.components
    step("eigenvalues")
    known = exact_eigenvalues(arrays, max(count, LONGEST))
    looked_at = _looked_at(arrays, known, count) if components == 1 else count
    every = first_eigenvalues(arrays, looked_at, step)
    spectrum = every.first(count)
    step("metric")
    comparison = compared(arrays, every, known)
    finding = verdict(arrays, components, comparison)
    points = sampled.sampling
    step("symmetries")
    errors = diagnostics.equivariance_errors(laplacian, sampled.sampling)
    step("weights")
    derivatives = gradient_report(arrays)
    return LevelReport(
        **replace(facts, eigenvalue_scale=arrays.scale),
        level=number,
        sparsity=1 - facts.nnz / facts.vertices**2,
        degree=_degrees(laplacian),
        components=components,
        eigenvalues=spectrum.values.tolist(),
        multiplicities=multiplicities(spectrum.values, facts.lambda_max),
        eigenvalues_converged=spectrum.converged,
        eigenvalues_method=spectrum.method if count else None,
        multiplicities_may_be_larger=spectrum.method == "lanczos",
        exact_eigenvalues=None if known is None else known[:count],
        error_bars=error_bars(arrays, spectrum),
        effective_metric=arrays.metrics,
        spectral_error=comparison.error,
        further_error=comparison.further_error,
        finding=finding,
        verdict=sentence(finding, spec),
        equivariance=errors,
        weights=diagnostics.weight_statistics(arrays),
        derivatives=derivatives,
        inside=None if spec.mask is None else points.inside_share,
        cut=points.cut_statistics,
    )


def _looked_at(arrays: MeasuredLevel, exact: list[float] | None, count: int) -> int:
    """The number of eigenvalues to compute: enough for the verdict, or `count` if less than 2.

    Args:
        arrays: of the level.
        exact: of the operator; None where none are known.
        count: asked for.
    """
    if exact is None or count < 2:
        return count
    vertices = arrays.of_level.vertices
    stored = arrays.eigenvalues
    most = deciding(arrays.spec, arrays.sampled.metric, exact)
    if stored is not None and len(stored) >= most:
        most = max(most, min(len(stored), FURTHER))
    elif vertices <= LARGE or arrays.spec.boundary == "periodic":
        most = max(most, FURTHER)
    return min(max(count, most), vertices)


def _degrees(laplacian: scipy.sparse.csr_array) -> dict[str, float]:
    """The smallest, mean and largest number of neighbors."""
    degrees = np.diff(laplacian.indptr) - 1
    return {name: float(getattr(degrees, name)()) for name in ("min", "mean", "max")}
