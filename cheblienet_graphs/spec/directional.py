"""The directions of an oriented plane that have Laplacians of their own."""

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings import SamplingKind
from cheblienet_graphs.values import Number, number

DIRECTIONS = ("forward", "sideways", "rotation")
"""Of the left-invariant frame, in its order."""


def directional_field(
    geometry: Manifold, kind: type[SamplingKind], orientations: int, delta: Number | None
) -> float | None:
    """delta; None where there are no directional Laplacians.

    Args:
        geometry: the manifold.
        kind: of the sampling.
        orientations: n_o.
        delta: as given.

    Raises:
        SpecError: it is out of range, or given where it does not apply.
    """
    if delta is None:
        return None
    if not geometry.oriented:
        where = f"left out on {geometry.name}, which has no orientations"
        raise SpecError("directional", where, delta)
    if geometry.base.dimension != 2:
        where = f"left out on {geometry.name}: directional Laplacians are those of the plane"
        raise SpecError("directional", where, delta)
    if not kind.regular:
        where = f"left out on {geometry.name} with {kind.name} sampling"
        remedy = "Directional Laplacians are made from Selling's stencils, which need a lattice."
        raise SpecError("directional", where, delta, remedy)
    if orientations == 1:
        raise SpecError("directional", "left out with one orientation, which can't turn", delta)
    return number("directional", delta, *limits.DIRECTIONAL)
