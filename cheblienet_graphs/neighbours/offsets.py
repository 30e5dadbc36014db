"""Offsets of an infinite lattice, their distances, and the stencils of the neighbour rule."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.neighbours.ellipsoids import Ellipsoids
from cheblienet_graphs.neighbours.rule import last_whole_shell
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.typing import Floats, Indices

SHELL = 1e-7
"""Relative width of a shell of equal distances; rounding spreads one by 1e-15."""


@dataclass(frozen=True)
class Stencil:
    """Neighbours of a vertex, ascending by orientation and offset.

    Args:
        orientation: (N,) of the neighbours.
        offsets: (N, d) whole pixels, in the order of the lattice's shape.
        squared_distance: (N,) d^2, lengths in pixels.
    """

    orientation: Indices
    offsets: Indices
    squared_distance: Floats

    def __len__(self) -> int:
        return len(self.orientation)

    def within(self, orientation: int) -> "Stencil":
        """The neighbours of one orientation."""
        return self.only(self.orientation == orientation)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Stencil":
        """The neighbours where `kept`, (len(self),), is true."""
        return Stencil(self.orientation[kept], self.offsets[kept], self.squared_distance[kept])


class OffsetDistances:
    """Squared distances on the infinite lattice, lengths in pixels.

    Args:
        sampled: a lattice on a manifold, lengths of its metric in widths of the domain.
    """

    def __init__(self, sampled: SampledManifold[Lattice]) -> None:
        self._lattice, self._manifold = sampled.sampling, sampled.manifold
        self._metric = sampled.metric.scaled(sampled.sampling.spacing)

    def stencils(self, neighbors: int) -> tuple[Floats, tuple[Stencil, ...]]:
        """r_k^2 by orientation, and the neighbours of a vertex: d^2 <= min(r_i^2, r_k^2)."""
        orientations = range(self._lattice.orientations)
        radii = np.array([self._radius(k, neighbors) for k in orientations])
        return radii, tuple(self._stencil(k, radii) for k in orientations)

    def _radius(self, k: int, neighbors: int) -> float:
        """r_k^2: the last whole shell that holds at most `neighbors` vertices.

        A ball of radius R holds every vertex nearer than R: it is large enough once K + 1 are.
        """
        radius = 2.0
        while True:
            near = self.within(k, radius**2)
            others = near.squared_distance[_others(near, k)]
            if (others <= radius**2).sum() > neighbors:
                return last_whole_shell(others, neighbors, SHELL)
            radius *= 2

    def _stencil(self, k: int, radii: Floats) -> Stencil:
        vertices = self.within(k, float(radii.max()))
        near = vertices.squared_distance <= (
            np.minimum(radii[k], radii)[vertices.orientation] * (1 + SHELL)
        )
        return vertices.only(near & _others(vertices, k))

    def within(self, k: int, squared_radius: float) -> Stencil:
        """The vertices around the origin, at orientation k, within a radius.

        The origin itself is included; a few may lie beyond the radius.
        """
        return self.stencil(k, *self._ellipsoids[k].offsets(squared_radius))

    def stencil(self, k: int, orientation: Indices, offsets: Indices) -> Stencil:
        """The stencil of orientation k with these (N,) orientations and (N, d) offsets."""
        return Stencil(orientation, offsets, self.at(k, orientation, offsets))

    @cached_property
    def _ellipsoids(self) -> tuple[Ellipsoids, ...]:
        return Ellipsoids.around(self._lattice, self._manifold, self._metric)

    def at(self, k: int, orientation: Indices, offsets: Indices) -> Floats:
        """(N,) d^2 from the origin, at orientation k, to other offsets.

        d(g, h) = d(h, g) holds to rounding; evaluating each pair from the lower orientation makes
        it hold to the last bit.
        """
        forward = np.where(orientation < k, -1, 1)
        starts, ends = self._lattice.edge_coordinates(
            np.minimum(orientation, k), np.maximum(orientation, k), forward[:, None] * offsets
        )
        start, end = (
            self._manifold.elements(tuple(map(array, points.T))) for points in (starts, ends)
        )
        squared: Floats = self._manifold.squared_distance(start, end, self._metric)
        return squared.view(np.ndarray)


def _others(stencil: Stencil, k: int) -> npt.NDArray[np.bool_]:
    """(N,) True where an offset is not that of the origin itself, at orientation k."""
    others: npt.NDArray[np.bool_] = (stencil.orientation != k) | stencil.offsets.any(axis=1)
    return others
