"""Weights on plane lattices consistent with the metric, as stencils.

They are those of the operator -(A1^2 + eps^2 A2^2 + xi^-2 A3^2) itself: D - W has its eigenvalues,
and the second moments of every interior vertex are M = 2 R^-1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.moments import edge_moments
from cheblienet_graphs.neighbours.stencil import (
    OffsetDistances,
    OffsetTable,
    Stencil,
    StencilEngine,
    Stencils,
    reach,
)
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.sparse.blocks import RowBlock
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.matching import VANISHED, lifted, nearest_matching
from cheblienet_graphs.weights.selling import selling


@dataclass(frozen=True)
class LatticeWeights:
    """Stencils and the weights of their offsets.

    Args:
        lattice: where.
        stencils: the neighbours of a vertex, by its orientation.
        values: their weights.
        bandwidth: t of the kernel that they are nearest to, in squared widths of the domain; None
            where they follow from the metric alone.
        dropped_edges: how many edges were left out because their weight came out 0.
        solution: matched weights as they were solved for, those that are 0 too, in pixels^-2.
    """

    lattice: PlaneLattice
    stencils: tuple[Stencil, ...]
    values: tuple[Floats, ...]
    bandwidth: float | None = None
    dropped_edges: int = 0
    solution: Floats | None = None

    def on(self, lattice: PlaneLattice) -> "LatticeWeights":
        """The same on a lattice of another size, with the weights of this one."""
        return replace(self, lattice=lattice)

    def weights(self, block: RowBlock) -> Floats:
        """(nnz,) weights of the entries of some rows, 0 on the diagonal."""
        return self._table.at(block.rows, block.columns)

    @cached_property
    def _table(self) -> OffsetTable:
        return OffsetTable(self.lattice, self.stencils, self.values)


def lattice_weights(
    spec: GraphSpec, lattice: PlaneLattice, metric: Metric, solution: Floats | None = None
) -> LatticeWeights:
    """The weights "selling" or "matched" of a level.

    Args:
        spec: of the build.
        lattice: the level's.
        metric: the level's, lengths in units of the domain's width.
        solution: of the same, where "matched" weights are solved for already.

    Raises:
        SpecError: the lattice is too small for the stencils, or there are no such weights.
    """
    plane = _Plane(spec.geometry, metric.scaled(lattice.spacing), replace(lattice, periodic=False))
    if spec.weights == "selling":
        minimal, minimal_values = plane.selling()
        _check_room(lattice, minimal)
        return LatticeWeights(lattice, minimal, _in_widths(minimal_values, lattice))
    nearest = Stencils.of(plane.lattice, spec.geometry, metric, spec.neighbors).stencils
    united = plane.united(nearest, plane.selling()[0])
    _check_room(lattice, united)
    kernel, relative_bandwidth = spec.kernel_and_bandwidth
    squared = np.concatenate([stencil.squared_distance for stencil in united])
    bandwidth = relative_bandwidth * float(squared.mean())
    prior = [kernel(array(s.squared_distance / (4 * bandwidth))).view(np.ndarray) for s in united]
    if solution is None:
        solution = plane.matched(united, prior)
    values = np.split(solution, np.cumsum([len(s) for s in united])[:-1])
    least = VANISHED * max(float(v.max()) for v in values)
    kept = [v > least for v in values]
    stencils = tuple(s.only(k) for s, k in zip(united, kept, strict=True))
    entries = [StencilEngine(lattice, s).total_degree for s in (united, stencils)]
    return LatticeWeights(
        lattice,
        stencils,
        _in_widths([v[k] for v, k in zip(values, kept, strict=True)], lattice),
        bandwidth * lattice.spacing**2,
        (entries[0] - entries[1]) // 2,
        solution,
    )


def _in_widths(values: Sequence[Floats], lattice: PlaneLattice) -> tuple[Floats, ...]:
    """Weights of operators per pixel^2 as those per width^2."""
    return tuple(v * lattice.width**2 for v in values)


def _check_room(lattice: PlaneLattice, stencils: Sequence[Stencil]) -> None:
    """Refuse stencils that no vertex has room for, or that reach a vertex both ways round.

    Raises:
        SpecError: the lattice is too small.
    """
    needed = [(2 * r if lattice.periodic else r) + 1 for r in reversed(reach(stencils))]
    if lattice.width >= needed[0] and lattice.height >= needed[1]:
        return
    accepted = (
        f"such that every level has at least {needed[0]}x{needed[1]} pixels, as the stencils of "
        f"this metric reach {max(reach(stencils))} pixels far"
    )
    remedy = "Give fewer `levels`, a larger `size` or `eps`, or `weights='kernel'`."
    raise SpecError("levels", accepted, f"{lattice.width}x{lattice.height}", remedy)


class _Plane:
    """The infinite lattice, lengths in pixels."""

    def __init__(self, manifold: Manifold, metric: Metric, lattice: PlaneLattice) -> None:
        self.manifold, self.metric, self.lattice = manifold, metric, lattice
        self.distances = OffsetDistances(lattice, manifold, metric)

    def selling(self) -> tuple[tuple[Stencil, ...], tuple[Floats, ...]]:
        """Selling's stencils and their weights."""
        lattice = self.lattice
        found = selling(lattice.theta, self.metric.eps, self.metric.xi)
        stencils = tuple(self._stencil(k, offsets) for k, (offsets, _) in enumerate(found))
        return stencils, tuple(weights for _, weights in found)

    def united(self, *parts: Sequence[Stencil]) -> tuple[Stencil, ...]:
        """Stencils that have the offsets of all of those given."""
        united = []
        for k, stencils in enumerate(zip(*parts, strict=True)):
            offsets = [np.stack([s.orientation, s.dy, s.dx]) for s in stencils]
            united.append(self._stencil(k, np.unique(np.concatenate(offsets, axis=1), axis=1)))
        return tuple(united)

    def _stencil(self, k: int, offsets: Indices) -> Stencil:
        orientation, dy, dx = offsets
        return Stencil(orientation, dy, dx, self.distances.at(k, orientation, dy, dx))

    def matched(self, stencils: Sequence[Stencil], prior: Sequence[Floats]) -> Floats:
        """The weights nearest to the prior's multiple that realises the metric on average.

        Of all stencils, one after the other.

        Nearest means least sum over edges of (w - w0)^2 / w0. One unknown stands for all edges that
        translations and the half turn map to one another.

        Raises:
            SpecError: no weights on these edges realise the metric.
        """
        k = np.repeat(np.arange(len(stencils)), [len(s) for s in stencils])
        j, dy, dx = (
            np.concatenate([getattr(s, part) for s in stencils])
            for part in ("orientation", "dy", "dx")
        )
        sign = np.where((dy < 0) | ((dy == 0) & (dx < 0)), -1, 1)
        keys = np.stack([np.minimum(k, j), np.maximum(k, j), sign * dy, sign * dx])
        _, first, unknown, entries = np.unique(
            keys, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        moments = self._moments(k, j, dy, dx)
        rows = k[:, None] * moments.shape[1] + np.arange(moments.shape[1])
        columns = np.broadcast_to(unknown.reshape(-1, 1), rows.shape)
        parts = (moments.ravel(), (rows.ravel(), columns.ravel()))
        shape = (len(stencils) * moments.shape[1], len(first))
        constraints = scipy.sparse.coo_array(parts, shape=shape).tocsr()
        diagonal = DIAGONAL[: moments.shape[1]]
        targets = np.tile(2.0 * diagonal, len(stencils))
        start = lifted(np.concatenate(prior)[first])
        start *= targets.sum() / (constraints @ start)[targets > 0].sum()
        found = nearest_matching(constraints, targets, start, entries / 2)
        if not found.converged:
            remedy = "Use `weights='selling'`, or more `neighbors`."
            accepted = "kernel or selling here: no matched weights exist on these edges"
            raise SpecError("weights", accepted, "matched", remedy)
        values: Floats = found.values[unknown.ravel()]
        return values

    def _moments(self, k: Indices, j: Indices, dy: Indices, dx: Indices) -> Floats:
        """(N, constraints) what an edge of weight 1 adds, as `DIAGONAL`; others cancel in pairs."""
        theta = self.lattice.theta
        zero = np.zeros(len(k))
        columns = len(self.manifold.columns)
        starts = np.stack([zero, zero, theta[k]], axis=1)[:, :columns]
        ends = np.stack([dx, dy, theta[j]], axis=1)[:, :columns]
        first, second = edge_moments(self.manifold, self.metric, starts, ends)
        moments = [second[:, 0, 0], second[:, 1, 1], second[:, 0, 1]]
        if self.lattice.orientations > 1:
            moments += [second[:, 2, 2], first[:, 2]]
        return np.stack(moments, axis=1)


DIAGONAL = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
"""Which constraints are diagonal second moments: M11, M22, M12, M33, and the drift sum w c3."""
