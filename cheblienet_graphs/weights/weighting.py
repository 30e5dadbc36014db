"""The interface of edge weights: what a specification, a build and a report ask of each kind.

Only the standard library is imported, so that help is shown at once; what computes is imported
within methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

from cheblienet_graphs.limits import Given, left_out
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.search.choice import Choice, choose

if TYPE_CHECKING:
    from cheblienet_graphs.samplings import SamplingKind
    from cheblienet_graphs.samplings.lattice import Lattice
    from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
    from cheblienet_graphs.search.neighbor_lists import MutualNeighbors
    from cheblienet_graphs.search.rule import Lengths
    from cheblienet_graphs.spec import GraphSpec
    from cheblienet_graphs.typing import Floats, Indices
    from cheblienet_graphs.weights.lattice import LatticeWeights

T = TypeVar("T")

COUNTS = {"neighbors", "orientations", "axes", "points"}
"""Fields in the plural, of which there are more rather than a larger one."""


class Search(Protocol):
    """A search of the K nearest neighbors: the edges it found, and what measures any edge."""

    @property
    def nearest(self) -> "MutualNeighbors":
        """The neighbors of all vertices."""

    @property
    def lengths(self) -> "Lengths":
        """The squared length of edges."""


class ListedEdges(NamedTuple):
    """Both directions of edges with their weights, ascending.

    Args:
        rows, columns: (entries,).
        weights: (entries,) the same in both directions.
        dropped: rows and columns of edges that were left out because their weight came out 0.
        bandwidth: t of a kernel, where there is one.
    """

    rows: "Indices"
    columns: "Indices"
    weights: "Floats"
    dropped: "tuple[Indices, Indices] | None" = None
    bandwidth: float | None = None


@dataclass(frozen=True)
class Advice:
    """Changes that may bring a graph closer to its metric's operator; str() is part of a sentence.

    Args:
        changes: values by field, each of them enough; the best first.
        more: instead, a field of which a larger value may help.
    """

    changes: tuple[Mapping[str, Any], ...] = ()
    more: str | None = None

    def __str__(self) -> str:
        """'use `weights='selling'` or `weights='matched'`', or 'more `neighbors` may help'."""
        if self.more is not None:
            return f"{'more' if self.more in COUNTS else 'a larger'} `{self.more}` may help"
        written = ([f"`{k}={v!r}`" for k, v in change.items()] for change in self.changes)
        return f"use {' or '.join(' with '.join(change) for change in written)}"


@dataclass(frozen=True)
class Weighting(ABC):
    """A kind of edge weights with its parameters, None where they do not apply.

    Args:
        neighbors: K, at most how many neighbors are searched for; None where none are.
        kernel: name of the function of distance.
        bandwidth: t over the mean squared distance.
        drift: the slack that first moments are given.
    """

    neighbors: int | None = None
    kernel: str | None = None
    bandwidth: float | None = None
    drift: float | None = None

    name: ClassVar[str]
    meaning: ClassVar[str]
    """A sentence for help pages."""
    finding: ClassVar[str] = "finding edges"
    """The name of the long step where all edges are listed in one piece."""
    schema: ClassVar[str] = "1.0"
    """The first schema of versions with them."""
    laplacian: ClassVar[str] = "combinatorial"
    """The default of the specification."""
    for_the_metric: ClassVar[bool] = True
    """True if they are made for the metric: that they realize another one is then a fault."""
    moment: ClassVar[float | None] = 2.0
    """The factor m of second moments m R^-1 in units of a vertex's area; None where it has to be
    measured."""

    @property
    def count(self) -> int:
        """K.

        Raises:
            ValueError: neighbors are not searched for.
        """
        if self.neighbors is None:
            raise ValueError(f"{self.name} weights have no K")
        return self.neighbors

    # What a specification asks.

    @classmethod
    def absence(cls, geometry: Manifold, *, lattice: bool) -> str | None:
        """The reason why there are none on a manifold's lattices, or off them; None where are."""
        return None

    @classmethod
    def parse(cls, geometry: Manifold, kind: "type[SamplingKind]", given: Given) -> Self:
        """The weights with checked parameters, and defaults for the ones left out.

        By default there are no parameters.

        Args:
            geometry: the manifold.
            kind: of the sampling.
            given: to the specification.

        Raises:
            SpecError: a value is out of range or does not apply.
        """
        for field in ("neighbors", "kernel", "bandwidth"):
            left_out(field, given[field], f"with {cls.name} weights, which have none")
        return cls(drift=cls.parse_drift(kind, given["drift"]))

    @classmethod
    def parse_drift(cls, kind: "type[SamplingKind]", drift: Any) -> float | None:
        """The slack that first moments are given; None where they are unconstrained."""
        if drift is not None:
            remedy = "Use `weights='matched'`."
            left_out("drift", drift, f"with {cls.name} weights", remedy)
        return None

    @classmethod
    def defaults(cls, geometry: Manifold) -> dict[str, Any]:
        """The parameters by name where they are left out: none by default."""
        return {}

    def check(self, values: Mapping[str, Any], given: Given) -> None:
        """See that the other fields of a specification go with these weights.

        Args:
            values: that are normalized already.
            given: to the specification.

        Raises:
            SpecError: one does not.
        """

    def uncut(self, *, lattice: bool) -> str | None:
        """The reason why they do not count pixels, or cells, by their part inside a domain."""
        return None

    def uncorrected(self, geometry: Manifold) -> str | None:
        """The reason why open sides are not corrected: weights can't be, or need not be."""
        return None

    def right_at_sides(self, geometry: Manifold) -> bool:
        """True if an open lattice's sides take nothing from the energy, uncorrected."""
        return False

    @abstractmethod
    def words(self, spec: "GraphSpec") -> str:
        """Edges and weights in a part of a sentence."""

    def convergent(self, spec: "GraphSpec") -> dict[str, Any] | None:
        """The change after which eigenvalues converge; None where they converge already.

        It is a value by its field; None stands for any value, as of the size of a lattice.

        They do not where first moments do not vanish or second ones differ from the metric's, and
        where a Laplacian is normalized by degrees that are not as the areas.
        """
        lattice = spec.sampling_kind.regular
        equal = lattice and (spec.orientations == 1 or spec.eps == 1)
        if spec.laplacian == "normalized" and not equal:
            return {"laplacian": "combinatorial"}
        return None

    # What a build asks.

    @classmethod
    def choose(cls, kind: "type[SamplingKind]", engine: str, device: str) -> Choice:
        """The engine that finds neighbors, and its device.

        Raises:
            SpecError: there is no such engine or device, or not for these weights.
        """
        return choose(kind.name, engine, device)

    def degree_bound(self, spec: "GraphSpec", vertices: int) -> int:
        """Twice as many edges as there can be between so many vertices off a lattice."""
        return vertices * (vertices - 1)

    def edge_bytes(self, entries: int, lists: int) -> int:
        """Disk space that edges off a lattice take while their rows are made.

        Args:
            entries: most stored entries.
            lists: bytes of the lists of a search.
        """
        return 24 * entries

    def find_edges(self, listed: Callable[[], T], measured: Callable[[], T]) -> T:
        """Find the edges off a lattice: all of them with weights, or with lengths, in blocks.

        Args:
            listed: lists the edges that `edges` gives.
            measured: measures the edges of a search; weights follow from lengths.
        """
        return listed()

    def edges(
        self, spec: "GraphSpec", sampled: "SampledManifold[Sampling]", search: Search
    ) -> ListedEdges:
        """All edges off a lattice with their weights.

        Args:
            spec: of the build.
            sampled: all points with their metric, also the ones outside a mask.
            search: of neighbors, where K is given.

        Raises:
            SpecError: there are no such weights.
        """
        raise NotImplementedError(f"{self.name} weights are those of lattices")

    def on_lattice(
        self,
        spec: "GraphSpec",
        sampled: "SampledManifold[Lattice]",
        solution: "Floats | None" = None,
    ) -> "LatticeWeights":
        """The weights of a lattice's offsets.

        Args:
            spec: of the build.
            sampled: the points with their metric.
            solution: of what is solved for, where it is known.

        Raises:
            SpecError: there are no edges, or no such weights.
        """
        raise NotImplementedError(f"{self.name} weights have no stencils")

    # What a report asks.

    def expected(self, spec: "GraphSpec", metric: Metric) -> Metric:
        """The metric of their second moments, where `metric` was asked for."""
        return metric

    def pointwise(self, spec: "GraphSpec") -> bool:
        """True if second moments belong to single points, not to means over regions."""
        return not spec.sampling_kind.regular

    def multiplet(self, spec: "GraphSpec", metric: Metric) -> float | None:
        """The eigenvalue besides 0 that is exact by construction, in the operator's units."""
        return None

    def errors_unknown(self, spec: "GraphSpec") -> str | None:
        """Why errors of eigenvalues need not fall at second order; None where they do inside."""
        if not spec.sampling_kind.regular:
            return f"with {self.name} weights they need not converge on irregular points"
        if spec.geometry.oriented:
            return f"edges of {self.name} weights are along base and fiber at once"
        return None

    def finite_volumes(self, spec: "GraphSpec") -> bool:
        """True if eigenvalues converge on any points, and are off only where cells are large."""
        return False

    def advice(self, spec: "GraphSpec") -> Advice | None:
        """Changes that bring a graph closer to its metric's operator, or may; None without any.

        The parameters are of the specification's manifold and sampling, differ from its own, and
        are a user's to choose: of given points there are no more.
        """
        return None
