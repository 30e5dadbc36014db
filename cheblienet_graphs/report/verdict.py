"""The verdict: consistency of a graph with its metric, else causes and a remedy."""

import math
from dataclasses import dataclass
from typing import Literal

from cheblienet_graphs.report.compared import Comparison
from cheblienet_graphs.report.diagnostics import EffectiveMetric
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.remedies import consistent_inside, more_of_fibre, remedy
from cheblienet_graphs.report.second_moments import closeness, faults
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec, fibres, words

Consistency = Literal["consistent", "inconsistent", "not compared", "too coarse"]


@dataclass(frozen=True)
class Verdict:
    """The consistency of a level's graph with the operator of its metric.

    Args:
        consistency: "consistent": one component, second moments those of the metric, and the first
            eigenvalues those of the operator; "not compared": consistent as far as known, but no
            eigenvalues were compared; "too coarse": the length of the edges explains the errors, so
            a graph with finer points or more of the fibre may not have them; else "inconsistent".
        finding: that with its causes and a remedy.
    """

    consistency: Consistency
    finding: Finding


def verdict(
    spec: GraphSpec,
    sampled: SampledManifold[Sampling],
    metrics: list[EffectiveMetric],
    components: int,
    comparison: Comparison,
) -> Verdict:
    """Judge a level.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        metrics: realised by its weights, by orientation.
        components: number of connected components.
        comparison: of its first eigenvalues with the exact ones.
    """
    if not metrics:
        return Verdict("not compared", Finding("not measured"))
    metric = sampled.metric
    close = {"close": closeness(spec, metric, metrics)}
    moments = faults(spec, metric, metrics)
    apart = components > 1 and spec.mask is None  # what is inside a mask may be in pieces
    if not moments and not apart and comparison.agree:
        return _nothing_off(close, comparison)
    if moments and not apart and spec.mask is None and consistent_inside(spec, sampled):
        periodic = sampled.sampling.periodic
        ends = "around the torus" if periodic else "from its middle to the boundary"
        return Verdict("too coarse", Finding("coarse lattice", numbers={"ends": ends}))
    reach = max(m.squared_reach for m in metrics)
    error = {"error": words.percent(comparison.error or 0.0)}
    if not moments and not apart and comparison.too_coarse(reach):
        waves = 2 * math.pi / math.sqrt(float(comparison.exact.max()) * reach)
        # Steps of a fibre are as long on a finer grid, unless xi is smaller there.
        turning = max(m.turning_reach for m in metrics) >= reach
        what = f"too few {fibres.words(spec)}" if turning else "too coarse"
        numbers = close | error | {"what": what, "waves": waves}
        advice = more_of_fibre(spec) if turning else None
        return Verdict("too coarse", Finding("coarse spectrum", numbers=numbers, advice=advice))
    causes = [Finding("apart", numbers={"count": components})] if apart else []
    causes += moments
    if not apart and not comparison.agree:
        causes.append(Finding("eigenvalues", numbers=error))
    if not moments:
        causes.append(Finding("close", numbers=close))
    advice = remedy(spec, sampled) if moments or not apart else None
    return Verdict("inconsistent", Finding("inconsistent", causes=tuple(causes), advice=advice))


def _nothing_off(close: dict[str, str], comparison: Comparison) -> Verdict:
    if comparison.unknown is not None:
        why = close | {"why": comparison.unknown}
        return Verdict("not compared", Finding("not compared", numbers=why))
    count, error = len(comparison.errors) + 1, words.percent(comparison.error or 0.0)
    numbers = close | {"count": count, "error": error}
    return Verdict("consistent", Finding("consistent", numbers=numbers))
