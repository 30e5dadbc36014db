"""Selling's weights: the fewest neighbors of a Laplacian consistent with a lattice's metric."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import Given, left_out
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.search.choice import STENCILS, Choice, only
from cheblienet_graphs.weights.weighting import Weighting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cheblienet_graphs.samplings import SamplingKind
    from cheblienet_graphs.samplings.lattice import Lattice
    from cheblienet_graphs.samplings.sampling import SampledManifold
    from cheblienet_graphs.spec import GraphSpec
    from cheblienet_graphs.typing import Floats
    from cheblienet_graphs.weights.lattice import LatticeWeights


def instead_of_stencils(spec: "GraphSpec") -> str:
    """The weights to give where a lattice has no room for Selling's stencils."""
    kernel = "`weights='kernel'`"
    if spec.mask_edge != "cut":
        return kernel
    return f"{kernel} with `mask_edge='pixels'`"


@dataclass(frozen=True)
class Selling(Weighting):
    """Stencils that Selling's formula makes for the metric; see `superbases`."""

    name = "selling"
    meaning = "selling: the smallest stencil, on lattices."

    @classmethod
    def absence(cls, geometry: Manifold, *, lattice: bool) -> str | None:
        """They need a lattice."""
        there = lattice and geometry.selling_neighbors is not None
        return None if there else "Selling's stencils exist on lattices only."

    @classmethod
    def parse(cls, geometry: Manifold, kind: "type[SamplingKind]", given: Given) -> Self:
        """K, which is fixed."""
        most = cls.defaults(geometry)["neighbors"]
        where = f"with {cls.name} weights, whose stencil of at most {most} is fixed"
        left_out("neighbors", None if given["neighbors"] == most else given["neighbors"], where)
        for field in ("kernel", "bandwidth"):
            left_out(field, given[field], where)
        return cls(most, drift=cls.parse_drift(kind, given["drift"]))

    @classmethod
    def defaults(cls, geometry: Manifold) -> dict[str, Any]:
        """K, which is fixed."""
        return {"neighbors": geometry.selling_neighbors}

    def check(self, values: "Mapping[str, Any]", given: Given) -> None:
        """Their stencils do not depend on an in-plane fraction."""
        if values["xi"] == "auto":
            remedy = "Their stencils, and so the in-plane fraction, do not depend on xi."
            where = f"with {self.name} weights"
            left_out("in_plane_fraction", given["in_plane_fraction"], where, remedy)
            raise SpecError("xi", f"a number or 'alpha' {where}", "auto", remedy)

    def uncorrected(self, geometry: Manifold) -> str | None:
        """Without orientations sides take nothing."""
        needless = f"with {self.name} weights on {geometry.name}, which need none"
        return needless if self.right_at_sides(geometry) else None

    def right_at_sides(self, geometry: Manifold) -> bool:
        """Without orientations sides take nothing."""
        return not geometry.oriented

    def words(self, spec: "GraphSpec") -> str:
        """'Selling's stencils, at most 8 neighbors, made for the metric'."""
        return f"Selling's stencils, at most {self.neighbors} neighbors, made for the metric"

    @classmethod
    def choose(cls, kind: "type[SamplingKind]", engine: str, device: str) -> Choice:
        """They are made from stencils."""
        of = f"{cls.name} weights on a lattice"
        return only(STENCILS, engine, device, of, "They are made from stencils, on the CPU.")

    def on_lattice(
        self,
        spec: "GraphSpec",
        sampled: "SampledManifold[Lattice]",
        solution: "Floats | None" = None,
    ) -> "LatticeWeights":
        """Selling's stencils."""
        from cheblienet_graphs.weights.infinite import selling_weights

        corrected = bool(spec.boundary_correction)
        return selling_weights(sampled, instead_of_stencils(spec), corrected=corrected)

    def expected(self, spec: "GraphSpec", metric: Metric) -> Metric:
        """Modulo pi edges along the fiber are made for its first mode, unlike their moments.

        The moments of axes and of orientations modulo 2 pi are the metric's.
        """
        if spec.period != "pi" or spec.orientations == 1:
            return metric
        step = math.pi / spec.orientations
        return Metric(metric.eps, metric.xi * math.sin(step) / step)

    def multiplet(self, spec: "GraphSpec", metric: Metric) -> float | None:
        """The eigenvalue of the fiber's first modes."""
        return None if spec.orientations == 1 else spec.fiber.spectrum(2)[1] / metric.xi**2

    def errors_unknown(self, spec: "GraphSpec") -> str | None:
        """Errors fall at second order."""
        return None
