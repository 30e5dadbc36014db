"""One level of a build: its sampling, metric, neighbours and the lengths of its edges."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.engines import Choice
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.laplacian import EdgeWeights
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours import Engine, Lengths, Scratch, too_few
from cheblienet_graphs.neighbours.cloud import PairLengths
from cheblienet_graphs.neighbours.stencil import StencilEngine, Stencils
from cheblienet_graphs.samplings.levels import Sampling, sampling
from cheblienet_graphs.samplings.plane import PlaneLattice
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.weights.of_length import KernelWeights
from cheblienet_graphs.xi import first_guess, scanned, searched

SCANNED_VERTICES = 300
"""Up to this many vertices xi is solved for by a scan, since the fraction has few values."""

STARTING_POINTS = 500
"""Where a level has fewer base points than this, it says little about finer ones."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Edges:
    """The edges of a level: what finds them, and what weighs them."""

    engine: Engine
    weights: EdgeWeights


class Level:
    """What a level of a specification is made of; each part is computed when first asked for.

    Args:
        spec: of the build.
        choice: the engine that finds neighbours, and its device.
        number: 0 is the finest.
        scratch: makes the array of a search's lists.
        progress: called as searches proceed.
    """

    def __init__(
        self,
        spec: GraphSpec,
        choice: Choice,
        number: int = 0,
        scratch: Scratch = np.empty,
        progress: Progress = lambda *_: None,
    ) -> None:
        self.spec, self.choice, self.number = spec, choice, number
        self.scratch, self.progress = scratch, progress

    @cached_property
    def coarser(self) -> "Level":
        """The next level."""
        return Level(self.spec, self.choice, self.number + 1, self.scratch, self.progress)

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
        if self.spec.xi != "auto":
            return self.spec.metric(self.number)
        return self.spec.metric_of_alpha(self._alpha, self.number)

    @cached_property
    def on_lattice(self) -> Edges | None:
        """The edges and weights of a lattice, by stencils.

        Raises:
            SpecError: the stencils are empty, or there are no such weights.
        """
        lattice, spec = self.sampling, self.spec
        if not isinstance(lattice, PlaneLattice):
            return None
        if spec.weights == "kernel":
            rule = Stencils(lattice, spec.geometry, self.metric, spec.neighbors)
            return Edges(StencilEngine(lattice, rule.stencils), KernelWeights(spec, rule))
        from cheblienet_graphs.weights.lattice import lattice_weights

        weighted = lattice_weights(spec, lattice, self.metric)
        return Edges(StencilEngine(lattice, weighted.stencils), weighted)

    @property
    def degree_bound(self) -> int:
        """Twice the number of edges on a lattice, an upper bound of it elsewhere."""
        if self.on_lattice:
            return self.on_lattice.engine.total_degree
        most = self.spec.neighbors
        if self.spec.weights == "matched":
            from cheblienet_graphs.weights.listed import MOST_ADDED

            most += MOST_ADDED
        return self.num_vertices * min(most, self.num_vertices - 1)

    def edges(self) -> Edges:
        """What finds the edges, and what weighs them.

        Raises:
            SpecError: there are none, or no such weights.
        """
        if self.on_lattice and self.choice.engine == "stencil":
            return self.on_lattice
        engine, lengths = self._search(self.metric, self.spec.neighbors, "search")
        if engine.total_degree == 0:
            raise self._too_few()
        if self.on_lattice:
            return Edges(engine, self.on_lattice.weights)
        if self.spec.weights == "kernel":
            return Edges(engine, KernelWeights(self.spec, lengths))
        from cheblienet_graphs.weights.listed import matched_edges

        self.progress(f"level {self.number}: matching weights", 0, engine.total_degree)
        matched = matched_edges(self.spec, self.sampling, self.metric, engine, lengths)
        return Edges(matched, matched)

    def _stencils(self, metric: Metric) -> Stencils | None:
        if not isinstance(self.sampling, PlaneLattice):
            return None
        return Stencils(self.sampling, self.spec.geometry, metric, self.spec.neighbors)

    def _search(
        self,
        metric: Metric,
        neighbors: int,
        purpose: str,
    ) -> tuple[Engine, Lengths]:
        from cheblienet_graphs.neighbours.search import SearchEngine

        def report(done: int, total: int) -> None:
            self.progress(f"level {self.number}: {purpose}", done, total)

        stencils = self._stencils(metric)
        engine = SearchEngine(
            self.sampling,
            self.spec.geometry,
            metric,
            neighbors,
            self.choice,
            squared_radii=None if stencils is None else stencils.squared_radii,
            scratch=self.scratch,
            progress=report,
        )
        return engine, PairLengths(engine.cloud)

    def _too_few(self) -> SpecError:
        """What to raise where no two vertices list each other: names the smallest K that works."""
        least = self.spec.neighbors + 1
        while self._search(self.metric, least, f"search, K = {least}")[0].total_degree == 0:
            least += 1
        return too_few(least, self.spec.neighbors)

    @cached_property
    def _alpha(self) -> float:
        """The alpha for which the in-plane fraction is what was asked for."""
        target = self.spec.in_plane_fraction or math.nan
        guess = first_guess(self.spec)
        if self.spec.sampling == "lattice" or self.num_vertices <= SCANNED_VERTICES:
            return scanned(self._fraction, target, guess)
        sizes = self.spec.sampling_kind.sizes(self.spec.level_size(self.number))
        if len(sizes) > 1 and self.spec.base_points(self.number + 1) >= STARTING_POINTS:
            guess = self.coarser._alpha  # noqa: SLF001
        return searched(self._fraction, target, guess)

    def _fraction(self, alpha: float) -> float:
        """In-plane fraction of this level's graph for an alpha; nan where it has no edges."""
        metric = self.spec.metric_of_alpha(alpha, self.number)
        try:
            stencils = self._stencils(metric)
        except SpecError:
            return math.nan
        found: Engine
        if stencils is not None:
            found = StencilEngine(stencils.lattice, stencils.stencils)
        else:
            found, _ = self._search(metric, self.spec.neighbors, f"search, alpha = {alpha:.3g}")
        total = found.total_degree
        return found.in_plane_degree / total if total else math.nan
