"""Weights that match the metric: the nearest to a kernel's with its second moments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import Given, left_out, number
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.search.choice import STENCILS, Choice, only
from cheblienet_graphs.weights.kernel import Kernel
from cheblienet_graphs.weights.selling import instead_of_stencils
from cheblienet_graphs.weights.weighting import Advice, ListedEdges, Search, T, Weighting

if TYPE_CHECKING:
    from cheblienet_graphs.samplings import SamplingKind
    from cheblienet_graphs.samplings.lattice import Lattice
    from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
    from cheblienet_graphs.spec import GraphSpec
    from cheblienet_graphs.typing import Floats
    from cheblienet_graphs.weights.lattice import LatticeWeights

STEPS = 8
"""Most base points around a vertex over which parallel neighbors are added to it."""
MOST_ADDED = 4 * STEPS
"""Most neighbors added to a vertex, on average: two orientations may tie, and each step counts at
both ends."""


@dataclass(frozen=True)
class Matched(Kernel):
    """The weights with the metric's second moments that are nearest to a kernel's."""

    name = "matched"
    meaning = "matched: the nearest to the kernel's."
    finding = "matching weights to the metric"
    laplacian = Weighting.laplacian
    for_the_metric = True
    moment = Weighting.moment

    @classmethod
    def absence(cls, geometry: Manifold, *, lattice: bool) -> str | None:
        """On the plane they need a lattice."""
        off = geometry.base.flat and not lattice
        return "On the plane those are for lattices." if off else None

    @classmethod
    def parse(cls, geometry: Manifold, kind: "type[SamplingKind]", given: Given) -> Self:
        """A kernel's parameters, and the slack of first moments."""
        weights = super().parse(geometry, kind, given)
        least = cls.fewest(geometry)
        if weights.count < least:
            accepted = f"at least {least} with {cls.name} weights on the {geometry.base.name}"
            remedy = f"Use `neighbors={least!r}` or more; fewer can't be matched."
            raise SpecError("neighbors", accepted, weights.count, remedy)
        return weights

    @classmethod
    def fewest(cls, geometry: Manifold) -> int:
        """Fewer neighbors can't be matched."""
        return geometry.least_matched_neighbors

    @classmethod
    def parse_drift(cls, kind: "type[SamplingKind]", drift: Any) -> float | None:
        """The slack of first moments, off lattices."""
        if drift is None:
            return None
        if kind.regular:
            remedy = "On lattices neighbors come in opposite pairs, so there is no drift."
            left_out("drift", drift, "on lattices", remedy)
        return number("drift", drift, *limits.DRIFT)

    def uncut(self, *, lattice: bool) -> str | None:
        """Off lattices they are weights of all points."""
        return None if lattice else f"{self.name} weights, which are those of all points"

    def uncorrected(self, geometry: Manifold) -> str | None:
        """Sides are corrected."""
        return Weighting.uncorrected(self, geometry)

    def words(self, spec: "GraphSpec") -> str:
        """A kernel's, and 'weights matched to the metric'."""
        united = ", united with Selling's stencils" if spec.sampling_kind.regular else ""
        drift = "" if self.drift is None else f", first moments within a slack of {self.drift:g}"
        return f"{super().words(spec)}{united}, weights matched to the metric{drift}"

    def convergent(self, spec: "GraphSpec") -> dict[str, Any] | None:
        """First moments do not vanish on irregular points."""
        if spec.sampling in ("random", "unstructured"):
            oriented = spec.geometry.oriented
            return {"subdivisions": None} if oriented else {"weights": "voronoi"}
        return Weighting.convergent(self, spec)

    @classmethod
    def choose(cls, kind: "type[SamplingKind]", engine: str, device: str) -> Choice:
        """On a lattice they are made from stencils."""
        if kind.regular:
            of = f"{cls.name} weights on a lattice"
            return only(STENCILS, engine, device, of, "They are made from stencils, on the CPU.")
        return super().choose(kind, engine, device)

    def degree_bound(self, spec: "GraphSpec", vertices: int) -> int:
        """K for each vertex, and parallel neighbors."""
        return vertices * min(self.count + MOST_ADDED, vertices - 1)

    def on_lattice(
        self,
        spec: "GraphSpec",
        sampled: "SampledManifold[Lattice]",
        solution: "Floats | None" = None,
    ) -> "LatticeWeights":
        """The rule's stencils united with Selling's, with the nearest weights."""
        from cheblienet_graphs.weights.infinite import matched_weights

        instead = instead_of_stencils(spec)
        corrected = bool(spec.boundary_correction)
        weights = matched_weights(self, sampled, instead, solution, corrected=corrected)
        if weights is not None:
            return weights
        remedy = "Use `weights='selling'`, or more `neighbors`."
        accepted = "kernel or selling here: no matched weights exist on these edges"
        raise SpecError("weights", accepted, self.name, remedy)

    def edge_bytes(self, entries: int, lists: int) -> int:
        """Rows, columns and weights."""
        return Weighting.edge_bytes(self, entries, lists)

    def find_edges(self, listed: Callable[[], T], measured: Callable[[], T]) -> T:
        """They are one problem for all edges."""
        return listed()

    def edges(
        self, spec: "GraphSpec", sampled: "SampledManifold[Sampling]", search: Search
    ) -> ListedEdges:
        """The edges of a search, united with steps to nearly parallel neighbors."""
        from cheblienet_graphs.weights.scattered import matched_edges

        edges = matched_edges(self, sampled, search.nearest, search.lengths, STEPS)
        if edges is not None:
            return edges
        remedy = (
            "Use more `neighbors`, an `xi` nearer to what alpha = 1 gives, or `weights='kernel'`."
        )
        accepted = f"kernel here: no weights on these edges, K = {self.neighbors}, match the metric"
        raise SpecError("weights", accepted, self.name, remedy)

    def advice(self, spec: "GraphSpec") -> Advice | None:
        """Their moments are right: what is left are lengths of edges, and drift on points."""
        if spec.sampling_kind.regular or spec.geometry.oriented:
            return None
        if spec.laplacian == "normalized":
            return Advice(({"laplacian": "combinatorial"},))
        return Advice(({"weights": "voronoi"},))
