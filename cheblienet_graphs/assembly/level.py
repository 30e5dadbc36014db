"""One level of a build: its sampling, metric, neighbours and the lengths of its edges."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from cheblienet_graphs.assembly.xi import MOST_SCANNED, first_guess, scanned, searched
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.cloud import PairLengths
from cheblienet_graphs.neighbours.protocols import Engine, Lengths, Scratch
from cheblienet_graphs.neighbours.rule import too_few
from cheblienet_graphs.neighbours.stencil import StencilEngine, Stencils
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.sampling import sampling
from cheblienet_graphs.typing import Floats, Progress
from cheblienet_graphs.weights.kernel import KernelWeights
from cheblienet_graphs.weights.protocol import EdgeWeights

if TYPE_CHECKING:
    from cheblienet_graphs.neighbours.search import NeighbourLists
    from cheblienet_graphs.weights.scattered import ListedEdges

SCANNED_VERTICES = 300
"""Up to this many vertices xi is solved for by a scan, since the fraction has few values."""

STARTING_POINTS = 500
"""Where a level has fewer base points than this, it says little about finer ones."""


class OnLattice(EdgeWeights, Protocol):
    """Weights that depend on offsets alone."""

    def on(self, lattice: Lattice) -> Self:
        """The same on a lattice of another size, with the numbers of this one."""


@dataclass(frozen=True)
class Edges:
    """The edges of a level: what finds them, and what weighs them."""

    engine: Engine
    weights: EdgeWeights


@dataclass(frozen=True)
class LatticeEdges:
    """The edges of a lattice: its stencils, and what weighs them."""

    engine: StencilEngine
    weights: OnLattice


class Level:
    """What a level of a specification is made of; each part is computed when first asked for.

    Args:
        spec: of the build.
        choice: the engine that finds neighbours, and its device.
        number: 0 is the finest.
        xi: of the metric where it is known already; else it is solved for where it is "auto".
        scratch: makes the array of a search's lists.
        solution: gives the matched weights of a lattice where they are solved for already.
        progress: called as searches proceed.
    """

    def __init__(
        self,
        spec: GraphSpec,
        choice: Choice,
        number: int = 0,
        *,
        xi: float | None = None,
        scratch: Scratch = np.empty,
        solution: Callable[[], Floats | None] = lambda: None,
        progress: Progress = lambda *_: None,
    ) -> None:
        self.spec, self.choice, self.number, self._xi = spec, choice, number, xi
        self._solution = solution
        self.scratch, self.progress = scratch, progress

    @cached_property
    def coarser(self) -> "Level":
        """The next level."""
        return Level(
            self.spec, self.choice, self.number + 1, scratch=self.scratch, progress=self.progress
        )

    @property
    def num_vertices(self) -> int:
        """V."""
        return self.spec.orientations * self.spec.base_points(self.number)

    @cached_property
    def sampling(self) -> Sampling:
        """The points."""
        return sampling(self.spec, self.number)

    @cached_property
    def metric(self) -> Metric:
        """The metric, xi solved for where it is "auto"."""
        if self._xi is not None:
            return Metric(self.spec.eps, self._xi)
        if self.spec.xi != "auto":
            return self.spec.metric(self.number)
        return self.spec.metric_of_alpha(self._alpha, self.number)

    def sampled(self) -> SampledManifold[Sampling]:
        """The points with their metric."""
        return SampledManifold(self.sampling, self.spec.geometry, self.metric)

    @cached_property
    def on_lattice(self) -> LatticeEdges | None:
        """The edges and weights of a lattice, by stencils.

        Raises:
            SpecError: the stencils are empty, or there are no such weights.
        """
        lattice, spec = self.sampling, self.spec
        if not isinstance(lattice, Lattice):
            return None
        if spec.weights == "kernel":
            rule = Stencils.of(SampledManifold(lattice, spec.geometry, self.metric), spec.neighbors)
            return LatticeEdges(StencilEngine(lattice, rule.stencils), KernelWeights(spec, rule))
        from cheblienet_graphs.weights.lattice import lattice_weights

        weighted = lattice_weights(
            spec, SampledManifold(lattice, spec.geometry, self.metric), self._solution()
        )
        return LatticeEdges(StencilEngine(lattice, weighted.stencils), weighted)

    @property
    def degree_bound(self) -> int:
        """Twice the number of edges on a lattice, an upper bound of it elsewhere."""
        if self.on_lattice:
            return self.on_lattice.engine.total_degree
        most = self.spec.neighbors
        if self.spec.weights == "matched":
            from cheblienet_graphs.weights.scattered import MOST_ADDED

            most += MOST_ADDED
        return self.num_vertices * min(most, self.num_vertices - 1)

    def edges(self) -> Edges:
        """What finds the edges, and what weighs them.

        Raises:
            SpecError: there are none, or no such weights.
        """
        if self.on_lattice and self.choice.engine == "stencil":
            return Edges(self.on_lattice.engine, self.on_lattice.weights)
        engine, lengths = self._search(self.metric, self.spec.neighbors, "finding neighbours")
        if engine.total_degree == 0:
            raise self.too_few()
        if self.on_lattice:
            return Edges(engine, self.on_lattice.weights)
        if self.spec.weights == "kernel":
            return Edges(engine, KernelWeights(self.spec, lengths))
        matched = self.matched(engine, lengths)
        return Edges(matched, matched)

    def matched(self, engine: Engine, lengths: Lengths) -> "ListedEdges":
        """Matched weights off lattices, for all edges together.

        Args:
            engine: what finds the nearest neighbours.
            lengths: what measures them.

        Raises:
            SpecError: there are none.
        """
        from cheblienet_graphs.weights.scattered import matched_edges

        self.progress(
            f"level {self.number}: matching weights to the metric", 0, engine.total_degree
        )
        return matched_edges(self.spec, self.sampled(), engine, lengths)

    def neighbour_lists(self, rings: int) -> "NeighbourLists":
        """The search for this level's neighbours, with so many rings of images."""
        from cheblienet_graphs.neighbours.search import NeighbourLists

        stencils = self._stencils(self.metric)
        return NeighbourLists(
            self.sampled(),
            self.spec.neighbors,
            self.choice,
            squared_radii=None if stencils is None else stencils.squared_radii,
            rings=rings,
        )

    def _stencils(self, metric: Metric) -> Stencils | None:
        if not isinstance(self.sampling, Lattice):
            return None
        sampled = SampledManifold(self.sampling, self.spec.geometry, metric)
        return Stencils.of(sampled, self.spec.neighbors)

    def _search(
        self,
        metric: Metric,
        neighbors: int,
        purpose: str | None,
    ) -> tuple[Engine, Lengths]:
        from cheblienet_graphs.neighbours.search import SearchEngine

        def report(done: int, total: int) -> None:
            if purpose is not None:
                self.progress(f"level {self.number}: {purpose}", done, total)

        stencils = self._stencils(metric)
        engine = SearchEngine(
            SampledManifold(self.sampling, self.spec.geometry, metric),
            neighbors,
            self.choice,
            squared_radii=None if stencils is None else stencils.squared_radii,
            scratch=self.scratch,
            progress=report,
        )
        return engine, PairLengths(engine.cloud)

    def too_few(self) -> SpecError:
        """What to raise where no two vertices list each other: names the smallest K that works."""

        def has_edges(count: int) -> bool:
            return (
                self._search(self.metric, count, f"finding neighbours, K = {count}")[0].total_degree
                > 0
            )

        return too_few(self.spec.neighbors, has_edges)

    @cached_property
    def _alpha(self) -> float:
        """The alpha for which the in-plane fraction is what was asked for."""
        target = self.spec.in_plane_fraction or math.nan
        guess = first_guess(self.spec)
        if self.spec.sampling_kind.regular or self.num_vertices <= SCANNED_VERTICES:
            return scanned(self._counted, target, guess)
        sizes = self.spec.sampling_kind.sizes(self.spec.level_size(self.number))
        if len(sizes) > 1 and self.spec.base_points(self.number + 1) >= STARTING_POINTS:
            guess = self.coarser._alpha  # noqa: SLF001
        return searched(self._fraction, target, guess)

    @cached_property
    def _tried(self) -> Iterator[int]:
        """Numbers of the values of xi that a scan tries."""
        return itertools.count(1)

    def _counted(self, alpha: float) -> float:
        """As `_fraction`, telling how many values have been tried instead of how far each is."""
        found = self._fraction(alpha, shown=False)
        shown = f"level {self.number}: trying values of xi"
        self.progress(shown, next(self._tried), MOST_SCANNED)
        return found

    def _fraction(self, alpha: float, *, shown: bool = True) -> float:
        """In-plane fraction of this level's graph for an alpha; nan where it has no edges."""
        metric = self.spec.metric_of_alpha(alpha, self.number)
        purpose = f"trying xi = {metric.xi:.3g}" if shown else None
        try:
            stencils = self._stencils(metric)
        except SpecError:
            return math.nan
        found: Engine
        if stencils is not None:
            found = StencilEngine(stencils.lattice, stencils.stencils)
        else:
            found, _ = self._search(metric, self.spec.neighbors, purpose)
        total = found.total_degree
        return found.in_plane_degree / total if total else math.nan
