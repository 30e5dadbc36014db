"""One level of a build: its sampling, metric and neighbors, and its arrays once it is staged."""

import json
import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.xi import solved
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.inputs.polygons import block_means
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import CutSampling, MaskedSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, SamplingKind
from cheblienet_graphs.samplings.voronoi import most_sides
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.engines import NeighborRule
from cheblienet_graphs.search.rule import Scratch
from cheblienet_graphs.search.stencil import MaskedStencils, StencilEngine
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import DIRECTIONS
from cheblienet_graphs.spec.mask import points_inside
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.matrices import MappedWeights
from cheblienet_graphs.store.staged import (
    FINISHED,
    SCRATCH,
    VERSION,
    Records,
    StagedArray,
    StagedCsr,
    opened,
    opened_csr,
)
from cheblienet_graphs.typing import Progress
from cheblienet_graphs.weights.cut import rows_at_edge

if TYPE_CHECKING:
    from cheblienet_graphs.weights.lattice import LatticeWeights

STENCILS = Choice("stencil", "cpu")
"""Makes directional Laplacians, whatever finds the neighbors of the metric's."""

SOLUTION = "matched-weights"
"""Scratch array of the matched weights of a lattice."""
CELLS = "cell-areas"
"""Scratch array of the areas of cells that a region clips."""
GIVEN_POINTS = ("points", "point-areas")
"""Scratch arrays of given points."""
SQUARED = "squared-lengths"
"""Scratch array of d^2 of all edges that a search lists, in their places there; nan for none."""
LISTED = ("listed-rows", "listed-columns", "listed-values")
"""Scratch arrays of edges that are listed with their weights."""
EDGE_ROWS = ("edge-data", "edge-indices", "edge-indptr")
"""Scratch arrays of the rows at the edge of a domain that cuts pixels; all others are empty."""


class Place(NamedTuple):
    """Where a build is: the store, and the folder in which it is staged."""

    store: Path
    folder: Path


def _silent(_shown: str, _done: int, _total: int) -> None:
    """Show no progress."""


