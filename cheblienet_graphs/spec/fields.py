"""The parts of a specification besides its points: metric, weights, domain, operators, pyramid.

Each checks its fields, gives them defaults, and knows which of them have these.
"""

import math
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError, quoted
from cheblienet_graphs.inputs.masks import region
from cheblienet_graphs.limits import Given, choice, flag, integer, left_out, number
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings import SamplingKind, Size
from cheblienet_graphs.samplings.given import GivenPoints
from cheblienet_graphs.spec.mask import Mask
from cheblienet_graphs.spec.point_fields import Part, PointFields
from cheblienet_graphs.weights import WEIGHTINGS, Weighting
from cheblienet_graphs.weights.directional import parse_directional

if TYPE_CHECKING:
    from cheblienet_graphs.spec.graph_spec import GraphSpec

FEWEST_TURNING = 3
"""Orientations of which each has two others next to it."""
PAPER = next(iter(WEIGHTINGS))
"""The name of the paper's weights."""
KERNEL_ALONE = ("neighbors", "kernel", "bandwidth")
"""Fields of which one means kernel weights, where weights are left out; so do the normalized
Laplacian, and its bound as lambda_max."""
IN_PLANE_FRACTION = 0.4
"""The default, with an xi that is solved for."""


def as_json(value: Any) -> Any:
    """A field's normalized value as JSON types."""
    if isinstance(value, Mask | GivenPoints):
        return value.to_dict()
    return list(value) if isinstance(value, tuple) else value


