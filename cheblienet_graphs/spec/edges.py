"""The fields of edges and operators: each is checked, normalized, and given its default."""

from typing import Any, Literal

from cheblienet_graphs import limits
from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings import SamplingKind
from cheblienet_graphs.values import Number, choice, integer, left_out, number

DIRECTIONS = ("forward", "sideways", "rotation")
"""Those of an oriented plane with Laplacians of their own: its left-invariant frame."""


def edge_fields(
    geometry: Manifold,
    kind: type[SamplingKind],
    weights: str,
    neighbors: Number | None,
    kernel: str | None,
    bandwidth: Number | None,
) -> dict[str, Any]:
    """Weights, neighbours, kernel and bandwidth; those that do not apply are None.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    if choice("weights", weights, limits.WEIGHTS) == "selling":
        return _selling(geometry, kind, neighbors, kernel, bandwidth)
    if weights == "voronoi":
        return _voronoi(geometry, kind, neighbors, kernel, bandwidth)
    if neighbors is None:
        neighbors = geometry.default_neighbors
    count = integer("neighbors", neighbors, *limits.NEIGHBORS)
    if weights == "matched" and geometry.base.flat and not kind.regular:
        given = f"{kind.name} sampling"
        raise SpecError("weights", "kernel on the plane unless it is sampled by a lattice", given)
    least = geometry.least_matched_neighbors
    if weights == "matched" and count < least:
        accepted = f"at least {least} with matched weights on the {geometry.base.name}"
        remedy = Words("Use ", Remedy("neighbors", least), " or more; fewer can't be matched.")
        raise SpecError("neighbors", accepted, count, remedy)
    width = 0.2 if bandwidth is None else bandwidth
    return {
        "weights": weights,
        "neighbors": count,
        "kernel": choice("kernel", "gaussian" if kernel is None else kernel, limits.KERNELS),
        "bandwidth": number("bandwidth", width, *limits.BANDWIDTH),
    }


def _selling(
    geometry: Manifold,
    kind: type[SamplingKind],
    neighbors: Number | None,
    kernel: str | None,
    bandwidth: Number | None,
) -> dict[str, Any]:
    most = geometry.selling_neighbors
    if not kind.regular or most is None:
        others = "kernel" if geometry.base.flat else "kernel or matched"
        remedy = "Selling's stencils exist on lattices only."
        raise SpecError("weights", f"{others} with {kind.name} sampling", "selling", remedy)
    given = {"kernel": kernel, "bandwidth": bandwidth}
    for field, value in (given if neighbors == most else given | {"neighbors": neighbors}).items():
        where = f"with selling weights, whose stencil of at most {most} is fixed"
        left_out(field, value, where)
    return {"weights": "selling", "neighbors": most, "kernel": None, "bandwidth": None}


def _voronoi(
    geometry: Manifold,
    kind: type[SamplingKind],
    neighbors: Number | None,
    kernel: str | None,
    bandwidth: Number | None,
) -> dict[str, Any]:
    if kind.regular:
        same = Words(" ", Remedy("weights", "selling"), " is the same there.")
        accepted = f"kernel, matched or selling with {kind.name} sampling"
        cells = "Voronoi cells are for points without a lattice."
        remedy = Words(cells, same) if geometry.name == "r2" else cells
        raise SpecError("weights", accepted, "voronoi", remedy)
    if geometry.oriented:
        others = "kernel" if geometry.base.flat else "kernel or matched"
        remedy = "Weights of Voronoi cells exist on r2 and s2, without orientations."
        raise SpecError("weights", f"{others} on {geometry.name}", "voronoi", remedy)
    for field, value in {"neighbors": neighbors, "kernel": kernel, "bandwidth": bandwidth}.items():
        left_out(field, value, "with voronoi weights, whose edges join cells with a common side")
    return {"weights": "voronoi", "neighbors": None, "kernel": None, "bandwidth": None}


def operator_fields(weights: str, laplacian: str | None, lambda_max: Number) -> dict[str, Any]:
    """The Laplacian and what it is rescaled by.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    if laplacian is None:
        laplacian = "normalized" if weights == "kernel" else "combinatorial"
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    if lambda_max == "exact":
        return {"laplacian": kind, "lambda_max": "exact"}
    if not (isinstance(lambda_max, str | int | float) and lambda_max in {2, "2"}):
        raise SpecError("lambda_max", "'exact' or 2", lambda_max)
    if kind == "combinatorial":
        remedy = "2 bounds the normalized one."
        raise SpecError("lambda_max", "'exact' with the combinatorial Laplacian", 2, remedy)
    return {"laplacian": kind, "lambda_max": 2}


def correction_field(
    geometry: Manifold, kind: type[SamplingKind], boundary: str | None, weights: str, given: object
) -> Literal[True] | None:
    """True where open sides are corrected, which they are by default; else None.

    Raises:
        SpecError: it is no boolean, or asked for where it does not apply.
    """
    if given is not None and not isinstance(given, bool):
        raise SpecError("boundary_correction", "True or False", given)
    where = ""
    if boundary is None:
        where = f"on {geometry.name}, which has no boundary"
    elif not kind.regular:
        where = f"with {kind.name} sampling"
    elif boundary != "open":
        where = f"with a {boundary} boundary"
    elif weights == "kernel":
        where = "with kernel weights, of which none are consistent at a boundary"
    elif weights == "selling" and not geometry.oriented:
        where = f"with selling weights on {geometry.name}, which need none"
    if where and given:
        raise SpecError("boundary_correction", f"left out {where}", given)
    return None if where or given is False else True


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
        left_out(
            "drift",
            drift,
            f"with {weights} weights",
            Words("Use ", Remedy("weights", "matched"), "."),
        )
    if kind.regular:
        remedy = "On lattices neighbours come in opposite pairs, so there is no drift."
        left_out("drift", drift, "on lattices", remedy)
    return number("drift", drift, *limits.DRIFT)


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
        left_out("directional", delta, f"on {geometry.name}, which has no orientations")
    if geometry.base.dimension != 2:
        where = f"on {geometry.name}: directional Laplacians are those of the plane"
        left_out("directional", delta, where)
    if not kind.regular:
        remedy = "Directional Laplacians are made from Selling's stencils, which need a lattice."
        left_out("directional", delta, f"on {geometry.name} with {kind.name} sampling", remedy)
    if orientations == 1:
        left_out("directional", delta, "with one orientation, which can't turn")
    return number("directional", delta, *limits.DIRECTIONAL)
