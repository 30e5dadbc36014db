"""The verdict: consistency of a graph with its metric, else causes and a remedy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.moments import EffectiveMetric
from cheblienet_graphs.report.second_moments import (
    closeness,
    consistent_inside,
    faults,
    more_of_fiber,
    remedy,
)
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.spec import GraphSpec, fibers, words
from cheblienet_graphs.spectrum.numeric import Eigenvalues
from cheblienet_graphs.typing import Floats

FIRST = 6
"""Number of the smallest eigenvalues that are compared, 0 among them."""
AGREEING = 0.1
"""Relative difference up to which they agree."""
HIGHER_TERMS = 2.0
"""Factor that the estimate of `too_coarse` may be exceeded by: it leaves out higher terms."""

Consistency = Literal["consistent", "inconsistent", "not compared", "too coarse"]
CONSISTENCY: dict[str, Consistency] = {
    "consistent": "consistent",
    "inconsistent": "inconsistent",
    "not compared": "not compared",
    "not measured": "not compared",
    "coarse lattice": "too coarse",
    "coarse spectrum": "too coarse",
}
"""What each kind of verdict says of the level's graph and the operator of its metric.

"consistent": one component, second moments those of the metric, and the first eigenvalues those of
the operator; "not compared": consistent as far as known, but no eigenvalues were compared; "too
coarse": the length of the edges explains the errors, so a graph with finer points or more of the
fiber may not have them; else "inconsistent".
"""


@dataclass(frozen=True)
class Comparison:
    """The relative errors of the first eigenvalues.

    Args:
        unknown: why nothing is compared; None where something is.
        exact: (M - 1,) eigenvalues of the operator, without the 0.
        errors: (M - 1,) graph's / exact - 1; empty where nothing is compared.
    """

    unknown: str | None
    exact: Floats = field(default_factory=lambda: np.empty(0))
    errors: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def error(self) -> float | None:
        """The largest absolute error; None where nothing is compared."""
        return float(abs(self.errors).max()) if self.unknown is None else None

    @property
    def agree(self) -> bool:
        """Whether no error exceeds the tolerance; also where nothing is compared."""
        return bool((abs(self.errors) <= AGREEING).all())

    def too_coarse(self, squared_reach: float) -> bool:
        """Whether the length of the edges explains every error above the tolerance.

        On a graph with the right second moments an eigenvalue lambda becomes
        lambda (1 - lambda l^2 / 12 + ...) by Taylor's series, l^2 the squared reach; the further
        terms are small where the wavelength is large against l.

        Args:
            squared_reach: of the edges, as in `EffectiveMetric`.
        """
        off = abs(self.errors) > AGREEING
        explained = HIGHER_TERMS * self.exact * squared_reach / 12
        return bool(((self.errors < 0) & (-self.errors <= explained))[off].all())


def compared(
    spectrum: Eigenvalues,
    scale: float | None,
    exact: Sequence[float] | None,
    *,
    masked: bool = False,
) -> Comparison:
    """Compare the first eigenvalues of Delta, as many as there are.

    Args:
        spectrum: the smallest eigenvalues of Delta.
        scale: factor by which they estimate the operator's; None where no vertex has a neighbor.
        exact: (M,) or more eigenvalues of the operator; None where none are known.
        masked: whether the graph covers a part of its domain.
    """
    count = min(FIRST, len(spectrum.values))
    if exact is None:
        where = "on a part of the domain" if masked else "with an open boundary"
        return Comparison(f"none is known exactly {where}")
    if count < 2:
        return Comparison("no eigenvalues were computed")
    if not spectrum.converged or scale is None:
        return Comparison("the eigenvalues did not converge")
    true = np.array(exact[1:count])
    errors = spectrum.values[1:count] * scale / true - 1
    missed_copies = spectrum.method == "lanczos" and (errors > AGREEING).any()
    if missed_copies and (errors >= -AGREEING).all():
        return Comparison("copies of eigenvalues may be missing")
    return Comparison(None, true, errors)


def verdict(
    spec: GraphSpec,
    sampled: SampledManifold[Sampling],
    metrics: list[EffectiveMetric],
    components: int,
    comparison: Comparison,
) -> Finding:
    """Judge a level: a finding of one of the kinds of `CONSISTENCY`, with causes and a remedy.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        metrics: realized by its weights, by orientation.
        components: number of connected components.
        comparison: of its first eigenvalues with the exact ones.
    """
    if not metrics:
        return Finding("not measured")
    close = {"close": closeness(spec, sampled.metric, metrics)}
    error = {"error": words.percent(comparison.error or 0.0)}
    moments = faults(spec, sampled.metric, metrics)
    apart = components > 1 and spec.mask is None  # what is inside a mask may be in pieces
    if not moments and not apart and comparison.unknown is not None:
        return Finding("not compared", numbers=close | {"why": comparison.unknown})
    if not moments and not apart and comparison.agree:
        count = {"count": len(comparison.errors) + 1}
        return Finding("consistent", numbers=close | count | error)
    if moments and not apart and spec.mask is None and consistent_inside(spec, sampled):
        periodic = sampled.sampling.periodic
        ends = "around the torus" if periodic else "from its middle to the boundary"
        return Finding("coarse lattice", numbers={"ends": ends})
    reach = max(m.squared_reach for m in metrics)
    if not moments and not apart and comparison.too_coarse(reach):
        waves = 2 * math.pi / math.sqrt(float(comparison.exact.max()) * reach)
        # Steps of a fiber are as long on a finer grid, unless xi is smaller there.
        turning = max(m.turning_reach for m in metrics) >= reach
        what = f"too few {fibers.words(spec)}" if turning else "too coarse"
        numbers = close | error | {"what": what, "waves": waves}
        advice = more_of_fiber(spec) if turning else None
        return Finding("coarse spectrum", numbers=numbers, advice=advice)
    causes = [Finding("apart", numbers={"count": components})] if apart else []
    causes += moments
    if not apart and not comparison.agree:
        causes.append(Finding("eigenvalues", numbers=error))
    if not moments:
        causes.append(Finding("close", numbers=close))
    advice = remedy(spec, sampled) if moments or not apart else None
    return Finding("inconsistent", causes=tuple(causes), advice=advice)
