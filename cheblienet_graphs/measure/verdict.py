"""The verdict: consistency of a graph with its metric, else causes and advice.

Second moments are compared with the metric asked for. On lattices their equality is necessary for
consistency with the metric's operator, and nearly sufficient. On irregular points it is not
sufficient: where first moments do not vanish, eigenvalues come out too low. Where these do vanish,
as with the weights of Voronoi cells, it is not necessary at single points either, but on average
over regions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from cheblienet_graphs import limits
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.measure.comparison import Comparison
from cheblienet_graphs.measure.faults import (
    CLOSE,
    by_design,
    deviation,
    deviation_from,
    faults,
    few_samples,
    levels_off,
    unlike_areas,
)
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.moments import EffectiveMetric, MeasuredLevel, effective_metric
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.weights.weighting import Advice

LARGE = 2**12
"""Pixels along each side of a lattice that is so large that its boundary does not matter."""
Consistency = Literal["consistent", "not compared", "kernel weights", "too coarse", "inconsistent"]


@dataclass(frozen=True)
class Judgment:
    """A level and all that its verdict depends on; each part is found when it is first asked for.

    Args:
        arrays: of the level.
        components: number of connected components.
        comparison: of its first eigenvalues with the exact ones.
    """

    arrays: MeasuredLevel
    components: int
    comparison: Comparison

    @cached_property
    def spec(self) -> GraphSpec:
        """The specification of the build."""
        return self.arrays.spec

    @cached_property
    def metrics(self) -> list[EffectiveMetric]:
        """The metrics that the weights realize; empty where they can be measured nowhere."""
        return self.arrays.metrics

    @cached_property
    def metric(self) -> Metric:
        """The metric asked for."""
        return self.arrays.sampled.metric

    @cached_property
    def apart(self) -> bool:
        """True if the graph is in pieces; the region inside a mask may be in pieces itself."""
        return self.components > 1 and self.spec.mask is None

    @cached_property
    def moments(self) -> list[Finding]:
        """Faults of the second moments."""
        return faults(self.spec, self.metric, self.metrics)

    @cached_property
    def wrong(self) -> list[Finding]:
        """Faults of the weights."""
        return self.moments or levels_off(self.spec)

    @cached_property
    def fits(self) -> bool:
        """True if the eigenvalues agree, as far as they are compared."""
        return self.comparison.agree and self.comparison.too_coarse(self.reach)

    @cached_property
    def areas(self) -> list[Finding]:
        """Faults of given areas, which are none where eigenvalues were compared and agree."""
        proven = self.comparison.unknown is None and self.fits
        return [] if proven else unlike_areas(self.arrays)

    @cached_property
    def sound(self) -> bool:
        """True if nothing but eigenvalues may speak against consistency."""
        return not (self.wrong or self.areas or self.apart)

    @cached_property
    def by_design(self) -> bool:
        """True if the weights are not made for the metric, and nothing else is wrong."""
        return not (self.areas or self.apart) and by_design(self.spec, self.wrong)

    @cached_property
    def reach(self) -> float:
        """The largest squared reach of the edges."""
        return max(m.squared_reach for m in self.metrics)

    @cached_property
    def turning(self) -> bool:
        """True if edges along the fiber are the longest.

        Steps of a fiber are as long on a finer grid, unless xi is smaller there.
        """
        return max(m.turning_reach for m in self.metrics) >= self.reach

    @cached_property
    def ends_reached(self) -> bool:
        """True if second moments are off only because edges reach the boundary or around."""
        if not self.moments or self.apart or self.spec.mask is not None:
            return False
        return _consistent_inside(self.spec, self.arrays.sampled)

    @cached_property
    def too_few_samples(self) -> bool:
        """True if the fiber carries too few functions for the eigenvalues that are compared."""
        highest = float(self.comparison.exact.max(initial=0.0))
        return few_samples(self.spec, self.metric, highest) and not self.comparison.all_agree

    @cached_property
    def edges_too_long(self) -> bool:
        """True if the length of the edges explains the errors of the eigenvalues."""
        return self.comparison.too_coarse(self.reach) or self.spec.weighting.finite_volumes(
            self.spec
        )

    def deviation(self) -> dict[str, float]:
        """The deviation of the second moments."""
        return deviation(self.spec, self.metric, self.metrics)

    def nothing(self) -> Finding:
        """A verdict without numbers."""
        return Finding("")

    def compared(self) -> Finding:
        """The errors of the eigenvalues, and which of them are exact by construction."""
        comparison = self.comparison
        error, number = comparison.error or 0.0, len(comparison.errors) + 1
        numbers = self.deviation() | {"count": comparison.count, "error": error}
        if comparison.constructed:
            numbers |= dict(zip(("first", "last"), comparison.constructed, strict=True))
        if number > comparison.count and comparison.largest > error:
            numbers |= {"further": number, "further_error": comparison.largest}
        return Finding("", numbers=numbers)

    def not_compared(self) -> Finding:
        """The reason why no eigenvalues are compared."""
        causes = (Finding(self.comparison.unknown or ""),)
        return Finding("", numbers=self.deviation(), causes=causes)

    def coarse_fiber(self) -> Finding:
        """The number of samples along the fiber, and what it does to eigenvalues."""
        numbers = self.deviation() | {"samples": self.spec.orientations}
        if self.comparison.unknown is None:
            numbers |= {"count": len(self.comparison.errors) + 1, "error": self.comparison.largest}
        return Finding("", numbers=numbers, advice=_more_of_fiber(self.spec))

    def coarse_spectrum(self) -> Finding:
        """The errors of the eigenvalues, and their waves in units of the edges."""
        comparison = self.comparison
        shortest = float(comparison.exact[: comparison.count - 1].max())
        waves = 2 * math.pi / math.sqrt(shortest * self.reach)
        numbers = self.deviation() | {"error": comparison.error or 0.0, "waves": waves}
        advice = _more_of_fiber(self.spec) if self.turning else None
        return Finding("", numbers=numbers, advice=advice)

    def kernel_weights(self) -> Finding:
        """The metric that the weights realize, and advice for diffusion and spectra."""
        return Finding("", causes=tuple(self.wrong or self._off()), advice=advice(self.spec))

    def inconsistent(self) -> Finding:
        """All causes, and advice that applies to the first."""
        causes = [Finding("apart", numbers={"count": self.components})] if self.apart else []
        causes += self.wrong + self.areas
        off = not self.fits or (self.wrong and not self.moments)
        if not self.apart and self.comparison.unknown is None and off:
            causes += self._off()
        if not self.moments:
            causes.append(Finding("close", numbers=self.deviation()))
        # More neighbors mend second moments, and add to the errors at open sides.
        advised = self.moments or not (self.apart or self.areas)
        return Finding("", causes=tuple(causes), advice=advice(self.spec) if advised else None)

    def _off(self) -> list[Finding]:
        """The errors of the eigenvalues, as a cause."""
        comparison = self.comparison
        count, most = comparison.count, comparison.error or 0.0
        if comparison.agree:
            count, most = len(comparison.errors) + 1, comparison.largest
        return [Finding("eigenvalues", numbers={"count": count, "error": most})]


class Rule(NamedTuple):
    """A verdict, and when it holds.

    Args:
        kind: of the finding.
        consistency: the answer that it gives.
        holds: whether it does, if no rule above does.
        finding: its numbers, causes and advice.
    """

    kind: str
    consistency: Consistency
    holds: Callable[[Judgment], bool]
    finding: Callable[[Judgment], Finding] = Judgment.nothing


RULES = (
    Rule("not measured", "not compared", lambda level: not level.metrics),
    Rule("coarse lattice", "too coarse", lambda level: level.ends_reached),
    Rule(
        "kernel weights",
        "kernel weights",
        lambda level: level.by_design and not level.sound,
        Judgment.kernel_weights,
    ),
    Rule("inconsistent", "inconsistent", lambda level: not level.sound, Judgment.inconsistent),
    Rule("coarse fiber", "too coarse", lambda level: level.too_few_samples, Judgment.coarse_fiber),
    Rule(
        "not compared",
        "not compared",
        lambda level: level.comparison.unknown is not None,
        Judgment.not_compared,
    ),
    Rule("consistent", "consistent", lambda level: level.fits, Judgment.compared),
    Rule(
        "coarse spectrum, fiber",
        "too coarse",
        lambda level: level.edges_too_long and level.turning,
        Judgment.coarse_spectrum,
    ),
    Rule(
        "coarse spectrum",
        "too coarse",
        lambda level: level.edges_too_long,
        Judgment.coarse_spectrum,
    ),
    Rule(
        "kernel weights",
        "kernel weights",
        lambda level: level.by_design,
        Judgment.kernel_weights,
    ),
    Rule("inconsistent", "inconsistent", lambda _: True, Judgment.inconsistent),
)
"""The verdicts: the first rule that holds decides.

