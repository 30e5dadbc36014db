"""The neighbours of a level's vertices, however they are found."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.cloud import Cloud, PairLengths
from cheblienet_graphs.neighbours.inside import Inside, InsideEngine
from cheblienet_graphs.neighbours.protocols import Engine, Lengths, Scratch
from cheblienet_graphs.neighbours.rule import too_few
from cheblienet_graphs.neighbours.stencil import StencilEngine, Stencils
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    from cheblienet_graphs.neighbours.search import NeighbourLists
    from cheblienet_graphs.weights.lattice import LatticeWeights

Advance = Callable[[int, int], None]
"""Told how many vertices are done, of how many."""


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of all vertices of a sampling.

    They are those of the neighbour rule, except where weights come with stencils of their own.
    Nothing is computed before it is asked for.

    Args:
        sampled: all vertices and their distances.
        count: K.
        choice: the engine that finds them, and its device.
        offset_weights: those weights, where there are some.
        inside: the vertices inside a mask, where there is one.
    """

    sampled: SampledManifold[Sampling]
    count: int
    choice: Choice
    offset_weights: "LatticeWeights | None" = None
    inside: Inside | None = None

    @cached_property
    def rule(self) -> Stencils:
        """The neighbour rule on a lattice, and the lengths of its edges.

        Raises:
            SpecError: there are no edges.
        """
        lattice = self.sampled.sampling
        if not isinstance(lattice, Lattice):
            raise TypeError("stencils exist on lattices only")
        sampled = SampledManifold(lattice, self.sampled.manifold, self.sampled.metric)
        return Stencils.of(sampled, self.count)

    @cached_property
    def by_stencils(self) -> StencilEngine:
        """All neighbours on a whole lattice, whichever engine was chosen.

        Raises:
            SpecError: there are no edges.
        """
        if self.offset_weights is not None:
            return self.offset_weights.engine
        return StencilEngine(self.rule.lattice, self.rule.stencils)

    def engine(self, scratch: Scratch = np.empty, advance: Advance = lambda *_: None) -> Engine:
        """All neighbours, those inside a mask, by the chosen engine in this process alone.

        Args:
            scratch: makes the array of a search's lists.
            advance: called as a search proceeds.

        Raises:
            SpecError: there are no edges.
        """
        if self.choice.engine == "stencil":
            found: Engine = self.by_stencils
        else:
            found = self._searched(scratch, advance)
            if found.total_degree == 0:
                raise self.too_few()
        if self.inside is None:
            return found
        vertices = self.sampled.sampling.orientations * len(self.inside.places)
        return InsideEngine(found, self.inside, vertices)

    def counted(self, scratch: Scratch, advance: Advance = lambda *_: None) -> Engine:
        """All neighbours of a whole sampling, by the quickest engine, where their number matters.

        There may be none off lattices; arguments are those of `engine`.

        Raises:
            SpecError: there are none on a lattice.
        """
        return self.by_stencils if self._on_lattice else self._searched(scratch, advance)

    def lists(self, rings: int) -> "NeighbourLists":
        """A search that goes over some of all vertices at a time, among so many rings of images."""
        from cheblienet_graphs.neighbours.search import NeighbourLists  # torch: stencils do without

        return NeighbourLists(
            self.sampled, self.count, self.choice, squared_radii=self._squared_radii, rings=rings
        )

    def lengths(self, cloud: Cloud) -> Lengths:
        """The one function that measures the rule's edges, whichever engine found them.

        Args:
            cloud: the vertices with all images that edges can reach; needed off lattices only.
        """
        return self.rule if self._on_lattice else PairLengths(cloud)

    def too_few(self) -> SpecError:
        """The error where no two vertices list each other: names the smallest K that works."""

        def has_edges(count: int) -> bool:
            return replace(self, count=count).counted(np.empty).total_degree > 0

        return too_few(self.count, has_edges)

    @property
    def _on_lattice(self) -> bool:
        return isinstance(self.sampled.sampling, Lattice)

    @property
    def _squared_radii(self) -> Floats | None:
        """(n_o,) r^2 by orientation where they are known beforehand."""
        return self.rule.squared_radii if self._on_lattice else None

    def _searched(self, scratch: Scratch, advance: Advance) -> Engine:
        from cheblienet_graphs.neighbours.search import SearchEngine  # torch: stencils do without

        return SearchEngine(
            self.sampled,
            self.count,
            self.choice,
            squared_radii=self._squared_radii,
            scratch=scratch,
            progress=advance,
        )
