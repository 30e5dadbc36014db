"""Weights on lattices consistent with the metric, as stencils.

D - W approximates the operator -sum_a A_a^2 / R_aa itself, without a factor: the second moments of
every interior vertex are M = 2 R^-1, times the area of its cell in units of the mean where axes
have different ones, and edges along open sides give back what these take.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.manifolds import FlatManifold
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.neighbours.offsets import OffsetDistances, Stencil
from cheblienet_graphs.neighbours.sides import Neighbourhood, at_sides
from cheblienet_graphs.neighbours.stencil import OffsetTable, StencilEngine, Stencils, reach
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.sparse.blocks import RowBlock
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.boundary import along_sides
from cheblienet_graphs.weights.matching import FARTHEST, VANISHED, lifted, nearest_matching
from cheblienet_graphs.weights.selling import selling
from cheblienet_graphs.weights.tilts import TILT_TARGETS, tilt_moments


@dataclass(frozen=True)
class LatticeWeights:
    """Stencils and the weights of their offsets.

    Args:
        lattice: of the vertices.
        stencils: the neighbours of a vertex, by its orientation.
        values: their weights.
        bandwidth: t of the kernel whose weights are nearest, in squared widths of the domain; None
            where they follow from the metric alone.
        dropped_edges: number of edges left out because their weight came out 0.
        solution: matched weights as solved for, including those that are 0, in pixels^-2.
        left_out: the offsets whose weight came out 0, by orientation.
        along_sides: further edges of the vertices at the first and last place along an axis, by
            axis and orientation; none where boundaries are not corrected.
        side_values: their weights, which add to those of the same offsets.
    """

    lattice: Lattice
    stencils: tuple[Stencil, ...]
    values: tuple[Floats, ...]
    bandwidth: float | None = None
    dropped_edges: int = 0
    solution: Floats | None = None
    left_out: tuple[Stencil, ...] = ()
    along_sides: tuple[tuple[Stencil, ...], ...] = ()
    side_values: tuple[tuple[Floats, ...], ...] = ()

    @property
    def engine(self) -> StencilEngine:
        """Their neighbours."""
        return StencilEngine(self.lattice, self.stencils, self.along_sides)

    @property
    def with_left_out(self) -> StencilEngine:
        """Their neighbours, and those left out."""
        parts = zip(self.stencils, self.left_out, strict=True)
        united = [Neighbourhood.of(kept, [dropped]).stencil for kept, dropped in parts]
        return StencilEngine(self.lattice, united, self.along_sides)

    def on(self, lattice: Lattice) -> "LatticeWeights":
        """These stencils and weights, on a lattice of another size."""
        return replace(self, lattice=lattice)

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        rows, columns = block.rows, block.columns
        everywhere, *sides = self._tables
        found = everywhere.at(rows, columns)
        _, places = self.lattice.decode(rows)
        for there, table in zip(at_sides(places, self.lattice.shape), sides, strict=False):
            found[there] += table.at(rows[there], columns[there])
        return found

    @cached_property
    def _tables(self) -> list[OffsetTable]:
        by_orientation = list(zip(*self.offset_values, strict=True))
        stencils = [around.stencil for around in self.engine.neighbourhoods]
        return [OffsetTable(self.lattice, stencils, values) for values in by_orientation]

    @cached_property
    def offset_values(self) -> list[list[Floats]]:
        """For each orientation the weights of the neighbours, 0 where there is none.

        First (N,) those that a vertex has everywhere, then for each axis what is added to them at
        the sides across it, in the order of `engine.neighbourhoods`.
        """
        found = []
        for k, around in enumerate(self.engine.neighbourhoods):
            masks = [around.everywhere, *around.at_sides]
            values = [self.values[k], *(side[k] for side in self.side_values)]
            rows = [np.zeros(len(around.stencil)) for _ in masks]
            for row, mask, given in zip(rows, masks, values, strict=True):
                row[mask] = given
            found.append(rows)
        return found


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
    lattice = sampled.sampling
    infinite = _Infinite(replace(sampled, sampling=replace(lattice, periodic=False)))
    if spec.weights == "selling":
        minimal, minimal_values = infinite.selling()
        check_room(lattice, minimal, Remedy("weights", "kernel"))
        found = LatticeWeights(lattice, minimal, in_widths(minimal_values, lattice))
        return infinite.corrected(found, minimal_values) if spec.boundary_correction else found
    united = infinite.united(infinite.nearest(spec.searched_neighbors), infinite.selling()[0])
    check_room(lattice, united, Remedy("weights", "kernel"))
    kernel, relative_bandwidth = spec.kernel_and_bandwidth
    squared = np.concatenate([stencil.squared_distance for stencil in united])
    bandwidth = relative_bandwidth * float(squared.mean())
    prior = [kernel(array(s.squared_distance / (4 * bandwidth))).view(np.ndarray) for s in united]
    if solution is None:
        solution = infinite.matched(united, prior)
    values = np.split(solution, np.cumsum([len(s) for s in united])[:-1])
    least = VANISHED * max(float(v.max()) for v in values)
    kept = [v > least for v in values]
    stencils = tuple(s.only(k) for s, k in zip(united, kept, strict=True))
    positive = [v[k] for v, k in zip(values, kept, strict=True)]
    found = LatticeWeights(
        lattice,
        stencils,
        in_widths(positive, lattice),
        bandwidth * lattice.spacing**2,
        solution=solution,
        left_out=tuple(s.only(~k) for s, k in zip(united, kept, strict=True)),
    )
    if spec.boundary_correction:
        found = infinite.corrected(found, positive)
    entries = [engine.total_degree for engine in (found.with_left_out, found.engine)]
    return replace(found, dropped_edges=(entries[0] - entries[1]) // 2)


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
    or_eps = Words(" or ", Remedy("eps")) if lattice.fibre.columns else ""
    larger = Words(", a larger ", Remedy("size"), or_eps, ", or ", instead, ".")
    remedy = Words("Give fewer ", Remedy("levels"), larger)
    size = "x".join(map(str, reversed(lattice.shape)))
    raise SpecError("levels", accepted, size, remedy)


class _Infinite:
    """The infinite lattice, lengths in pixels.

    Args:
        sampled: an open lattice, lengths of its metric in units of the domain's width.
    """

    def __init__(self, sampled: SampledManifold[Lattice]) -> None:
        self._sampled, self._lattice = sampled, sampled.sampling
        self._manifold, self._metric = (
            sampled.manifold,
            sampled.metric.scaled(self._lattice.spacing),
        )
        self._flat = cast("FlatManifold", self._manifold)
        fibre = self._lattice.fibre
        self._areas = np.array(fibre.areas(self._lattice.orientations))
        self._on_axes = bool(fibre.columns) and not fibre.cyclic
        self._distances = OffsetDistances(sampled)

    def nearest(self, neighbors: int) -> tuple[Stencil, ...]:
        """The stencils of the neighbour rule."""
        return Stencils.of(self._sampled, neighbors).stencils

    def selling(self) -> tuple[tuple[Stencil, ...], tuple[Floats, ...]]:
        """Selling's stencils and their weights."""
        stencils_and_weights = selling(self._flat, self._metric, self._lattice)
        stencils = [
            self._distances.stencil(k, *edges[:2]) for k, edges in enumerate(stencils_and_weights)
        ]
        return tuple(stencils), tuple(weights for _, _, weights in stencils_and_weights)

    def united(self, *parts: Sequence[Stencil]) -> tuple[Stencil, ...]:
        """The unions of several stencils of each orientation."""
        united = []
        for k, stencils in enumerate(zip(*parts, strict=True)):
            edges = [np.column_stack([s.orientation, s.offsets]) for s in stencils]
            every = np.unique(np.concatenate(edges), axis=0)
            united.append(self._distances.stencil(k, every[:, 0], every[:, 1:]))
        return tuple(united)

    def matched(self, stencils: Sequence[Stencil], prior: Sequence[Floats]) -> Floats:
        """The weights nearest to the prior, scaled so that it realises the metric on average.

        They are those of all stencils, one after the other.

        Nearest means least sum over edges of (w - w0)^2 / w0. One unknown stands for all edges that
        translations and the half turn map to one another.

        Raises:
            SpecError: no weights on these edges realise the metric.
        """
        k = np.repeat(np.arange(len(stencils)), [len(s) for s in stencils])
        j = np.concatenate([s.orientation for s in stencils])
        offsets = np.concatenate([s.offsets for s in stencils])
        keys = np.stack([np.minimum(k, j), np.maximum(k, j), *_up_to_sign(offsets).T])
        _, first, unknown, entries = np.unique(
            keys, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        moments, targets = self._constraints(k, j, offsets)
        rows = k[:, None] * moments.shape[1] + np.arange(moments.shape[1])
        columns = np.broadcast_to(unknown.reshape(-1, 1), rows.shape)
        parts = (moments.ravel(), (rows.ravel(), columns.ravel()))
        shape = (len(stencils) * moments.shape[1], len(first))
        constraints = scipy.sparse.coo_array(parts, shape=shape).tocsr()
        targets = np.outer(self._areas, targets).ravel()
        start = lifted(np.concatenate(prior)[first])
        start *= targets.sum() / (constraints @ start)[targets > 0].sum()
        # Selling's edges and those between axes are among these, so there are solutions; with few
        # axes they may be far from the prior.
        farthest = math.inf if self._on_axes else FARTHEST
        matching = nearest_matching(constraints, targets, start, entries / 2, farthest=farthest)
        if not matching.converged:
            selling = Remedy("weights", "selling")
            remedy = Words("Use ", selling, ", or more ", Remedy("neighbors"), ".")
            accepted = "kernel or selling here: no matched weights exist on these edges"
            raise SpecError("weights", accepted, "matched", remedy)
        values: Floats = matching.values[unknown.ravel()]
        return values

    def corrected(self, found: LatticeWeights, values: Sequence[Floats]) -> LatticeWeights:
        """The same with edges along the sides.

        Args:
            found: weights of an open lattice.
            values: the same in pixels^-2.
        """
        sides = along_sides(found.stencils, values, cyclic=found.lattice.fibre.cyclic)
        steps = [
            tuple(self._distances.stencil(k, *edges[:2]) for k, edges in enumerate(across))
            for across in sides
        ]
        weights = [in_widths([edges[2] for edges in across], found.lattice) for across in sides]
        return replace(found, along_sides=tuple(steps), side_values=tuple(weights))

    def _constraints(self, k: Indices, j: Indices, offsets: Indices) -> tuple[Floats, Floats]:
        """(N, c) moments that an edge of weight 1 adds, and (c,) targets of sums over the area.

        Second moments along the base, diagonal ones first; along the fibre the second and the first
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
    turned: Indices = np.where(leading < 0, -offsets, offsets)
    return turned