"consistent": one component, with the second moments of the metric and the first eigenvalues of the
operator; "not compared": consistent as far as known, but no eigenvalues were compared; "kernel
weights": those of the paper, which are not made for the metric, and nothing else is wrong; "too
coarse": the length of the edges explains the errors, so a graph with finer points or more of the
fiber may not have them; else "inconsistent".
"""
CONSISTENCY = {rule.kind: rule.consistency for rule in RULES}
"""The answer that each kind of verdict gives."""


def verdict(arrays: MeasuredLevel, components: int, comparison: Comparison) -> Finding:
    """Judge a level: a finding of one of the kinds of `CONSISTENCY`, with causes and advice.

    Args:
        arrays: of the level.
        components: number of connected components.
        comparison: of its first eigenvalues with the exact ones.
    """
    judgment = Judgment(arrays, components, comparison)
    rule = next(rule for rule in RULES if rule.holds(judgment))
    return replace(rule.finding(judgment), kind=rule.kind, levels=(arrays.level,))


def advice(spec: GraphSpec) -> Advice | None:
    """Changes that make a graph more like its metric's operator, or may; None without any.

    Args:
        spec: of the build.
    """
    if spec.geometry.oriented and spec.orientations == 1:
        return Advice(more="orientations")
    advised = spec.weighting.advice(spec)
    return _more_of_fiber(spec) if advised is None and spec.sampling_kind.regular else advised


def _more_of_fiber(spec: GraphSpec) -> Advice | None:
    """Advice to take more orientations or axes; None where there are none, or no more."""
    most = limits.ORIENTATIONS.high if spec.axes is None else max(limits.AXES.values())
    if not spec.geometry.oriented or spec.orientations >= most:
        return None
    return Advice(more="orientations" if spec.axes is None else "axes")


def _consistent_inside(spec: GraphSpec, sampled: SampledManifold[Sampling]) -> bool:
    """True if the middle of a larger lattice with such pixels would have the right moments."""
    if (lattice := sampled.sampling.whole_lattice) is None:
        return False
    large = replace(lattice, shape=(LARGE,) * len(lattice.shape), periodic=False)
    metric = sampled.metric.scaled(lattice.spacing / large.spacing)
    weights = spec.weighting.on_lattice(spec, SampledManifold(large, sampled.manifold, metric))
    metric = sampled.metric.scaled(lattice.spacing)
    metrics = []
    for k, (stencil, values) in enumerate(zip(weights.stencils, weights.values, strict=True)):
        own = np.full(len(stencil), k)
        starts, ends = lattice.edge_coordinates(own, stencil.orientation, stencil.offsets)
        _, second = edge_moments(sampled.manifold, metric, starts, ends)
        moments = np.einsum("j,jab->ab", values, second)
        # What else there is in a metric says nothing of a lattice's moments.
        metrics.append(effective_metric(sampled, k, moments, np.zeros(len(moments)), 0.0))
    return deviation_from(spec, sampled.metric, metrics) <= CLOSE
