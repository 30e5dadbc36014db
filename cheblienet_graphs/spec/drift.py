"""First moments of matched weights where points are no lattice."""

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.samplings import SamplingKind
from cheblienet_graphs.values import Number, number


def drift_field(kind: type[SamplingKind], weights: str, drift: Number | None) -> float | None:
    """The slack that first moments are given; None where they are left to themselves.

    Args:
        kind: of the sampling.
        weights: kind of the edge weights.
        drift: as given.

    Raises:
        SpecError: it is out of range, or given where it does not apply.
    """
    if drift is None:
        return None
    if weights != "matched":
        remedy = "Use `weights='matched'`."
        raise SpecError("drift", f"left out with {weights} weights", drift, remedy)
    if kind.regular:
        remedy = "On lattices neighbours come in opposite pairs, so there is no drift."
        raise SpecError("drift", "left out on lattices", drift, remedy)
    return number("drift", drift, *limits.DRIFT)
