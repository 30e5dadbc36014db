"""xi for a given share of edges within one orientation.

The fraction grows with alpha, xi^2 = alpha n A, in steps: whole shells come and go.
"""

import functools
import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.choice import STENCILS, Choice
from cheblienet_graphs.search.engines import NeighborRule
from cheblienet_graphs.search.rule import Scratch
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats, Progress

SCANNED_VERTICES = 300
"""Up to this many vertices xi is solved for by a scan, since the fraction has few values."""
STARTING_POINTS = 500
"""Number of base points below which a level says little about finer ones."""

STEPS = 120
"""Values of alpha that a scan tries, log-spaced in [x / 4, 4 x]."""

WINDOWS = 4
MOST_SCANNED = STEPS * WINDOWS
"""Values of alpha that a scan tries at most; most often one window is enough."""
CLOSE_ENOUGH = 0.002
MAX_TRIALS = 24
SATURATED = 4

Fraction = Callable[[float], float]
"""The in-plane fraction of the graph by alpha; nan where it has no edges."""


def alpha_solver(
    spec: GraphSpec,
    choice: Choice,
    full: Callable[[int], Sampling],
    scratch: Scratch,
    progress: Progress,
) -> Callable[[int], float]:
    """The alpha of each level for which its in-plane fraction is what was asked for, solved once.

    Args:
        spec: of the build.
        choice: the engine that finds neighbors, and its device.
        full: all points of a level.
        scratch: makes the array of a search's lists.
        progress: called as this proceeds.
    """
    kind, target, guess = spec.sampling_kind, spec.in_plane_fraction or math.nan, first_guess(spec)
    quickest = STENCILS if kind.regular else choice

    def fraction(number: int, advance: Progress, alpha: float) -> float:
        """The fraction of a level's graph; nan without edges. Searches call `advance`."""
        metric = spec.metric_of_alpha(alpha, number)
        sampled = SampledManifold(full(number), spec.geometry, metric)
        neighbors = NeighborRule(sampled, spec.weighting.count, quickest)
        shown = f"level {number}: trying xi = {metric.xi:.3g}"
        try:
            edges = neighbors.engine(scratch, partial(advance, shown))
        except SpecError:
            if not kind.regular:  # a search is refused for other reasons
                raise
            return math.nan
        total = edges.total_degree
        return edges.in_plane_degree / total if total else math.nan

    def scan(number: int) -> float:
        tried = itertools.count(1)

        def shown(alpha: float) -> float:
            reached = fraction(number, lambda *_: None, alpha)
            progress(f"level {number}: trying values of xi", next(tried), MOST_SCANNED)
            return reached

        return scanned(shown, target, guess)

    @functools.cache
    def alpha(number: int) -> float:
        if kind.regular or spec.orientations * spec.full_points(number) <= SCANNED_VERTICES:
            return scan(number)
        known = kind.default_levels == "worthwhile"  # else the same whatever number of levels
        has_coarser = known and len(kind.sizes(spec.level_size(number))) > 1
        nearby = has_coarser and spec.full_points(number + 1) >= STARTING_POINTS
        start = alpha(number + 1) if nearby else guess
        return searched(partial(fraction, number, progress), target, start)

    return alpha


