"""The fields of edges and operators: each is checked, normalized, and given its default.

With s = d^2 and t = bandwidth x mean(s over the edges of the symmetrized graph), a kernel of the
paper sees u = s / (4 t). Kernels are in method style, so numpy (through `manifolds.moments.Array`)
and torch both run them.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from cheblienet_graphs import limits
from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.limits import Given, choice, flag, integer, left_out, number
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings import SamplingKind

if TYPE_CHECKING:
    from cheblienet_graphs.spec.graph_spec import GraphSpec

DIRECTIONS = ("forward", "sideways", "rotation")
"""Those of an oriented plane with Laplacians of their own: its left-invariant frame."""

FEWEST_TURNING = 3
"""Orientations of which each has two others next to it."""

Kernel = Callable[[Any], Any]
"""Weight from u, elementwise."""
KERNELS: dict[str, Kernel] = {
    "gaussian": lambda u: (-u).exp(),
    "laplace": lambda u: (-u.sqrt()).exp(),
    "cauchy": lambda u: 1 / (1 + u),
    "rectangular": lambda u: 0 * u + 1,
}
"""Those of `limits.KERNELS`. The published code has 1 / (1 - u) for cauchy's 1 / (1 + u), which is
negative beyond the bandwidth."""


def edge_fields(geometry: Manifold, kind: type[SamplingKind], given: Given) -> dict[str, Any]:
    """Weights, neighbors, kernel and bandwidth; those that do not apply are None.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    weights = choice("weights", given["weights"], limits.WEIGHTS)
    fields = dict.fromkeys(("neighbors", "kernel", "bandwidth"))
    if weights in {"selling", "voronoi"}:
        check = _check_selling if weights == "selling" else _check_voronoi
        count, where = check(geometry, kind)
        for field in fields:
            fixed = field == "neighbors" and count is not None and given[field] == count
            left_out(field, None if fixed else given[field], where)
        return fields | {"weights": weights, "neighbors": count}
    neighbors, kernel, width = (given[field] for field in fields)
    if neighbors is None:
        least = geometry.least_matched_neighbors if weights == "matched" else 1
        neighbors = max(geometry.default_neighbors, least)
    count = integer("neighbors", neighbors, *limits.NEIGHBORS)
    if weights == "matched":
        _check_matched(geometry, kind, count)
    return {
        "weights": weights,
        "neighbors": count,
        "kernel": choice("kernel", "gaussian" if kernel is None else kernel, limits.KERNELS),
        "bandwidth": number("bandwidth", 0.2 if width is None else width, *limits.BANDWIDTH),
    }


def _check_matched(geometry: Manifold, kind: type[SamplingKind], count: int) -> None:
    if geometry.base.flat and not kind.regular:
        accepted = f"{_off_lattices(geometry)} with {kind.name} sampling"
        raise SpecError("weights", accepted, "matched", "On the plane those are for lattices.")
    least = geometry.least_matched_neighbors
    if count < least:
        accepted = f"at least {least} with matched weights on the {geometry.base.name}"
        remedy = Words("Use ", Remedy("neighbors", least), " or more; fewer can't be matched.")
        raise SpecError("neighbors", accepted, count, remedy)


def _check_selling(geometry: Manifold, kind: type[SamplingKind]) -> tuple[int, str]:
    """K, and why other fields are left out."""
    most = geometry.selling_neighbors
    if not kind.regular or most is None:
        accepted = f"{_off_lattices(geometry)} with {kind.name} sampling"
        remedy = "Selling's stencils exist on lattices only."
        raise SpecError("weights", accepted, "selling", remedy)
    return most, f"with selling weights, whose stencil of at most {most} is fixed"


def _check_voronoi(geometry: Manifold, kind: type[SamplingKind]) -> tuple[None, str]:
    """No K, and why other fields are left out."""
    if kind.regular:
        cells = "Voronoi cells are for points without a lattice."
        same = Words(cells, " ", Remedy("weights", "selling"), " is the same there.")
        accepted = f"kernel, matched or selling with {kind.name} sampling"
        raise SpecError("weights", accepted, "voronoi", same if geometry.name == "r2" else cells)
    if geometry.oriented:
        remedy = "Weights of Voronoi cells exist on r2 and s2, without orientations."
        accepted = f"{_off_lattices(geometry)} on {geometry.name}"
        raise SpecError("weights", accepted, "voronoi", remedy)
    return None, "with voronoi weights, whose edges join cells with a common side"


def _off_lattices(geometry: Manifold) -> str:
    """The weights that there are without a lattice."""
    others = ["matched"] * (not geometry.base.flat) + ["voronoi"] * (not geometry.oriented)
    return " or ".join(["kernel", *others])


