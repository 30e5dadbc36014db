"""The fields of points and of their metric: each is checked, normalized, and given its default.

What is given is a mapping from all parameters of `GraphSpec`; those that were left out are None.
"""

import math
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Literal

from cheblienet_graphs import limits
from cheblienet_graphs.errors import MISSING, Found, Remedy, SpecError, Words, quoted
from cheblienet_graphs.inputs.masks import region
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.limits import Given, choice, integer, left_out, number, numbers, parsed
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold
from cheblienet_graphs.samplings import SAMPLINGS, SamplingKind, Size
from cheblienet_graphs.samplings.given import GivenPoints
from cheblienet_graphs.spec.edges import operator_fields, weighting_of
from cheblienet_graphs.spec.mask import Mask, size_of
from cheblienet_graphs.weights import WEIGHTINGS, Weighting

SIZES = tuple(kind.field for kind in SAMPLINGS.values())
"""Fields that hold the size of some kind of sampling."""
ROUNDING = 1e-4
"""A spacing that is given may differ by so much of itself from that of the mask."""


def as_json(value: Any) -> Any:
    """A field's normalized value as JSON types."""
    if isinstance(value, Mask | GivenPoints):
        return value.to_dict()
    return list(value) if isinstance(value, tuple) else value


def normalized(given: Given) -> dict[str, Any]:
    """All fields but those that need the points: mask and eigenpairs. What does not apply is None.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    geometry = MANIFOLDS[choice("manifold", given["manifold"], tuple(MANIFOLDS))]
    kind, finest = _sampling(geometry, given)
    weighting = weighting_of(geometry, kind, given)
    values = {
        "manifold": geometry.name,
        "sampling": kind.name,
        **dict.fromkeys(SIZES),
        kind.field: finest,
        "seed": _seed(kind, given["seed"]),
        "axes": (axes := _axes(geometry, given)),
        "period": (period := _period(geometry, given["period"])),
        "spacing": _spacing(geometry, given),
        **_fiber(geometry, axes, period, given),
        "eps": _anisotropy(geometry, given),
        "weights": weighting.name,
        **vars(weighting),
        "boundary": _boundary(geometry, given["boundary"]),
        "levels": _levels(kind, finest, given["levels"]),
        "region": _region(geometry, given["region"]),
        "mask_edge": _mask_edge(geometry, kind, finest, weighting, given),
    }
    return values | operator_fields(geometry, kind, weighting, values, given)


def _sampling(geometry: Manifold, given: Given) -> tuple[type[SamplingKind], Size]:
    """The kind of sampling and its size on the finest level; the size alone can name the kind."""
    _check_points(geometry, given)
    sizes = {field: given[field] for field in SIZES}
    names, name = geometry.base.samplings, given["sampling"]
    on_lattice = name is None or (isinstance(name, str) and name == "lattice")
    if geometry.base.flat and on_lattice and all(size is None for size in sizes.values()):
        sizes["size"] = size_of(geometry, given["mask"])
    if name is None:
        sized = [n for n in names if sizes[SAMPLINGS[n].field] is not None]
        name = sized[0] if sized else names[0]
    kind = SAMPLINGS[choice("sampling", name, names)]
    for field, value in sizes.items():
        if value is not None and field != kind.field:
            remedy = Words("Its size is given by ", Remedy(kind.field), " alone.")
            shown = Found(f"shape {value.shape}") if hasattr(value, "shape") else value
            left_out(field, shown, f"on {geometry.name} with {kind.name} sampling", remedy)
    if sizes[kind.field] is None:
        where = f"given: it is the size of {geometry.name} with {kind.name} sampling"
        others = [Remedy(SAMPLINGS[n].field) for n in names if n != kind.name]
        listed = [part for other in others for part in (", ", other)][1:]
        remedy = Words("Or choose another sampling by its size: ", *listed, ".")
        chosen = given["sampling"] is not None or not others
        raise SpecError(kind.field, where, MISSING, "" if chosen else remedy)
    if kind.field != "coordinates":
        return kind, kind.parse(sizes[kind.field], geometry.base)
    about = {"domain": given["domain"], "units": given["units"], "flat": geometry.base.flat}
    periodic = given["boundary"] == "periodic"
    return kind, GivenPoints.read(given["coordinates"], **about, periodic=periodic)


def _check_points(geometry: Manifold, given: Given) -> None:
    """See that what is said of given points applies to them."""
    flat = geometry.base.flat
    without = Words("without ", Remedy("coordinates"))
    for field, applies, where in (("domain", flat, "plane"), ("units", not flat, "sphere")):
        if given["coordinates"] is None:
            left_out(field, given[field], without)
        if not applies:
            left_out(field, given[field], f"on {geometry.name}: it is of the {where}")


def _seed(kind: type[SamplingKind], seed: Any) -> int | None:
    if kind.seeded:
        return integer("seed", 0 if seed is None else seed, *limits.SEED)
    left_out("seed", seed, "where the sampling is not random")
    return None


def _axes(geometry: Manifold, given: Given) -> str | None:
    """Name of the set of axes; None where the fiber has none."""
    axes = given["axes"]
    if "nx" not in geometry.fiber.columns:
        left_out("axes", axes, f"on {geometry.name}, which has no axes")
        return None
    where = Words(f"on {geometry.name}: ", Remedy("axes"), " says how many there are")
    left_out("orientations", given["orientations"], where)
    if axes is None:
        return limits.DEFAULT_AXES
    try:
        name = f"{parsed(axes):.15g}"
    except (ValueError, TypeError):
        name = axes
    if not isinstance(name, str) or name not in limits.AXES:
        remedy = "Numbers are sets that the rotations of the cube map to themselves."
        raise SpecError("axes", f"one of {', '.join(limits.AXES)}", axes, remedy)
    return name


def _spacing(geometry: Manifold, given: Given) -> tuple[float, ...] | None:
    """Sides of voxels along x, y and z, in units of that along x; None where all are equal."""
    spacing, mask = given["spacing"], given["mask"]
    known = mask.spacing if isinstance(mask, Volume) and geometry.base.dimension == 3 else None
    relative = known and _relative(geometry, known)
    if spacing is None:
        return relative
    asked, cube = _relative(geometry, spacing), (1.0, 1.0, 1.0)
    pairs = zip(asked or cube, relative or cube, strict=True)
    if known and not all(math.isclose(*pair, rel_tol=ROUNDING) for pair in pairs):
        accepted = f"{','.join(f'{side:g}' for side in known)}, as of the mask, or left out"
        raise SpecError("spacing", accepted, spacing)
    return asked


def _relative(geometry: Manifold, spacing: Any) -> tuple[float, ...] | None:
    """Checked, in units of that along x; None where all are equal."""
    if geometry.base.dimension != 3:
        raise SpecError("spacing", f"left out on {geometry.name}: it is of voxels", spacing)
    low, high = limits.SPACING
    sides = numbers(spacing)
    relative = tuple(side / sides[0] for side in sides if sides[0])
    if len(sides) != 3 or min(sides) <= 0 or not all(low <= side <= high for side in relative):
        accepted = (
            f"x,y,z: three positive sides of voxels, none more than {high:g} times as long as that "
            "along x, or as short"
        )
        raise SpecError("spacing", accepted, spacing)
    return None if relative == (1.0, 1.0, 1.0) else relative


def _period(geometry: Manifold, period: Any) -> str | None:
    """Name of the orientations' period; None where there are no angles."""
    if not geometry.periods:
        left_out("period", period, f"on {geometry.name}, which has no angles")
        return None
    return choice("period", geometry.periods[0] if period is None else period, geometry.periods)


