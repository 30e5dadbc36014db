"""The paper's weights: a kernel of the distance to the nearest neighbors.

With s = d^2 and t = bandwidth x mean(s over the edges of the symmetrized graph), a kernel sees
u = s / (4 t). Kernels are in method style, so numpy (through `manifolds.moments.Array`) and torch
both run them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from cheblienet_graphs import limits
from cheblienet_graphs.limits import Given, choice, integer, number
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.weights.weighting import Advice, T, Weighting

if TYPE_CHECKING:
    from cheblienet_graphs.samplings import SamplingKind
    from cheblienet_graphs.samplings.lattice import Lattice
    from cheblienet_graphs.samplings.sampling import SampledManifold
    from cheblienet_graphs.spec import GraphSpec
    from cheblienet_graphs.typing import Floats
    from cheblienet_graphs.weights.lattice import LatticeWeights

KERNELS: dict[str, Callable[[Any], Any]] = {
    "gaussian": lambda u: (-u).exp(),
    "laplace": lambda u: (-u.sqrt()).exp(),
    "cauchy": lambda u: 1 / (1 + u),
    "rectangular": lambda u: 0 * u + 1,
}
"""Weight from u, elementwise, by the names of `limits.KERNELS`. The published code has 1 / (1 - u)
for cauchy's 1 / (1 + u), which is negative beyond the bandwidth."""


FEWEST_MATCHED = 4
"""Orientations with which matched weights exist on the stencils of a lattice. This and the numbers
below were measured on random graphs."""
MATCHED_ON_GRIDS, MATCHED_AMONG_SCATTERED = 48, 96
"""K with which matched weights exist on SO(3)."""
LEAST_PER_HALF_TURN, LEAST_STEP = 3, 0.8
"""Orientations in half a turn there, and the least that these times eps may be."""


def vanishing(vertices: int) -> str:
    """The demand on a bandwidth where the weights of so many vertices vanish."""
    return f"larger here, since the weights of {vertices} vertices vanish in float32"


