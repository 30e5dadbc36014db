"""Weights along one direction of an oriented plane, for Laplacians of their own.

With e the direction of an orientation and e' across it: "forward" has Selling's stencils of e e^T +
delta e' e'^T, "sideways" of delta e e^T + e' e'^T, per squared width; "rotation" has the steps
along the fiber alone, per squared radian, so that it does not depend on xi. Second moments are 2
diag(1, delta, 0), 2 diag(delta, 1, 0) and 2 diag(0, 0, (s / sin s)^2), s = pi / n_o, with which the
first mode along the fiber is exact.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cheblienet_graphs import limits
from cheblienet_graphs.limits import left_out, number
from cheblienet_graphs.manifolds import Manifold, Metric

if TYPE_CHECKING:
    from cheblienet_graphs.samplings import SamplingKind
    from cheblienet_graphs.samplings.lattice import Lattice
    from cheblienet_graphs.samplings.sampling import SampledManifold
    from cheblienet_graphs.weights.lattice import LatticeWeights

DIRECTIONS = ("forward", "sideways", "rotation")
"""The directions with Laplacians of their own: the left-invariant frame of an oriented plane."""


def parse_directional(
    geometry: Manifold, kind: "type[SamplingKind]", orientations: int, delta: object
) -> float | None:
    """The diffusivity across a direction; None where there are no directional Laplacians.

    Raises:
        SpecError: it is out of range, or there can't be any.
    """
    if delta is None:
        return None
    name = geometry.name
    need = "They are made from Selling's stencils, of lattices."
    for excluded, where, remedy in (
        (not geometry.oriented, f"on {name}, which has no orientations", ""),
        (geometry.base.dimension != 2, f"on {name}: directional Laplacians are of the plane", ""),
        (not kind.regular, f"on {name} with {kind.name} sampling", need),
        (orientations == 1, "with one orientation, which can't turn", ""),
    ):
        left_out("directional", delta if excluded else None, where, remedy)
    return number("directional", delta, *limits.DIRECTIONAL)


@dataclass(frozen=True)
class Directional:
    """The weights along a direction.

    Args:
        direction: one of `DIRECTIONS`.
        delta: the diffusivity across it.
    """

    direction: str
    delta: float

    laplacian: ClassVar[str] = "combinatorial"

    def on_lattice(self, sampled: "SampledManifold[Lattice]") -> "LatticeWeights":
        """The weights of a lattice's offsets.

        Args:
            sampled: the points with their metric, which the weights do not depend on.

        Raises:
            SpecError: the lattice is too small for the stencils.
        """
        # These need scipy.linalg.
        from cheblienet_graphs.search.stencil import StencilEngine
        from cheblienet_graphs.weights.infinite import InfiniteLattice, check_room, in_widths
        from cheblienet_graphs.weights.lattice import LatticeWeights
        from cheblienet_graphs.weights.superbases import edges_along

        lattice, infinite = sampled.sampling, InfiniteLattice(sampled)
        fiber, count = lattice.fiber, lattice.orientations
        if self.direction == "rotation":
            stencils, values = infinite.along([()] * count, edges_along(fiber, count, 1.0))
        else:
            forward = self.direction == "forward"
            rates = (1.0, self.delta) if forward else (self.delta, 1.0)
            frames = [infinite.manifold.diffusion(s, Metric(1.0)) for s in fiber.samples(count)]
            along = [
                tuple((rate, e) for rate, (_, e) in zip(rates, frame, strict=True))
                for frame in frames
            ]
            stencils, values = infinite.along(along, [[]] * count)
            values = in_widths(values, lattice)
        check_room(lattice, stencils, "a larger `directional`")
        return LatticeWeights(StencilEngine(lattice, stencils), values)