def _fiber(
    geometry: Manifold, axes: str | None, period: str | None, given: Given
) -> dict[str, Any]:
    """Orientations, as many as there are axes, `xi`, `alpha` and `in_plane_fraction`."""
    fields: dict[str, Any] = dict.fromkeys(("orientations", "xi", "alpha", "in_plane_fraction"))
    if not geometry.oriented:
        for field in fields:
            left_out(field, given[field], f"on {geometry.name}, which has no orientations")
        return fields | {"orientations": 1}
    count = given["orientations"] if axes is None else limits.AXES[axes]
    if count is None:
        count = limits.DEFAULT_ORIENTATIONS[period or "pi"]
    count = integer("orientations", count, *limits.ORIENTATIONS)
    xi, alpha, share = given["xi"], given["alpha"], given["in_plane_fraction"]
    if xi is None:
        xi = "alpha" if share is None else "auto"
    named = xi if isinstance(xi, str) else None
    if named != "auto":
        left_out("in_plane_fraction", share, Words("unless ", Remedy("xi"), " is 'auto'"))
    if named != "alpha":
        where = Words("where ", Remedy("xi"), f" is {xi}")
        left_out("alpha", alpha, where, "Give one of the two.")
    if named == "alpha":
        fields["alpha"] = number("alpha", 1 if alpha is None else alpha, *limits.ALPHA)
    elif named == "auto":
        if count == 1:
            one = "left out with one orientation, where all edges are in-plane"
            field, asked = ("xi", xi) if share is None else ("in_plane_fraction", share)
            raise SpecError(field, one, asked)
        share = 0.4 if share is None else share
        fraction = number("in_plane_fraction", share, *limits.IN_PLANE_FRACTION)
        fields["in_plane_fraction"] = fraction
    else:
        xi = number("xi", xi, *limits.XI, "'alpha', 'auto', or a number")
    return fields | {"orientations": count, "xi": xi}