def operator_fields(
    geometry: Manifold, kind: type[SamplingKind], values: Mapping[str, Any], given: Given
) -> dict[str, Any]:
    """The fields of Laplacians and of what corrects their weights.

    Args:
        geometry: the manifold.
        kind: of the sampling.
        values: normalized ones of the other fields.
        given: to the specification.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    weights = values["weights"]
    fields = {
        "directional": _directional(geometry, kind, values["orientations"], given["directional"]),
        "gradients": _gradients(geometry, values["orientations"], given["gradients"]),
        "drift": _drift(kind, weights, given["drift"]),
        "boundary_correction": _correction(geometry, kind, values, given["boundary_correction"]),
        **_rescaled(weights, given["laplacian"], given["lambda_max"]),
    }
    if weights == "selling" and values["xi"] == "auto":
        remedy = "Their stencils, and so the in-plane fraction, do not depend on xi."
        left_out("in_plane_fraction", given["in_plane_fraction"], "with selling weights", remedy)
        raise SpecError("xi", "a number or 'alpha' with selling weights", "auto", remedy)
    return fields


def _rescaled(weights: str, laplacian: Any, lambda_max: Any) -> dict[str, Any]:
    """The Laplacian and what it is rescaled by."""
    if laplacian is None:
        laplacian = "normalized" if weights == "kernel" else "combinatorial"
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    if isinstance(lambda_max, str) and lambda_max == "exact":
        return {"laplacian": kind, "lambda_max": "exact"}
    integer("lambda_max", lambda_max, 2, 2, "'exact' or 2")
    if kind == "combinatorial":
        remedy = "2 bounds the normalized one."
        raise SpecError("lambda_max", "'exact' with the combinatorial Laplacian", 2, remedy)
    return {"laplacian": kind, "lambda_max": 2}


def _correction(
    geometry: Manifold, kind: type[SamplingKind], values: Mapping[str, Any], asked: Any
) -> Literal[True] | None:
    """True where open sides are corrected, which they are by default; else None."""
    asked = _choice("boundary_correction", asked)
    boundary, weights, name = values["boundary"], values["weights"], geometry.name
    needless = weights == "selling" and not geometry.oriented
    for excluded, where in (
        (boundary is None, f"on {name}, which has no boundary"),
        (not kind.regular, f"with {kind.name} sampling"),
        (boundary != "open", f"with a {boundary} boundary"),
        (weights == "kernel", "with kernel weights, of which none are consistent at a boundary"),
        (values["mask_edge"] == "cut", "with a mask that cuts pixels, at sides of the domain too"),
        (needless, f"with selling weights on {name}, which need none"),
    ):
        if excluded:
            left_out("boundary_correction", asked or None, where)
            return None
    return None if asked is False else True


def _choice(field: str, asked: Any) -> bool | None:
    """Whether something is wanted; None where that is left out."""
    return asked if asked is None else flag(field, asked)


def _drift(kind: type[SamplingKind], weights: str, drift: Any) -> float | None:
    """The slack that first moments are given; None where they are unconstrained."""
    if drift is None:
        return None
    if weights != "matched":
        remedy: str = Words("Use ", Remedy("weights", "matched"), ".")
        left_out("drift", drift, f"with {weights} weights", remedy)
    if kind.regular:
        remedy = "On lattices neighbors come in opposite pairs, so there is no drift."
        left_out("drift", drift, "on lattices", remedy)
    return number("drift", drift, *limits.DRIFT)


def _gradients(geometry: Manifold, orientations: int, asked: Any) -> Literal[True] | None:
    """True where gradients are stored."""
    if not _choice("gradients", asked):
        return None
    if geometry.oriented and not geometry.fiber.cyclic:
        left_out("gradients", asked, f"on {geometry.name}: they are of r2, r3, s2, se2 and so3")
    if geometry.oriented and orientations < FEWEST_TURNING:
        with_gradients = f"at least {FEWEST_TURNING} with gradients, which turn to both sides"
        raise SpecError("orientations", with_gradients, orientations)
    return True


def _directional(
    geometry: Manifold, kind: type[SamplingKind], orientations: int, delta: Any
) -> float | None:
    """delta; None where there are no directional Laplacians."""
    if delta is None:
        return None
    name, need = geometry.name, "They are made from Selling's stencils, of lattices."
    for excluded, where, remedy in (
        (not geometry.oriented, f"on {name}, which has no orientations", ""),
        (geometry.base.dimension != 2, f"on {name}: directional Laplacians are of the plane", ""),
        (not kind.regular, f"on {name} with {kind.name} sampling", need),
        (orientations == 1, "with one orientation, which can't turn", ""),
    ):
        left_out("directional", delta if excluded else None, where, remedy)
    return number("directional", delta, *limits.DIRECTIONAL)


def levels_off(spec: "GraphSpec") -> Remedy | None:
    """What to build with where eigenvalues stay off those of the metric, however many the points.

    They do where first moments do not vanish or second ones are not those of the metric, and where
    a Laplacian is normalized by degrees that are not as the areas. On a lattice symmetry makes
    kernel weights isotropic, and degrees equal, where the metric is isotropic.

    Returns:
        The field to change, with the value where one is known; None where they converge.
    """
    manifold, regular = spec.geometry, spec.sampling_kind.regular
    cubic = len(set(spec.spacing or ())) < 2
    if spec.weights == "kernel" and (manifold.oriented or not (regular and cubic)):
        if regular:
            return Remedy("weights", "selling")
        if not manifold.oriented:
            return Remedy("weights", "voronoi")
        return Remedy("size") if manifold.base.flat else Remedy("weights", "matched")
    if spec.weights == "matched" and spec.sampling in ("random", "unstructured"):
        return Remedy("subdivisions") if manifold.oriented else Remedy("weights", "voronoi")
    equal = regular and (spec.orientations == 1 or spec.eps == 1)
    if spec.laplacian == "normalized" and not equal:
        return Remedy("laplacian", "combinatorial")
    return None