def parsed_fields(given: Given) -> dict[str, Any]:
    """All fields except mask and eigenpairs, which need the points. What does not apply is None.

    Args:
        given: all parameters of `GraphSpec`; None where they were left out.

    Returns:
        The fields; as `_sizes` the sizes of all levels, and as `_defaults` the values of fields
        that were left out.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    points = PointFields.parse(given)
    metric, weighting = _metric(points, given), weighting_of(points, given)
    pyramid = _pyramid(points, given)
    domain = _domain(points, weighting, given)
    operators = _operators(points, weighting, domain, given)
    weighting.check(metric.values, given)
    values = {"weights": weighting.name, **vars(weighting)}
    kernel = weighting.defaults(points.geometry)
    others = [field for field, value in kernel.items() if values[field] != value]
    shown = bool(others) or operators.values["lambda_max"] != "exact"
    default = PAPER if shown else default_weights(points.geometry, points.kind)
    defaults = {"weights": default, **kernel}
    for part in (points, metric, pyramid, domain, operators):
        values |= part.values
        defaults |= part.defaults
    return {**values, "_sizes": points.sizes, "_defaults": defaults}


def _metric(points: PointFields, given: Given) -> Part:
    """Anisotropy, and how the length of a rotation is given."""
    geometry = points.geometry
    values: dict[str, Any] = {"xi": None, "alpha": None, "in_plane_fraction": None}
    if geometry.oriented:
        values = _turning(points.orientations, given)
    else:
        for name in values:
            left_out(name, given[name], f"on {geometry.name}, which has no orientations")
    values["eps"] = _anisotropy(geometry, given)
    auto = values["in_plane_fraction"] not in {None, IN_PLANE_FRACTION}
    defaults = {
        "eps": geometry.default_eps,
        "xi": "auto" if auto else "alpha",
        "alpha": 1.0,
        "in_plane_fraction": IN_PLANE_FRACTION,
    }
    return Part(values, defaults)


def _turning(count: int, given: Given) -> dict[str, Any]:
    """`xi`, `alpha` and `in_plane_fraction`."""
    xi, alpha, share = given["xi"], given["alpha"], given["in_plane_fraction"]
    if xi is None:
        xi = "alpha" if share is None else "auto"
    named = xi if isinstance(xi, str) else None
    if named != "auto":
        left_out("in_plane_fraction", share, "unless `xi` is 'auto'")
    if named != "alpha":
        where = f"where `xi` is {xi}"
        left_out("alpha", alpha, where, "Give one of the two.")
    if named == "alpha":
        alpha = number("alpha", 1 if alpha is None else alpha, *limits.ALPHA)
    elif named == "auto":
        if count == 1:
            one = "left out with one orientation, where all edges are in-plane"
            field, asked = ("xi", xi) if share is None else ("in_plane_fraction", share)
            raise SpecError(field, one, asked)
        share = IN_PLANE_FRACTION if share is None else share
        share = number("in_plane_fraction", share, *limits.IN_PLANE_FRACTION)
    else:
        xi = number("xi", xi, *limits.XI, "'alpha', 'auto', or a number")
    return {"xi": xi, "alpha": alpha, "in_plane_fraction": share}


def _anisotropy(geometry: Manifold, given: Given) -> float:
    """`eps`, given as itself or as its square."""
    eps, squared = given["eps"], given["eps_squared"]
    if squared is not None:
        where = "where `eps_squared` is given"
        left_out("eps", eps, where, "Give one of the two.")
        field = "eps_squared"
        eps = squared
        value = math.sqrt(number(field, eps, *limits.EPS_SQUARED))
    else:
        field, eps = "eps", geometry.default_eps if eps is None else eps
        value = number(field, eps, *limits.EPS)
    if not geometry.oriented and value != 1:
        other = geometry.anisotropic
        remedy = "" if other is None else f"Use {other} for an anisotropic metric."
        raise SpecError(field, f"1 on {geometry.name}, which is isotropic", eps, remedy)
    return value


def default_weights(geometry: Manifold, kind: type[SamplingKind]) -> str:
    """The name of the weights where nothing says which.

    Args:
        geometry: the manifold.
        kind: of the sampling.
    """
    missing = WEIGHTINGS[kind.default_weights].absence(geometry, lattice=kind.regular)
    return kind.default_weights if missing is None else PAPER


def weighting_of(points: PointFields, given: Given) -> Weighting:
    """The weights with their parameters.

    Raises:
        SpecError: there are none of this name there, or a value is out of range, or given where it
            does not apply.
    """
    geometry, kind = points.geometry, points.kind
    name = given["weights"]
    if name is None:
        kernel = any(given[field] is not None for field in KERNEL_ALONE)
        kernel |= str(given["laplacian"]) == "normalized" or str(given["lambda_max"]) != "exact"
        name = PAPER if kernel else default_weights(geometry, kind)
    weights = WEIGHTINGS[choice("weights", name, tuple(WEIGHTINGS))]
    if (reason := weights.absence(geometry, lattice=kind.regular)) is not None:
        every = WEIGHTINGS.values()
        names = [w.name for w in every if w.absence(geometry, lattice=kind.regular) is None]
        accepted = f"{' or '.join(names)} on {geometry.name} with {kind.name} sampling"
        raise SpecError("weights", accepted, weights.name, reason)
    return weights.parse(geometry, kind, given)


def _domain(points: PointFields, weighting: Weighting, given: Given) -> Part:
    """The part of a sampling that a graph covers, but for the mask, which needs the points."""
    box = _region(points.geometry, given["region"])
    edge = _mask_edge(points, weighting, given)
    # As a store records it, a mask has no points.
    default = None if box is None else _region_edge(points.finest, weighting, None)
    return Part({"region": box, "mask_edge": edge}, {"mask_edge": default})


def _region(geometry: Manifold, value: Any) -> tuple[float, float, float, float] | None:
    """(W, S, E, N) degrees, None where there is no region."""
    if value is not None and geometry.base.flat:
        remedy = "Give a `mask`."
        left_out("region", value, f"on {geometry.name}, which is flat", remedy)
    return None if value is None else region(value)


def _mask_edge(points: PointFields, weighting: Weighting, given: Given) -> Literal["cut"] | None:
    """The rule at the edge: "cut" if pixels or cells count by their part inside, else None."""
    asked, mask, geometry = given["mask_edge"], given["mask"], points.geometry
    if given["region"] is not None and (mask is None or isinstance(mask, Mapping)):
        return _region_edge(points.finest, weighting, asked)
    if mask is None:
        domain = "mask" if geometry.base.flat else "region"
        left_out("mask_edge", asked, f"unless a `{domain}` is given")
        return None
    if asked is None or choice("mask_edge", asked, limits.MASK_EDGES) != "cut":
        return None
    if not points.kind.regular:
        off = "pixels with a mask off lattices; there a `region` cuts cells"
        raise SpecError("mask_edge", off, asked)
    if reason := weighting.uncut(lattice=True):
        others = [f"`weights={name!r}`" for name, w in WEIGHTINGS.items() if _cuts(w, geometry)]
        remedy = f"Use {' or '.join(others)}."
        raise SpecError("mask_edge", f"pixels with {reason}", asked, remedy)
    return "cut"


def _cuts(weights: type[Weighting], geometry: Manifold) -> bool:
    """True if weights of a manifold's lattices count pixels by their part inside."""
    return weights.absence(geometry, lattice=True) is None and not weights().uncut(lattice=True)