def first_guess(spec: GraphSpec) -> float:
    """The alpha for the target fraction if vertices were spread evenly.

    With r^2 = f K A / (pi eps) the area in the plane, solves for rho = (delta xi / r)^2 in
    sum_{k != 0} (1 - k^2 rho)_+ sinc^2(k delta / 2) = (1 - f) / f, delta the step. In space sums
    are over the angles a between axes, (1 - rho a^2)_+^(3/2) sinc^2(a / 2), averaged over the axes;
    r^2 = (3 f K h^3 / (4 pi eps^2))^(2/3), xi^2 = rho r^2.
    """
    target, n_o = spec.in_plane_fraction or 0.4, spec.orientations
    edges = target * spec.weighting.count
    if spec.axes is not None:
        angles = axis_set(spec.axes).angles
        others = angles[~np.eye(len(angles), dtype=bool)]
        share = np.sinc(others / (2 * math.pi)) ** 2 / len(angles)
        rho = _rho(share, others, 1.5, target, float(others.min()) ** -2)
        cubed_radius = 3 * edges / (4 * math.pi * spec.eps**2)  # over h^3
        return rho * math.pow(cubed_radius, 2 / 3) / n_o
    delta = spec.geometry.fiber.step(n_o)
    steps = np.arange(1, n_o // 2 + 1)
    # Both ways round, but the step by half the fiber leads to one orientation only.
    share = np.where(2 * steps == n_o, 1.0, 2.0) * np.sinc(steps * delta / (2 * math.pi)) ** 2
    squared_radius = edges / (math.pi * spec.eps)  # in units of A
    return _rho(share, steps, 1.0, target, 1.0) * squared_radius / (delta**2 * spec.per_half_turn)


def _rho(
    share: Floats, steps: npt.NDArray[Any], power: float, target: float, highest: float
) -> float:
    """The ratio at which the shares of steps away from an orientation add up to (1 - f) / f."""
    from scipy.optimize import brentq  # builds with a given xi do without it

    def excess(rho: float) -> float:
        inside = np.maximum(1 - steps**2 * rho, 0) ** power
        return float((share * inside).sum()) - (1 - target) / target

    return float(brentq(excess, 0, highest)) if excess(0) > 0 else 1e-3


def scanned(fraction: Fraction, target: float, guess: float) -> float:
    """The middle of the plateau closest to the target.

    Looks at [x / 4, 4 x]; where the best plateau lies at an end of that, the window moves there, as
    it has to on spheres of a few points, where alpha may be ten times the guess.

    Args:
        fraction: of the graph for an alpha.
        target: f.
        guess: x; of plateaus equally close the nearest to it is taken.

    Returns:
        alpha, the geometric middle of the plateau.
    """
    center = guess
    for _ in range(WINDOWS):
        alphas = np.geomspace(center / 4, center * 4, STEPS)
        fractions = np.array([fraction(float(alpha)) for alpha in alphas])
        if np.isnan(fractions).all():
            return guess
        starts = np.flatnonzero(np.append(True, fractions[1:] != fractions[:-1]))
        ends = np.append(starts[1:], STEPS) - 1
        middles = np.sqrt(alphas[starts] * alphas[ends])
        miss = np.nan_to_num(abs(fractions[starts] - target), nan=math.inf)
        best = np.lexsort((abs(np.log(middles / guess)), np.round(miss, 9)))[0]
        center = float(middles[best])
        inside = starts[best] > 0 and ends[best] < STEPS - 1
        if inside or miss[best] <= CLOSE_ENOUGH:
            break
    return center


def searched(fraction: Fraction, target: float, guess: float) -> float:
    """The alpha where the fraction is the target, for graphs so large that its steps are small.

    Secant steps from a guess, kept within the bracket once there is one. Ends where the target is
    met to 0.002, at a step that straddles it, or where alpha no longer matters; the best trial is
    returned.

    Args:
        fraction: of the graph for an alpha.
        target: f.
        guess: where to begin.
    """
    trials: list[tuple[float, float]] = []
    alpha = guess
    while len(trials) < MAX_TRIALS:
        reached = fraction(alpha)
        if not trials and math.isnan(reached):
            return guess
        trials.append((alpha, (0.0 if math.isnan(reached) else reached) - target))
        if abs(trials[-1][1]) <= CLOSE_ENOUGH:
            break
        below = max((trial for trial in trials if trial[1] < 0), default=None)
        above = min((trial for trial in trials if trial[1] > 0), default=None)
        if below is None or above is None:
            last = [miss for _, miss in trials[-SATURATED:]]
            if len(last) == SATURATED and max(last) - min(last) < CLOSE_ENOUGH:
                break  # the target is out of reach
            alpha *= 1.25 if above is None else 0.8
            continue
        (low, under), (high, over) = below, above
        if not low < high * (1 - 1e-4):
            break
        share = float(np.clip(under / (under - over), 0.1, 0.9))
        alpha = low * (high / low) ** share
    return min(trials, key=lambda trial: (abs(trial[1]), abs(math.log(trial[0] / guess))))[0]
