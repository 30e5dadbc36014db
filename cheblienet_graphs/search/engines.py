"""The neighbors of a sampling's vertices, whichever engine finds them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from cheblienet_graphs.csr import index_type
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.rule import Lengths, Scratch, too_few
from cheblienet_graphs.search.stencil import StencilEngine

if TYPE_CHECKING:
    from cheblienet_graphs.search.neighbor_lists import MutualNeighbors, NeighborLists

Advance = Callable[[int, int], None]
"""A callback that is given the number of vertices done, and of all."""


@dataclass(frozen=True)
class NeighborRule:
    """The neighbors of all vertices of a sampling by the neighbor rule.

    Nothing is computed before it is asked for.

    Args:
        sampled: all vertices and their distances.
        count: K.
        choice: the engine that finds them, and its device.
    """

    sampled: SampledManifold[Sampling]
    count: int
    choice: Choice

    @cached_property
    def rule(self) -> StencilEngine:
        """The neighbor rule on a lattice, and the lengths of its edges.

        Raises:
            SpecError: there are no edges.
        """
        return StencilEngine.of_rule(cast("SampledManifold[Lattice]", self.sampled), self.count)

    def engine(
        self, scratch: Scratch = np.empty, advance: Advance = lambda *_: None
    ) -> "StencilEngine | MutualNeighbors":
        """All neighbors, by the chosen engine in this process alone; off lattices perhaps none.

        Args:
            scratch: makes the array of a search's lists.
            advance: called as a search proceeds.

        Raises:
            SpecError: there are none on a lattice.
        """
        if self.choice.engine == "stencil":
            return self.rule
        from cheblienet_graphs.search.neighbor_lists import MutualNeighbors

        points, vertices = self.sampled.sampling.num_points, self.sampled.sampling.num_vertices
        lists = scratch((vertices, self.count), index_type((vertices, 1), 0))
        by_orientation = lists.reshape(-1, points, self.count)

        def search(rings: int) -> float:
            farthest = 0.0
            for start, nearest, reach in self.lists(rings).of(0, points):
                stop = start + nearest.shape[1]
                by_orientation[:, start:stop] = nearest
                farthest = max(farthest, reach)
                advance(stop * len(by_orientation), vertices)
            return farthest

        self.enough_rings(search)
        return MutualNeighbors(lists, points)

    def lists(self, rings: int = 0) -> "NeighborLists":
        """A search that goes over some of all vertices at a time, among so many rings of images."""
        from cheblienet_graphs.search.neighbor_lists import (
            NeighborLists,  # torch: stencils do without
        )

        radii = self.rule.squared_radii if self._on_lattice else None
        return NeighborLists(self.sampled, self.count, self.choice, radii, rings)

    def enough_rings(self, search: Callable[[int], float]) -> int:
        """The number of rings of images that searches take.

        Args:
            search: among so many rings; gives the largest d^2 that lists depend on.
        """
        rings = int(self.sampled.sampling.periodic)
        tried = None
        while rings != tried:
            tried = rings
            rings = self.lists(tried).enough_rings(search(tried))
        return rings

    def lengths(self, lists: "NeighborLists") -> Lengths:
        """The one function that measures the rule's edges, whichever engine found them.

        Args:
            lists: among all images that edges can reach.
        """
        return (self.rule if self._on_lattice else lists.cloud).squared_distances

    def too_few(self) -> SpecError:
        """The error where no two vertices list each other: names the smallest K that works."""

        def has_edges(count: int) -> bool:
            return replace(self, count=count).engine().total_degree > 0

        return too_few(self.count, has_edges)

    @property
    def _on_lattice(self) -> bool:
        return self.sampled.sampling.lattice is not None