@dataclass(frozen=True)
class Kernel(Weighting):
    """A function of the distance to the K nearest neighbors."""

    name = "kernel"
    meaning = "kernel: the paper's function of distance. The others are consistent with the metric."
    laplacian = "normalized"
    for_the_metric = False
    moment: ClassVar[float | None] = None

    @classmethod
    def parse(cls, geometry: Manifold, kind: "type[SamplingKind]", given: Given) -> Self:
        """K, the kernel and its bandwidth."""
        values = cls.defaults(geometry)
        values |= {field: given[field] for field in values if given[field] is not None}
        return cls(
            integer("neighbors", values["neighbors"], *limits.NEIGHBORS),
            choice("kernel", values["kernel"], limits.KERNELS),
            number("bandwidth", values["bandwidth"], *limits.BANDWIDTH),
            cls.parse_drift(kind, given["drift"]),
        )

    @classmethod
    def defaults(cls, geometry: Manifold) -> dict[str, Any]:
        """K of the manifold, a Gaussian kernel of narrow width."""
        neighbors = max(geometry.default_neighbors, cls.fewest(geometry))
        return {"neighbors": neighbors, "kernel": "gaussian", "bandwidth": 0.2}

    @classmethod
    def fewest(cls, geometry: Manifold) -> int:
        """The smallest K."""
        return 1

    def uncut(self, *, lattice: bool) -> str | None:
        """Kernel weights are not consistent at the edge of a domain."""
        return f"{self.name} weights, of which none are consistent at an edge" if lattice else None

    def uncorrected(self, geometry: Manifold) -> str | None:
        """Kernel weights are not consistent at a boundary."""
        return f"with {self.name} weights, of which none are consistent at a boundary"

    def words(self, spec: "GraphSpec") -> str:
        """'at most K = 16 neighbors, gaussian kernel, bandwidth 0.2'."""
        neighbors = f"at most K = {self.neighbors} neighbors"
        return f"{neighbors}, {self.kernel} kernel, bandwidth {self.bandwidth:g}"

    def convergent(self, spec: "GraphSpec") -> dict[str, Any] | None:
        """Symmetry makes these weights isotropic on a lattice where the metric is, or nowhere."""
        manifold = spec.geometry
        lattice = spec.sampling_kind.regular
        cubic = len(set(spec.spacing or ())) < 2
        if not manifold.oriented and lattice and cubic:
            return super().convergent(spec)
        if lattice:
            return {"weights": "selling"}
        if not manifold.oriented:
            return {"weights": "voronoi"}
        return {"size": None} if manifold.base.flat else {"weights": "matched"}

    def degree_bound(self, spec: "GraphSpec", vertices: int) -> int:
        """K for each vertex."""
        return vertices * min(self.count, vertices - 1)

    def edge_bytes(self, entries: int, lists: int) -> int:
        """The length of each edge in the lists."""
        return lists

    def find_edges(self, listed: Callable[[], T], measured: Callable[[], T]) -> T:
        """Weights follow from lengths."""
        return measured()

    def of_squared_lengths(self, squared: "Floats", mean: float) -> "Floats":
        """The weights of edges with these d^2, of any shape.

        Args:
            squared: d^2.
            mean: of d^2 over all edges.
        """
        # Help does without numpy.
        import numpy as np

        from cheblienet_graphs.manifolds.moments import array

        weights: Floats = KERNELS[self.kernel or ""](array(squared / (4 * self.width(mean))))
        return weights.view(np.ndarray)

    def width(self, mean: float) -> float:
        """t, in the unit of the mean of d^2 over all edges."""
        return (self.bandwidth or 0.0) * mean

    def on_lattice(
        self,
        spec: "GraphSpec",
        sampled: "SampledManifold[Lattice]",
        solution: "Floats | None" = None,
    ) -> "LatticeWeights":
        """The rule's stencils, with weights by length."""
        from cheblienet_graphs.weights.lattice import kernel_weights

        return kernel_weights(self, sampled)

    def advice(self, spec: "GraphSpec") -> Advice | None:
        """Weights that are made for the metric."""
        kind, manifold = spec.sampling_kind, spec.geometry
        if kind.regular:
            return self._advice_on_lattices(spec)
        if not manifold.oriented:
            return Advice(({"weights": "voronoi"},))
        most = min(limits.NEIGHBORS.high, spec.full_points(0) * spec.orientations - 1)
        if manifold.base.flat:
            return Advice(more="neighbors") if self.count < most else None
        scattered = kind.seeded or spec.coordinates is not None
        count = max(self.count, MATCHED_AMONG_SCATTERED if scattered else MATCHED_ON_GRIDS)
        if count > most:
            return None
        turning = spec.per_half_turn
        if turning < LEAST_PER_HALF_TURN or spec.eps * turning < LEAST_STEP:
            return Advice(more="orientations")
        if spec.xi == "auto":  # which may be far from what suits matched weights
            return Advice(more="neighbors")
        return Advice(({"weights": "matched", "neighbors": count},))

    def _advice_on_lattices(self, spec: "GraphSpec") -> Advice:
        """Weights made for the metric, where the coarsest level has room for their stencils."""
        manifold = spec.geometry
        selling, matched = self._room(spec)
        if not selling:
            return Advice(more="size")
        exist = not manifold.oriented or spec.orientations >= FEWEST_MATCHED
        names = []
        if matched and exist and self.count >= manifold.default_neighbors:
            names.append("matched")
        if spec.xi != "auto":
            names.append("selling")
        changes = tuple({"weights": name} for name in names)
        return Advice(changes) if changes else Advice(more="neighbors")

    def _room(self, spec: "GraphSpec") -> tuple[bool, bool]:
        """Two flags: a lattice's levels have room for Selling's stencils, and for matched ones.

        Selling's reach no farther than 1 / eps pixels, the rule's about K / 2: stencils are looked
        at on small lattices alone.
        """
        coarsest = spec.levels - 1
        both_ways = 2 if spec.boundary == "periodic" else 1
        size = cast("tuple[int, ...]", spec.level_size(coarsest))
        if spec.spacing is None and min(size) > both_ways * max(1 / spec.eps, self.count / 2 + 1):
            return True, True
        from cheblienet_graphs.samplings.sampling import SampledManifold
        from cheblienet_graphs.weights.infinite import with_room

        lattice = cast("Lattice", spec.full_sampling(coarsest))
        solved = spec.xi == "auto"
        metric = spec.metric_of_alpha(1.0, coarsest) if solved else spec.metric(coarsest)
        return with_room(SampledManifold(lattice, spec.geometry, metric), self.count)