def _region_edge(finest: Size, weighting: Weighting, asked: Any) -> Literal["cut"] | None:
    """The rule at a region's sides: "cut" if they clip cells, the default for given points."""
    given = isinstance(finest, GivenPoints)
    uncut = weighting.uncut(lattice=False)
    refused = {
        "pixels where areas are given": given and finest.given_areas,
        f"pixels with {uncut}": uncut is not None,
    }
    reasons = [reason for reason, applies in refused.items() if applies]
    if asked is None:
        return "cut" if given and not reasons else None
    if choice("mask_edge", asked, limits.MASK_EDGES) != "cut":
        return None
    if reasons:
        raise SpecError("mask_edge", reasons[0], asked)
    return "cut"


def _operators(points: PointFields, weighting: Weighting, domain: Part, given: Given) -> Part:
    """Laplacians, gradients, and what corrects weights at sides."""
    delta, count = given["directional"], points.orientations
    asked = _choice("boundary_correction", given["boundary_correction"])
    excluded = _uncorrected(points, weighting, domain)
    left_out("boundary_correction", (excluded and asked) or None, excluded or "")
    laplacian, lambda_max = _rescaled(weighting, given["laplacian"], given["lambda_max"])
    values = {
        "directional": parse_directional(points.geometry, points.kind, count, delta),
        "gradients": _gradients(points.geometry, count, given["gradients"]),
        "boundary_correction": None if excluded or asked is False else True,
        "laplacian": laplacian,
        "lambda_max": lambda_max,
    }
    defaults = {
        "laplacian": weighting.laplacian,
        "lambda_max": "exact",
        "boundary_correction": None if excluded else True,
    }
    return Part(values, defaults)


def _rescaled(
    weighting: Weighting, laplacian: Any, lambda_max: Any
) -> tuple[str, Literal["exact", 2]]:
    """The Laplacian and what it is rescaled by."""
    if laplacian is None:
        laplacian = weighting.laplacian
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    if isinstance(lambda_max, str) and lambda_max == "exact":
        return kind, "exact"
    integer("lambda_max", lambda_max, 2, 2, "'exact' or 2")
    if kind == "combinatorial":
        remedy = "2 bounds the normalized one."
        raise SpecError("lambda_max", "'exact' with the combinatorial Laplacian", 2, remedy)
    return kind, 2


def _uncorrected(points: PointFields, weighting: Weighting, domain: Part) -> str | None:
    """The reason why open sides are not corrected; None where they are by default."""
    geometry = points.geometry
    boundary = points.values["boundary"]
    if boundary is None:
        return f"on {geometry.name}, which has no boundary"
    if not points.kind.regular:
        return f"with {points.kind.name} sampling"
    if boundary != "open":
        return f"with a {boundary} boundary"
    cut = domain.values["mask_edge"] == "cut"
    at_sides = "with a mask that cuts pixels, at sides of the domain too" if cut else None
    return weighting.uncorrected(geometry) or at_sides


