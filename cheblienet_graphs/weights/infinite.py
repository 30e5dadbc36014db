"""Weights on lattices consistent with the metric, as stencils.

D - W approximates the operator -sum_a A_a^2 / R_aa itself, without a factor: the second moments of
every interior vertex are M = 2 R^-1, times the area of its cell in units of the mean where axes
have different ones, and edges along open sides give back what these take.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds.manifold import Diffusion
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.offsets import OffsetDistances, Stencil
from cheblienet_graphs.search.stencil import StencilEngine, reach
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.lattice import LatticeWeights, Weighted
from cheblienet_graphs.weights.sides import Edges, along_sides
from cheblienet_graphs.weights.superbases import (
    TILT_TARGETS,
    FiberEdges,
    selling,
    stencils_of,
    tilt_moments,
)

if TYPE_CHECKING:
    from cheblienet_graphs.weights.matched import Matched


def selling_weights(
    sampled: SampledManifold[Lattice], instead: str, *, corrected: bool
) -> LatticeWeights:
    """Selling's stencils and their weights.

    Args:
        sampled: the level's points, lengths of their metric in units of the domain's width.
        instead: what else to give where there is no room for them.
        corrected: whether open sides are.

    Raises:
        SpecError: the lattice is too small for the stencils.
    """
    lattice = sampled.sampling
    infinite = InfiniteLattice(sampled)
    stencils, values = infinite.selling()
    check_room(lattice, stencils, instead)
    sides = infinite.sides(stencils, values) if corrected else ()
    engine = StencilEngine(lattice, stencils, [along for along, _ in sides])
    return LatticeWeights(engine, in_widths(values, lattice), sides=sides)


def matched_weights(
    weights: "Matched",
    sampled: SampledManifold[Lattice],
    instead: str,
    solution: Floats | None,
    *,
    corrected: bool,
) -> LatticeWeights | None:
    """Weights of the rule's stencils, united with Selling's, that match the metric.

    Args:
        weights: with K and the kernel.
        sampled: the level's points, lengths of their metric in units of the domain's width.
        instead: what else to give where there is no room for them.
        solution: where they are solved for already.
        corrected: whether open sides are.

    Returns:
        None where no weights on these edges realize the metric.

    Raises:
        SpecError: the lattice is too small for the stencils.
    """
    from cheblienet_graphs.weights.matching import VANISHED  # loads solvers

    lattice, infinite = sampled.sampling, InfiniteLattice(sampled)
    by_rule = StencilEngine.of_rule(infinite.sampled, weights.count).stencils
    united = infinite.united(by_rule, infinite.selling()[0])
    check_room(lattice, united, instead)
    squared = np.concatenate([stencil.squared_distance for stencil in united])
    mean = float(squared.mean())
    if solution is None:
        solution = infinite.matched(united, weights.of_squared_lengths(squared, mean))
    if solution is None:
        return None
    kept = solution > VANISHED * float(solution.max())
    ends = np.cumsum([len(stencil) for stencil in united])[:-1]
    parts = list(zip(np.split(solution, ends), np.split(kept, ends), strict=True))
    values = tuple(part[positive] for part, positive in parts)
    stencils = tuple(s.only(positive) for s, (_, positive) in zip(united, parts, strict=True))
    sides = infinite.sides(stencils, values) if corrected else ()
    return LatticeWeights(
        StencilEngine(lattice, stencils, [along for along, _ in sides]),
        in_widths(values, lattice),
        weights.width(mean) * lattice.spacing**2,
        solution,
        united,
        sides,
    )


def in_widths(values: Sequence[Floats], lattice: Lattice) -> tuple[Floats, ...]:
    """Weights in pixels^-2, converted to widths^-2."""
    return tuple(v * lattice.pixels_per_area for v in values)


def check_room(lattice: Lattice, stencils: Sequence[Stencil], instead: str) -> None:
    """Refuse stencils that no vertex has room for, or that reach a vertex both ways round a torus.

    Args:
        lattice: finite.
        stencils: of each orientation.
        instead: what else to give.

    Raises:
        SpecError: the lattice is too small.
    """
    needed = _needed(lattice, stencils)
    if not needed:
        return
    accepted = (
        f"such that every level has at least {'x'.join(map(str, reversed(needed)))} pixels, as the "
        f"stencils of this metric reach {max(reach(stencils))} pixels far"
    )
    or_eps = " or `eps`" if lattice.fiber.columns else ""
    larger = f", a larger `size`{or_eps}, or {instead}."
    remedy = f"Give fewer `levels`{larger}"
    size = "x".join(map(str, reversed(lattice.shape)))
    raise SpecError("levels", accepted, size, remedy)


def with_room(sampled: SampledManifold[Lattice], count: int) -> tuple[bool, bool]:
    """Two flags: a lattice has room for Selling's stencils, and for the matched ones of K.

    Args:
        sampled: the lattice, lengths of its metric in units of the domain's width.
        count: K of the rule; its stencils are united with Selling's.
    """
    infinite = InfiniteLattice(sampled)
    stencils, _ = infinite.selling()
    if _needed(sampled.sampling, stencils):
        return False, False
    united = infinite.united(StencilEngine.of_rule(infinite.sampled, count).stencils, stencils)
    return True, not _needed(sampled.sampling, united)


def _needed(lattice: Lattice, stencils: Sequence[Stencil]) -> list[int]:
    """The sides that a lattice must have for such stencils; empty where it is large enough."""
    sides = [(2 * r if lattice.periodic else r) + 1 for r in reach(stencils)]
    enough = all(side >= least for side, least in zip(lattice.shape, sides, strict=True))
    return [] if enough else sides


class InfiniteLattice:
    """The infinite lattice, lengths in pixels.

    Args:
        sampled: a lattice, lengths of its metric in units of the domain's width.
    """

    def __init__(self, sampled: SampledManifold[Lattice]) -> None:
        self.sampled = replace(sampled, sampling=replace(sampled.sampling, periodic=False))
        self._lattice = self.sampled.sampling
        self.manifold = sampled.manifold
        self._metric = sampled.metric.scaled(self._lattice.spacing)
        fiber = self._lattice.fiber
        self._on_axes = bool(fiber.columns) and not fiber.cyclic
        self._distances = OffsetDistances(self.sampled)

    def selling(self) -> Weighted:
        """Selling's stencils and their weights."""
        return self._measured(selling(self.manifold, self._metric, self._lattice))

    def along(self, diffusions: Sequence[Diffusion], steps: Sequence[FiberEdges]) -> Weighted:
        """Stencils of operators along the base, and of edges to other orientations.

        Args:
            diffusions: of each orientation, as of `superbases.stencils_of`.
            steps: likewise.
        """
        return self._measured(stencils_of(diffusions, steps, self._lattice))

    def _measured(self, found: Sequence[Edges]) -> Weighted:
        """Stencils and their weights, of the edges of each orientation."""
        stencils = (self._distances.stencil(k, *edges[:2]) for k, edges in enumerate(found))
        return tuple(stencils), tuple(weights for _, _, weights in found)

    def united(self, *parts: Sequence[Stencil]) -> tuple[Stencil, ...]:
        """The unions of several stencils of each orientation."""
        united = []
        for k, stencils in enumerate(zip(*parts, strict=True)):
            edges = [np.column_stack([s.orientation, s.offsets]) for s in stencils]
            every = np.unique(np.concatenate(edges), axis=0)
            united.append(self._distances.stencil(k, every[:, 0], every[:, 1:]))
        return tuple(united)

    def matched(self, stencils: Sequence[Stencil], prior: Floats) -> Floats | None:
        """The weights nearest to the prior, scaled so that it realizes the metric on average.

        Both are for all stencils, one after the other.

        Nearest means least sum over edges of (w - w0)^2 / w0. One unknown stands for all edges that
        translations and the half turn map to one another.

        Returns:
            (N,); None where no weights on these edges realize the metric.
        """
        from cheblienet_graphs.weights.matching import FARTHEST, lifted, matched  # loads solvers

        k = np.repeat(np.arange(len(stencils)), [len(s) for s in stencils])
        j = np.concatenate([s.orientation for s in stencils])
        offsets = np.concatenate([s.offsets for s in stencils])
        keys = np.stack([np.minimum(k, j), np.maximum(k, j), *_up_to_sign(offsets).T])
        _, first, unknown, entries = np.unique(
            keys, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        unknown = unknown.ravel()
        moments, targets = self._constraints(k, j, offsets)
        targets = np.outer(self._lattice.fiber.shares(len(stencils)), targets).ravel()
        # Selling's edges and edges between axes are among these, so there are solutions; with few
        # axes they may be far from the prior.
        farthest = math.inf if self._on_axes else FARTHEST
        edges = moments, k, unknown, targets, lifted(prior[first]), entries / 2
        matching = matched(*edges, farthest=farthest)
        return matching.values[unknown] if matching.converged else None

    def sides(self, stencils: Sequence[Stencil], values: Sequence[Floats]) -> tuple[Weighted, ...]:
        """The edges along the sides of an open lattice, by axis, weights in widths^-2.

        Args:
            stencils: of the lattice.
            values: their weights in pixels^-2.
        """
        sides = along_sides(stencils, values, cyclic=self._lattice.fiber.cyclic)
        across = (self._measured(edges) for edges in sides)
        return tuple((along, in_widths(weights, self._lattice)) for along, weights in across)

    def _constraints(self, k: Indices, j: Indices, offsets: Indices) -> tuple[Floats, Floats]:
        """(N, c) moments that an edge of weight 1 adds, and (c,) targets of sums over the area.

        Second moments along the base, diagonal ones first; along the fiber the second and the first
        moment, which is the drift, or moments of tilts. All others cancel in pairs of opposite
        edges.
        """
        starts, ends = self._lattice.edge_coordinates(k, j, offsets)
        first, second = edge_moments(self.manifold, self._metric, starts, ends)
        d = len(self._lattice.shape)
        moments = [second[:, a, b] for a, b in _pairs(d)]
        targets = [2.0 * (a == b) for a, b in _pairs(d)]
        if self._on_axes:
            squares, drift = tilt_moments(starts[:, d:], ends[:, d:])
            moments += [*(self._metric.xi**2 * squares.T), *(self._metric.xi * drift.T)]
            targets += TILT_TARGETS
        elif self._lattice.orientations > 1:
            moments += [second[:, d, d], first[:, d]]
            targets += [2.0, 0.0]
        return np.stack(moments, axis=1), np.array(targets)


def _pairs(dimension: int) -> list[tuple[int, int]]:
    """Pairs of directions, equal ones first."""
    pairs = itertools.combinations(range(dimension), 2)
    return [(a, a) for a in range(dimension)] + list(pairs)


def _up_to_sign(offsets: Indices) -> Indices:
    """(N, d) offsets, negated where the first nonzero entry is negative."""
    first = (offsets != 0).argmax(axis=1)
    leading = np.take_along_axis(offsets, first[:, None], axis=1)
    return np.where(leading < 0, -offsets, offsets)