@dataclass(unsafe_hash=True)
class Level:
    """A level of a build; each part of it is computed when it is first asked for.

    Once it is staged, what the building process has solved for or been given is read from files: so
    a level goes to other processes, without what was computed of it.

    Args:
        spec: of the build; of a staged level as a store tells it, without arrays.
        choice: the engine that finds neighbors, and its device.
        number: 0 is the finest.
        xi: of the metric where it is known already; else it is solved for where it is "auto".
        direction: whose Laplacian it is, one of the spec's directional ones; None for the metric's,
            which comes with the points.
        staged: where; None for a level that is not.
        rings: of images around a periodic domain, among which neighbors are searched for.
        mean: of the squared lengths of all edges, once they are measured; None where weights do not
            follow from them.
        lists: makes the array of a search's lists, where xi is solved for.
        progress: called as searches for xi proceed.
    """

    spec: GraphSpec
    choice: Choice
    number: int = 0
    xi: float | None = None
    direction: str | None = None
    staged: Place | None = None
    rings: int = 0
    mean: float | None = None
    lists: Scratch = field(default=np.empty, compare=False, repr=False)
    progress: Progress = field(default=_silent, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Level, tuple(getattr(self, part.name) for part in fields(self) if part.compare)

    @cached_property
    def coarser(self) -> "Level":
        """The next level."""
        return replace(self, number=self.number + 1, xi=None)

    @cached_property
    def directed(self) -> "dict[str, Level]":
        """The same vertices with the edges of each directional Laplacian; none where none are."""
        if self.spec.directional is None:
            return {}
        known = replace(self, choice=STENCILS, xi=self.metric.xi)
        return {direction: replace(known, direction=direction) for direction in DIRECTIONS}

    @property
    def num_vertices(self) -> int:
        """V."""
        return self.spec.orientations * self.spec.base_points(self.number)

    @property
    def full_vertices(self) -> int:
        """Vertices of the whole sampling, whatever the mask."""
        return self.spec.orientations * self.spec.full_points(self.number)

    @cached_property
    def full(self) -> SamplingKind:
        """All points, whatever the mask."""
        spec = self.spec
        if self.staged and spec.coordinates is not None:
            points, areas = (np.asarray(self.scratch(name).mapped()) for name in GIVEN_POINTS)
            spec = spec.with_points({self.number: PointArrays(points, areas)})
        return spec.full_sampling(self.number)

    @cached_property
    def inside(self) -> MaskedSampling | None:
        """The points inside the mask; None where there is none."""
        spec, mask = self.spec, self.spec.mask
        if mask is None:
            return None
        if not self.staged:
            fraction = block_means(mask.halves_on(self.number), 2) if spec.cuts_pixels else None
            return points_inside(spec, self.full, mask.on_level(self.number), fraction)
        fraction = self.dense(layout.FRACTION).mapped() if spec.cuts_pixels else None
        areas = np.array(self.scratch(CELLS).mapped()) if spec.clipping else None
        places = np.asarray(self.dense(layout.BASE_INDEX).mapped())
        return points_inside(spec, self.full, places, fraction, areas)

    @cached_property
    def edge_rows(self) -> scipy.sparse.csr_array | None:
        """(V, V) the rows of W at the edge of a domain that cuts pixels; None where none does."""
        inside, mask = self.inside, self.spec.mask
        if mask is None or not isinstance(inside, CutSampling) or not self.offset_weights:
            return None
        if self.staged:
            return StagedCsr(*map(self.scratch, EDGE_ROWS)).matrix(self.num_vertices).scipy()
        stencils = cast("MaskedStencils", self.stencils_inside)
        return rows_at_edge(inside, stencils, self.offset_weights, mask.halves_on(self.number))

    @property
    def sampling(self) -> Sampling:
        """The points of the graph."""
        return self.inside or self.full

    @cached_property
    def metric(self) -> Metric:
        """The metric, xi solved for where it is "auto"."""
        if self.xi is not None:
            return Metric(self.spec.eps, self.xi)
        if self.spec.xi != "auto":
            return self.spec.metric(self.number)
        return self.spec.metric_of_alpha(self.alpha, self.number)

    def sampled(self) -> SampledManifold[Sampling]:
        """All points with their metric: edges and weights are those of the whole sampling."""
        return SampledManifold(self.full, self.spec.geometry, self.metric)

    @cached_property
    def neighbors(self) -> NeighborRule:
        """The neighbors of all vertices by the rule: whoever wants them asks here."""
        return NeighborRule(self.sampled(), self.spec.searched_neighbors, self.choice)

    @cached_property
    def stencils(self) -> StencilEngine:
        """The neighbors on a whole lattice: by the rule, or where weights have others, theirs.

        Raises:
            SpecError: there are no edges, or no such weights.
        """
        weights = self.offset_weights
        return self.neighbors.rule.engine if weights is None else weights.engine

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
        from cheblienet_graphs.weights.lattice import directional_weights, lattice_weights

        sampled = SampledManifold(self.full, self.spec.geometry, self.metric)
        if self.direction is not None and self.spec.directional is not None:
            return directional_weights(sampled, self.direction, self.spec.directional)
        shared = self.staged and self.spec.weights == "matched"
        solution = np.array(self.scratch(SOLUTION).mapped()) if shared else None
        return lattice_weights(self.spec, sampled, solution)

    @property
    def weights_listed(self) -> bool:
        """Whether edges are listed with their weights before all sweeps.

        Matched ones are one problem for all edges; others are those of Voronoi cells.
        """
        return self.spec.weights != "kernel" and not self.spec.sampling_kind.regular

    @property
    def laplacian(self) -> str:
        """The kind: directional ones are combinatorial whatever the metric's is."""
        return self.spec.laplacian if self.direction is None else "combinatorial"

    @property
    def lambda_max_known(self) -> bool:
        """Whether it is rescaled by a bound that holds without computing."""
        return self.spec.lambda_max == 2 and self.direction is None

    @property
    def copied(self) -> bool:
        """Whether rows are copies of few, those of a small lattice, which know all they need."""
        return self.choice.engine == "stencil" and self.whole_lattice

    @property
    def whole_lattice(self) -> bool:
        """Whether it is of all pixels or voxels of a lattice."""
        return self.spec.sampling_kind.regular and self.spec.mask is None

    @property
    def degree_bound(self) -> int:
        """Twice the number of edges on a lattice, an upper bound of it elsewhere."""
        if self.spec.sampling_kind.regular:
            stencils, listed = self.stencils_inside, self.edge_rows
            if listed is None or not isinstance(stencils, MaskedStencils):
                return stencils.total_degree
            instead = stencils.counts(np.flatnonzero(np.diff(listed.indptr)))
            return stencils.total_degree + int(listed.nnz - instead.sum())
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
        """The neighbors on a lattice, those inside the mask where there is one."""
        return self._within(self.stencils)

    def _within(self, engine: StencilEngine) -> StencilEngine | MaskedStencils:
        return engine if self.inside is None else MaskedStencils(engine, self.inside.places)

    @property
    def dropped_edges(self) -> int:
        """Edges of a lattice that are left out because their weight came out 0."""
        weights = self.offset_weights
        if weights is None or not weights.united:
            return 0
        united = self._within(weights.with_left_out)
        return (united.total_degree - self.stencils_inside.total_degree) // 2

    @cached_property
    def alpha(self) -> float:
        """The alpha for which the in-plane fraction is what was asked for."""
        coarser = lambda: self.coarser.alpha  # noqa: E731
        return solved(self.spec, self.number, self._in_plane_fraction, coarser, self.progress)

    def _in_plane_fraction(self, advance: Progress, alpha: float) -> float:
        """That of the graph for an alpha; nan where there are no edges. Searches call `advance`."""
        spec, metric = self.spec, self.spec.metric_of_alpha(alpha, self.number)
        sampled = SampledManifold(self.full, spec.geometry, metric)
        quickest = STENCILS if spec.sampling_kind.regular else self.choice
        neighbors = NeighborRule(sampled, spec.searched_neighbors, quickest)
        shown = f"level {self.number}: trying xi = {metric.xi:.3g}"
        try:
            edges = neighbors.engine(self.lists, partial(advance, shown))
        except SpecError:
            if not spec.sampling_kind.regular:  # a search is refused for other reasons
                raise
            return math.nan
        total = edges.total_degree
        return edges.in_plane_degree / total if total else math.nan

    @property
    def place(self) -> Place:
        """Where it is staged."""
        if self.staged is None:
            raise TypeError("the level is not staged")
        return self.staged

    @property
    def path(self) -> str:
        """Where it is in the version."""
        return f"levels/{self.number}"

    @property
    def matrix_path(self) -> str:
        """Where the Laplacian is in the version."""
        part = "laplacian" if self.direction is None else f"{layout.DIRECTIONAL}/{self.direction}"
        return f"{self.path}/{part}"

    @cached_property
    def csr(self) -> StagedCsr:
        """The Laplacian, once it is reserved."""
        return opened_csr(self.place.folder / VERSION / self.matrix_path)

    def gradient_path(self, part: str) -> str:
        """Where a part of the gradients is in the version."""
        return f"{self.path}/{layout.GRADIENTS}/{part}"

    def gradient_csr(self, part: str) -> StagedCsr:
        """A part of the gradients."""
        return opened_csr(self.place.folder / VERSION / self.gradient_path(part))

    def gradients(self, part: str) -> scipy.sparse.csr_array:
        """(fields V, V) a part of the gradients, mapped."""
        return self.gradient_csr(part).matrix(self.num_vertices).scipy()

    def dense(self, name: str) -> StagedArray:
        """Another of its arrays."""
        return opened(self.place.folder / VERSION / self.path / name)

    def scratch(self, name: str) -> StagedArray:
        """An array that is not published."""
        return opened(self.place.folder / SCRATCH / self.scratch_path(name))

    def scratch_path(self, name: str) -> str:
        """Where such an array is: each Laplacian has its own."""
        part = [] if self.direction is None else [self.direction]
        return "/".join([str(self.number), *part, name])

    @property
    def lists_name(self) -> str:
        """The scratch array of lists of nearest vertices."""
        return f"lists{self.rings}"

    @property
    def records(self) -> Records:
        """The finished ranges of its sweeps."""
        return Records(self.place.folder / FINISHED)

    def matrix(self, entries: StagedArray) -> scipy.sparse.csr_array:
        """The Laplacian, mapped, with these entries."""
        return self.csr.matrix(self.num_vertices, entries).scipy()

    def weights(self, lambda_max: float) -> MappedWeights:
        """W, from the arrays that will be published."""
        mass = self.dense("degree" if self.spec.laplacian == "normalized" else "area")
        return MappedWeights(self.matrix(self.csr.data), lambda_max, mass.mapped())

    def key(self, name: str, **given: float | None) -> str:
        """The name of the records of a sweep, or of what is computed once.

        Those that are given other results of earlier sweeps are other ones: what is written depends
        on them.
        """
        given |= {"rings": self.rings, "mean": self.mean}
        values = [f"{what}={json.dumps(value)}" for what, value in sorted(given.items())]
        part = [] if self.direction is None else [self.direction]
        return "-".join([str(self.number), *part, name, *values])