def _anisotropy(geometry: Manifold, given: Given) -> float:
    """`eps`, given as itself or as its square."""
    eps, squared = given["eps"], given["eps_squared"]
    if squared is not None:
        where = Words("where ", Remedy("eps_squared"), " is given")
        left_out("eps", eps, where, "Give one of the two.")
        field, eps = "eps_squared", squared
        value = math.sqrt(number(field, eps, *limits.EPS_SQUARED))
    else:
        field, eps = "eps", geometry.default_eps if eps is None else eps
        value = number(field, eps, *limits.EPS)
    if not geometry.oriented and value != 1:
        other = geometry.anisotropic
        remedy = "" if other is None else f"Use {other} for an anisotropic metric."
        raise SpecError(field, f"1 on {geometry.name}, which is isotropic", eps, remedy)
    return value


def _boundary(geometry: Manifold, boundary: Any) -> str | None:
    if geometry.base.flat:
        return choice("boundary", "open" if boundary is None else boundary, limits.BOUNDARIES)
    left_out("boundary", boundary, f"on {geometry.name}, which has none")
    return None


def _region(geometry: Manifold, value: Any) -> tuple[float, float, float, float] | None:
    """(W, S, E, N) degrees, None where there is no region."""
    if value is not None and geometry.base.flat:
        remedy = Words("Give a ", Remedy("mask"), ".")
        left_out("region", value, f"on {geometry.name}, which is flat", remedy)
    return None if value is None else region(value)


def _mask_edge(
    geometry: Manifold, kind: type[SamplingKind], finest: Size, weighting: Weighting, given: Given
) -> Literal["cut"] | None:
    """Whether pixels or cells count by their part inside, "cut"; None where they are in or out."""
    asked, mask = given["mask_edge"], given["mask"]
    if given["region"] is not None and (mask is None or isinstance(mask, Mapping)):
        return _region_edge(finest, weighting, asked)
    if mask is None:
        domain = Remedy("mask" if geometry.base.flat else "region")
        left_out("mask_edge", asked, Words("unless a ", domain, " is given"))
        return None
    if asked is None or choice("mask_edge", asked, limits.MASK_EDGES) != "cut":
        return None
    if not kind.regular:
        off = Words("pixels with a mask off lattices; there a ", Remedy("region"), " cuts cells")
        raise SpecError("mask_edge", off, asked)
    if reason := weighting.uncut(lattice=True):
        others = [name for name, w in WEIGHTINGS.items() if _cuts(w, geometry)]
        either = [part for name in others for part in (" or ", Remedy("weights", name))]
        remedy = Words("Use ", *either[1:], ".")
        raise SpecError("mask_edge", f"pixels with {reason}", asked, remedy)
    return "cut"


def _cuts(weights: type[Weighting], geometry: Manifold) -> bool:
    """Whether weights of a manifold's lattices count pixels by their part inside."""
    return weights.absence(geometry, lattice=True) is None and not weights().uncut(lattice=True)


def _region_edge(finest: Size, weighting: Weighting, asked: Any) -> Literal["cut"] | None:
    """Whether the sides of a region clip cells, as they do by default of given points."""
    given, uncut = isinstance(finest, GivenPoints), weighting.uncut(lattice=False)
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


def eigenpairs_of(eigenpairs: Any, fewest: int) -> int | None:
    """The number of eigenpairs that are stored; None where none are.

    Args:
        eigenpairs: given.
        fewest: vertices of the coarsest level.
    """
    if eigenpairs is None:
        return None
    most = min(fewest, limits.EIGENPAIRS.high)
    accepted = f"an integer in {limits.Integers(limits.EIGENPAIRS.low, most)}"
    if fewest < limits.EIGENPAIRS.high:
        accepted += f", as the coarsest level has {fewest} vertices"
    return integer("eigenpairs", eigenpairs, limits.EIGENPAIRS.low, most, accepted)


def _levels(kind: type[SamplingKind], finest: Size, levels: Any) -> int:
    """Number of levels; by default while they are large enough."""
    sizes = kind.sizes(finest)
    if levels is not None:
        least, accepted = 1, _accepted_levels(kind, finest, len(sizes))
        if kind.default_levels == "all":
            as_many = f"left out or {len(sizes)}, as many as there are arrays of "
            least, accepted = len(sizes), Words(as_many, Remedy(kind.field))
        return integer("levels", levels, least, len(sizes), accepted)
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