def _choice(field: str, asked: Any) -> bool | None:
    """True if something is wanted; None where that is left out."""
    return asked if asked is None else flag(field, asked)


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


def _pyramid(points: PointFields, given: Given) -> Part:
    """The pyramid without eigenpairs: the points inside bound their number."""
    default = _worthwhile(points)
    levels = given["levels"]
    levels = default if levels is None else _levels(points, levels)
    return Part({"levels": levels}, {"levels": default})


def _levels(points: PointFields, levels: Any) -> int:
    """The number of levels, checked."""
    kind = points.kind
    possible = len(points.sizes)
    least = 1
    accepted = _accepted_levels(kind, points.finest, possible)
    if kind.default_levels == "all":
        as_many = f"left out or {possible}, as many as there are arrays of "
        least = possible
        accepted = f"{as_many}`{kind.field}`"
    return integer("levels", levels, least, possible, accepted)


def _worthwhile(points: PointFields) -> int:
    """The number of levels by default: while they are large enough, unless the kind says it."""
    kind, sizes = points.kind, points.sizes
    if kind.default_levels != "worthwhile":
        return 1 if kind.default_levels == "one" else len(sizes)
    return 1 + len([*takewhile(_large_enough, map(kind.grid, sizes[1:]))])


def _large_enough(grid: tuple[int, ...]) -> bool:
    least = limits.SMALLEST_DEFAULT_SIDE if len(grid) > 1 else limits.SMALLEST_DEFAULT_POINTS
    return min(grid) >= least


def _accepted_levels(kind: type[SamplingKind], finest: Size, possible: int) -> str:
    if kind.regular:
        sides = " x ".join(("width", "height", "depth")[: len(finest)])
        shape = ", ".join(map(str, kind.grid(finest)))
        return (
            f"an integer in [1, {possible}] for {'x'.join(map(str, finest))} ({sides}; images "
            f"(B, C, {shape})): each level halves {'both' if len(finest) == 2 else 'all'} sides, "
            f"which must come out whole and at least 2{_as_others(finest)}"
        )
    size = quoted(finest) if isinstance(finest, tuple) else finest
    return f"an integer in [1, {possible}] for {kind.field} {size}"


def halvable(finest: tuple[int, ...]) -> tuple[str, str] | None:
    """The next larger and smaller sizes of a lattice that have three levels.

    Args:
        finest: (width, height), or (width, height, depth).

    Returns:
        None where the lattice has two levels, or is too small for a worthwhile second one.
    """
    worthwhile = min(finest) >= 2 * limits.SMALLEST_DEFAULT_SIDE
    if not worthwhile or not any(side % 2 for side in finest):
        return None
    padded, cropped = ("x".join(str((side + more) // 4 * 4) for side in finest) for more in (3, 0))
    return padded, cropped


def _as_others(finest: tuple[int, ...]) -> str:
    found = halvable(finest)
    return ", as those of {} or {} do".format(*found) if found else ""


def eigenpairs_of(spec: "GraphSpec", eigenpairs: Any) -> int | None:
    """The number of eigenpairs that are stored; None where none are.

    Args:
        spec: all its other fields.
        eigenpairs: given.
    """
    if eigenpairs is None:
        return None
    fewest = spec.vertices[-1]
    most = min(fewest, limits.EIGENPAIRS.high)
    accepted = f"an integer in {limits.Range(limits.EIGENPAIRS.low, most)}"
    if fewest < limits.EIGENPAIRS.high:
        accepted += f", as the coarsest level has {fewest} vertices"
    return integer("eigenpairs", eigenpairs, limits.EIGENPAIRS.low, most, accepted)
