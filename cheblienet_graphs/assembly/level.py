"""One level of a build: its sampling, metric and neighbours."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.assembly.neighbours import Neighbours
from cheblienet_graphs.assembly.xi import MOST_SCANNED, first_guess, scanned, searched
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.inside import Inside
from cheblienet_graphs.neighbours.masked import MaskedStencils
from cheblienet_graphs.neighbours.protocols import Scratch
from cheblienet_graphs.neighbours.stencil import StencilEngine
from cheblienet_graphs.samplings.diagrams import most_sides
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.directional import DIRECTIONS
from cheblienet_graphs.typing import Floats, Indices, Progress

if TYPE_CHECKING:
    from cheblienet_graphs.weights.lattice import LatticeWeights

SCANNED_VERTICES = 300
"""Up to this many vertices xi is solved for by a scan, since the fraction has few values."""

STENCILS = Choice("stencil", "cpu")
"""Makes directional Laplacians, whatever finds the neighbours of the metric's."""

STARTING_POINTS = 500
"""Where a level has fewer base points than this, it says little about finer ones."""


class Level:
    """A level of a specification; each part of it is computed when it is first asked for.

    Args:
        spec: of the build.
        choice: the engine that finds neighbours, and its device.
        number: 0 is the finest.
        xi: of the metric where it is known already; else it is solved for where it is "auto".
        scratch: makes the array of a search's lists.
        solution: gives the matched weights of a lattice where they are solved for already.
        places: gives the points inside the mask where the spec knows them by their digest alone.
        direction: whose Laplacian it is, one of the spec's directional ones; None for the metric's.
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
        places: Callable[[], Indices] | None = None,
        direction: str | None = None,
        progress: Progress = lambda *_: None,
    ) -> None:
        self.spec, self.choice, self.number, self._xi = spec, choice, number, xi
        self.direction = direction
        self._solution, self._places = solution, places
        self.scratch, self.progress = scratch, progress

    @cached_property
    def coarser(self) -> "Level":
        """The next level."""
        return Level(
            self.spec, self.choice, self.number + 1, scratch=self.scratch, progress=self.progress
        )

    @cached_property
    def directed(self) -> "dict[str, Level]":
        """The same vertices with the edges of each directional Laplacian; none where none are."""
        if self.spec.directional is None:
            return {}
        return {
            direction: Level(
                self.spec,
                STENCILS,
                self.number,
                xi=self.metric.xi,
                places=self._places,
                direction=direction,
            )
            for direction in DIRECTIONS
        }

    @property
    def num_vertices(self) -> int:
        """V."""
        return self.spec.orientations * self.spec.base_points(self.number)

    @cached_property
    def full(self) -> Sampling:
        """All points, whatever the mask."""
        return self.spec.full_sampling(self.number)

    @cached_property
    def inside(self) -> Inside | None:
        """The vertices inside the mask; None where there is none."""
        if self.spec.mask is None:
            return None
        places = self._places() if self._places else self.spec.mask.on_level(self.number)
        return Inside(places, self.spec.full_points(self.number))

    @cached_property
    def sampling(self) -> Sampling:
        """The points of the graph."""
        return self.full if self.inside is None else MaskedSampling(self.full, self.inside.places)

    @cached_property
    def metric(self) -> Metric:
        """The metric, xi solved for where it is "auto"."""
        if self._xi is not None:
            return Metric(self.spec.eps, self._xi)
        if self.spec.xi != "auto":
            return self.spec.metric(self.number)
        return self.spec.metric_of_alpha(self._alpha, self.number)

    def sampled(self) -> SampledManifold[Sampling]:
        """All points with their metric: edges and weights are those of the whole sampling."""
        return SampledManifold(self.full, self.spec.geometry, self.metric)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The neighbours of its vertices: whoever wants them asks here.

        Raises:
            SpecError: there are no such weights.
        """
        return Neighbours(
            self.sampled(),
            self.spec.searched_neighbors,
            self.choice,
            self.offset_weights,
            self.inside,
        )

    @cached_property
    def offset_weights(self) -> "LatticeWeights | None":
        """All weights of a lattice but a kernel's: they need no lengths.

        Raises:
            SpecError: there are none.
        """
        kernel = self.spec.weights == "kernel" and self.direction is None
        if kernel or not isinstance(self.full, Lattice):
            return None
        # These need scipy.linalg.
        from cheblienet_graphs.weights.directional import directional_weights
        from cheblienet_graphs.weights.lattice import lattice_weights

        sampled = SampledManifold(self.full, self.spec.geometry, self.metric)
        if self.direction is not None and self.spec.directional is not None:
            return directional_weights(sampled, self.direction, self.spec.directional)
        return lattice_weights(self.spec, sampled, self._solution())

    @property
    def degree_bound(self) -> int:
        """Twice the number of edges on a lattice, an upper bound of it elsewhere."""
        if self.spec.sampling_kind.regular:
            return self.stencils_inside.total_degree
        if self.spec.weights == "voronoi":
            return most_sides(self.num_vertices, flat=self.spec.geometry.base.flat)
        most = self.spec.searched_neighbors
        if self.spec.weights == "matched":
            # It needs scipy.spatial, which stencil builds do without.
            from cheblienet_graphs.weights.scattered import MOST_ADDED

            most += MOST_ADDED
        return self.num_vertices * min(most, self.num_vertices - 1)

    @cached_property
    def stencils_inside(self) -> StencilEngine | MaskedStencils:
        """The neighbours on a lattice, those inside the mask where there is one."""
        engine = self.neighbours.by_stencils
        if self.inside is None:
            return engine
        return MaskedStencils(engine, self.inside.places)

    @cached_property
    def _alpha(self) -> float:
        """The alpha for which the in-plane fraction is what was asked for."""
        target = self.spec.in_plane_fraction or math.nan
        guess = first_guess(self.spec)
        if self.spec.sampling_kind.regular or self.full.num_vertices <= SCANNED_VERTICES:
            return scanned(self._counted, target, guess)
        kind = self.spec.sampling_kind
        sizes = kind.sizes(self.spec.level_size(self.number))
        known = kind.default_levels == "worthwhile"  # else the same whatever number of levels
        if known and len(sizes) > 1 and self.spec.full_points(self.number + 1) >= STARTING_POINTS:
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

        def advance(done: int, total: int) -> None:
            if shown:
                self.progress(f"level {self.number}: trying xi = {metric.xi:.3g}", done, total)

        sampled = SampledManifold(self.full, self.spec.geometry, metric)
        neighbours = Neighbours(sampled, self.spec.searched_neighbors, self.choice)
        try:
            found = neighbours.counted(self.scratch, advance)
        except SpecError:
            if not self.spec.sampling_kind.regular:  # a search is refused for other reasons
                raise
            return math.nan
        total = found.total_degree
        return found.in_plane_degree / total if total else math.nan
