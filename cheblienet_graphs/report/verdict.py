"""The verdict in words: consistency of a graph with its metric, else a remedy."""

import math
from dataclasses import dataclass
from typing import Literal

from cheblienet_graphs.report.compared import Comparison
from cheblienet_graphs.report.diagnostics import EffectiveMetric
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
        words: the consistency in one line, with a remedy.
    """

    consistency: Consistency
    words: str


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
        where = "no point has all its neighbours inside the mask"
        return Verdict("not compared", f"not compared with its metric: {where}")
    metric = sampled.metric
    close = closeness(spec, metric, metrics)
    moments = faults(spec, metric, metrics)
    apart = components > 1 and spec.mask is None  # what is inside a mask may be in pieces
    if not moments and not apart and comparison.agree:
        return _nothing_off(close, comparison)
    if moments and not apart and spec.mask is None and consistent_inside(spec, sampled):
        ends = (
            "around the torus" if sampled.sampling.periodic else "from its middle to the boundary"
        )
        return Verdict("too coarse", f"too coarse for its metric: its edges reach {ends}")
    reach = max(m.squared_reach for m in metrics)
    if not moments and not apart and comparison.too_coarse(reach):
        waves = 2 * math.pi / math.sqrt(float(comparison.exact.max()) * reach)
        # Steps of a fibre are as long on a finer grid, unless xi is smaller there.
        turning = max(m.turning_reach for m in metrics) >= reach
        what = f"too few {fibres.words(spec)}" if turning else "too coarse"
        more = more_of_fibre(spec) if turning else ""
        return Verdict(
            "too coarse",
            f"{what} for its first eigenvalues, up to {_error(comparison)} off: their waves "
            f"are down to {waves:.2g} edges long; second moments {close}{more and f': {more}'}",
        )
    wrong = [f"falls into {components:,} components"] if apart else []
    wrong += moments
    if not apart and not comparison.agree:
        wrong.append(f"first eigenvalues are up to {_error(comparison)} off")
    known = f"; second moments {close}" if not moments else ""
    found = remedy(spec, sampled) if moments or not apart else ""
    todo = found and f": {found}"
    return Verdict(
        "inconsistent", f"not consistent with its metric: {'; '.join(wrong)}{known}{todo}"
    )


def _nothing_off(close: str, comparison: Comparison) -> Verdict:
    if comparison.unknown is not None:
        return Verdict(
            "not compared",
            f"second moments consistent with its metric: {close}; spectrum not compared: "
            f"{comparison.unknown}",
        )
    count = len(comparison.errors) + 1
    spectrum = f"first {count} eigenvalues within {_error(comparison)}"
    return Verdict("consistent", f"consistent with its metric: second moments {close}, {spectrum}")


def _error(comparison: Comparison) -> str:
    return words.percent(comparison.error or 0.0)
