"""Weights on lattices consistent with the metric, as stencils.

D - W approximates the operator -sum_a A_a^2 / R_aa itself, without a factor: the second moments of
every interior vertex are M = 2 R^-1, times the area of its cell in units of the mean where axes
have different ones, and edges along open sides give back what these take.

Weights along one direction of an oriented plane are for Laplacians of their own. With e the
direction of an orientation and e' across it: "forward" has Selling's stencils of e e^T + delta e'
e'^T, "sideways" those of delta e e^T + e' e'^T, per squared width; "rotation" has the steps along
the fiber alone, per squared radian, so that it does not depend on xi. Second moments are
2 diag(1, delta, 0), 2 diag(delta, 1, 0) and 2 diag(0, 0, (s / sin s)^2), s = pi / n_o, with which
the first mode along the fiber is exact.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.manifolds import FlatManifold, Metric
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.offsets import OffsetDistances, Stencil
from cheblienet_graphs.search.stencil import StencilEngine, Stencils, reach
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.boundary import Edges, along_sides
from cheblienet_graphs.weights.edges import KernelWeights
from cheblienet_graphs.weights.matching import FARTHEST, VANISHED, lifted, matched
from cheblienet_graphs.weights.selling import (
    TILT_TARGETS,
    edges_along,
    selling,
    stencils_of,
    tilt_moments,
)

Weighted = tuple[tuple[Stencil, ...], tuple[Floats, ...]]
"""Stencils and their weights, by orientation."""


@dataclass(frozen=True)
class LatticeWeights:
    """Stencils and the weights of their offsets.

    Args:
        lattice: of the vertices.
        stencils: the neighbors of a vertex, by its orientation.
        values: their weights.
        bandwidth: t of the kernel whose weights are nearest, in squared widths of the domain; None
            where they follow from the metric alone.
        solution: matched weights as solved for, including those that are 0, in pixels^-2.
        united: by orientation the offsets with those whose weight came out 0; none where none did.
        sides: further edges of the vertices at the first and last place along an axis, by axis;
            their weights add to those of the same offsets. None where boundaries are not corrected.
    """

    lattice: Lattice
    stencils: tuple[Stencil, ...]
    values: tuple[Floats, ...]
    bandwidth: float | None = None
    solution: Floats | None = None
    united: tuple[Stencil, ...] = ()
    sides: tuple[Weighted, ...] = ()

    @property
    def engine(self) -> StencilEngine:
        """Their neighbors."""
        return self._engine(self.stencils)

    @property
    def with_left_out(self) -> StencilEngine:
        """Their neighbors, and those left out."""
        return self._engine(self.united or self.stencils)

    def _engine(self, stencils: tuple[Stencil, ...]) -> StencilEngine:
        return StencilEngine(self.lattice, stencils, [along for along, _ in self.sides])

    @cached_property
    def offset_values(self) -> list[list[Floats]]:
        """For each orientation the weights of the neighbors, 0 where there is none.

        First (N,) those that a vertex has everywhere, then for each axis what is added to them at
        the sides across it, in the order of `engine.neighborhoods`.
        """
        by_orientation = []
        for k, around in enumerate(self.engine.neighborhoods):
            masks = [around.everywhere, *around.at_sides]
            values = [self.values[k], *(weights[k] for _, weights in self.sides)]
            rows = [np.zeros(len(around.stencil)) for _ in masks]
            for row, mask, given in zip(rows, masks, values, strict=True):
                row[mask] = given
            by_orientation.append(rows)
        return by_orientation

    @property
    def outweighed_at_sides(self) -> bool:
        """Whether edges that lead out of an open lattice weigh twice what is added there, or more.

        On the infinite lattice x^T (D - W) x of a signal that is 0 outside has w x_i^2 for each
        edge that leads out; on the open one w (x_i - x_j)^2 <= 2 w (x_i^2 + x_j^2) for each that is
        added. So no eigenvalue is beyond those of the infinite lattice then.
        """
        ends = list(itertools.product((-1, 0, 1), repeat=len(self.lattice.shape)))
        for around, (values, *added) in zip(
            self.engine.neighborhoods, self.offset_values, strict=True
        ):
            for at in ends if added else []:
                outside = (around.stencil.offsets * at > 0).any(axis=1)
                more = sum(side[~outside].sum() for side, end in zip(added, at, strict=True) if end)
                if values[outside].sum() < 2 * more:
                    return False
        return True


def lattice_weights(
    spec: GraphSpec, sampled: SampledManifold[Lattice], solution: Floats | None = None
) -> LatticeWeights:
    """The weights "selling" or "matched" of a level.

    Args:
        spec: of the build.
        sampled: the level's points, lengths of their metric in units of the domain's width.
        solution: of "matched" weights, where they are solved for already.

    Raises:
        SpecError: the lattice is too small for the stencils, or there are no such weights.
    """
    lattice, infinite = sampled.sampling, _Infinite(sampled)
    stencils, values = infinite.selling()
    instead: Remedy | Words = Remedy("weights", "kernel")
    if spec.mask_edge == "cut":
        instead = Words(instead, " with ", Remedy("mask_edge", "pixels"))
    if spec.weights == "selling":
        check_room(lattice, stencils, instead)
        sides = infinite.sides(stencils, values) if spec.boundary_correction else ()
        return LatticeWeights(lattice, stencils, in_widths(values, lattice), sides=sides)
    by_rule = Stencils.of(infinite.sampled, spec.searched_neighbors).stencils
    united = infinite.united(by_rule, stencils)
    check_room(lattice, united, instead)
    squared = np.concatenate([stencil.squared_distance for stencil in united])
    kernel = KernelWeights.of_mean(spec, float(squared.mean()))
    if solution is None:
        solution = infinite.matched(united, kernel.of_squared_lengths(squared))
    kept = solution > VANISHED * float(solution.max())
    ends = np.cumsum([len(stencil) for stencil in united])[:-1]
    parts = list(zip(np.split(solution, ends), np.split(kept, ends), strict=True))
    values = tuple(part[positive] for part, positive in parts)
    stencils = tuple(s.only(positive) for s, (_, positive) in zip(united, parts, strict=True))
    return LatticeWeights(
        lattice,
        stencils,
        in_widths(values, lattice),
        kernel.bandwidth * lattice.spacing**2,
        solution,
        united,
        infinite.sides(stencils, values) if spec.boundary_correction else (),
    )


def directional_weights(
    sampled: SampledManifold[Lattice], direction: str, delta: float
) -> LatticeWeights:
    """The weights along a direction.

    Args:
        sampled: the level's points with their metric, which the weights do not depend on.
        direction: one of `spec.edges.DIRECTIONS`.
        delta: the diffusivity across it.

    Raises:
        SpecError: the lattice is too small for the stencils.
    """
    lattice = sampled.sampling
    stencils, values = _Infinite(sampled).along(direction, delta)
    check_room(lattice, stencils, Words("a larger ", Remedy("directional")))
    per_radian = direction == "rotation"
    return LatticeWeights(lattice, stencils, values if per_radian else in_widths(values, lattice))


def in_widths(values: Sequence[Floats], lattice: Lattice) -> tuple[Floats, ...]:
    """Weights in pixels^-2, converted to widths^-2."""
    return tuple(v * lattice.pixels_per_area for v in values)


def check_room(lattice: Lattice, stencils: Sequence[Stencil], instead: str | Remedy) -> None:
    """Refuse stencils that no vertex has room for, or that reach a vertex both ways round a torus.

    Args:
        lattice: finite.
        stencils: of each orientation.
        instead: what else to give.

    Raises:
        SpecError: the lattice is too small.
    """
    needed = [(2 * r if lattice.periodic else r) + 1 for r in reach(stencils)]
    if all(side >= least for side, least in zip(lattice.shape, needed, strict=True)):
        return
    accepted = (
        f"such that every level has at least {'x'.join(map(str, reversed(needed)))} pixels, as the "
        f"stencils of this metric reach {max(reach(stencils))} pixels far"
    )
    or_eps = Words(" or ", Remedy("eps")) if lattice.fiber.columns else ""
    larger = Words(", a larger ", Remedy("size"), or_eps, ", or ", instead, ".")
    remedy = Words("Give fewer ", Remedy("levels"), larger)
    size = "x".join(map(str, reversed(lattice.shape)))
    raise SpecError("levels", accepted, size, remedy)


class _Infinite:
    """The infinite lattice, lengths in pixels.

    Args:
        sampled: a lattice, lengths of its metric in units of the domain's width.
    """

    def __init__(self, sampled: SampledManifold[Lattice]) -> None:
        self.sampled = replace(sampled, sampling=replace(sampled.sampling, periodic=False))
        self._lattice = self.sampled.sampling
        self._manifold = cast("FlatManifold", sampled.manifold)
        self._metric = sampled.metric.scaled(self._lattice.spacing)
        fiber = self._lattice.fiber
        self._on_axes = bool(fiber.columns) and not fiber.cyclic
        self._distances = OffsetDistances(self.sampled)

    def selling(self) -> Weighted:
        """Selling's stencils and their weights."""
        return self._measured(selling(self._manifold, self._metric, self._lattice))

    def along(self, direction: str, delta: float) -> Weighted:
        """The stencils along a direction and their weights, lengths in pixels and radians."""
        fiber, count = self._lattice.fiber, self._lattice.orientations
        if direction == "rotation":
            steps = edges_along(fiber, count, 1.0)
            return self._measured(stencils_of([()] * count, steps, self._lattice))
        rates = (1.0, delta) if direction == "forward" else (delta, 1.0)
        frames = [self._manifold.diffusion(s, Metric(1.0)) for s in fiber.samples(count)]
        diffusions = [
            tuple((rate, e) for rate, (_, e) in zip(rates, frame, strict=True)) for frame in frames
        ]
        return self._measured(stencils_of(diffusions, [[]] * count, self._lattice))

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

    def matched(self, stencils: Sequence[Stencil], prior: Floats) -> Floats:
        """The weights nearest to the prior, scaled so that it realizes the metric on average.

        Both are those of all stencils, one after the other.

        Nearest means least sum over edges of (w - w0)^2 / w0. One unknown stands for all edges that
        translations and the half turn map to one another.

        Raises:
            SpecError: no weights on these edges realize the metric.
        """
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
        # Selling's edges and those between axes are among these, so there are solutions; with few
        # axes they may be far from the prior.
        farthest = math.inf if self._on_axes else FARTHEST
        edges = moments, k, unknown, targets, lifted(prior[first]), entries / 2
        matching = matched(*edges, farthest=farthest)
        if not matching.converged:
            selling = Remedy("weights", "selling")
            remedy = Words("Use ", selling, ", or more ", Remedy("neighbors"), ".")
            accepted = "kernel or selling here: no matched weights exist on these edges"
            raise SpecError("weights", accepted, "matched", remedy)
        return matching.values[unknown]

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
        moment, which is the drift, or those of tilts. All others cancel in pairs of opposite edges.
        """
        starts, ends = self._lattice.edge_coordinates(k, j, offsets)
        first, second = edge_moments(self._manifold, self._metric, starts, ends)
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
