"""The fields of points and of their metric: each is checked, normalized, and given its default."""

import math
from collections.abc import Mapping
from typing import Any

from cheblienet_graphs import limits
from cheblienet_graphs.errors import MISSING, Remedy, SpecError, Words
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings import SAMPLINGS, SamplingKind, Size
from cheblienet_graphs.samplings.given_points import UncheckedPoints
from cheblienet_graphs.values import Number, choice, integer, left_out, number


def sampling_and_size(
    geometry: Manifold, sampling: str | None, sizes: Mapping[str, object]
) -> tuple[type[SamplingKind], Size]:
    """The kind of sampling and its size on the finest level; the size alone can name the kind.

    Args:
        geometry: the manifold.
        sampling: name of the kind; None chooses the one whose size is given, else the default.
        sizes: values of all fields that hold the size of some kind, at most one not None.

    Raises:
        SpecError: the name or the size is unknown, missing, out of range, or of another kind.
    """
    names = geometry.base.samplings
    sampling_given = sampling is not None
    if sampling is None:
        sized = [n for n in names if sizes[SAMPLINGS[n].field] is not None]
        sampling = sized[0] if sized else names[0]
    kind = SAMPLINGS[choice("sampling", sampling, names)]
    for field, value in sizes.items():
        if field != kind.field:
            remedy = Words("Its size is given by ", Remedy(kind.field), " alone.")
            left_out(field, value, f"on {geometry.name} with {kind.name} sampling", remedy)
    if sizes[kind.field] is None:
        where = f"given: it is the size of {geometry.name} with {kind.name} sampling"
        others = [Remedy(SAMPLINGS[name].field) for name in names if name != kind.name]
        sizes_too = [part for other in others for part in (", ", other)][1:]
        remedy = Words("Or choose another sampling by its size: ", *sizes_too, ".")
        raise SpecError(kind.field, where, MISSING, "" if sampling_given or not others else remedy)
    return kind, kind.parse(sizes[kind.field], geometry.base)


def given_points(
    geometry: Manifold, coordinates: Any, domain: Any, units: Any, boundary: str | None
) -> UncheckedPoints | None:
    """Given points with what else is given for them; None where there are none.

    Raises:
        SpecError: a value is given where it does not apply.
    """
    for field, value, applies in (
        ("domain", domain, geometry.base.flat),
        ("units", units, not geometry.base.flat),
    ):
        if coordinates is None:
            left_out(field, value, Words("unless ", Remedy("coordinates"), " are given"))
        if not applies:
            where = "plane" if field == "domain" else "sphere"
            left_out(field, value, f"on {geometry.name}: it is of the {where}")
    if coordinates is None:
        return None
    return UncheckedPoints(coordinates, domain, units, periodic=boundary == "periodic")


def seed_field(kind: type[SamplingKind], seed: Number | None) -> int | None:
    """The seed, 0 by default; None where the sampling is not random.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    if kind.seeded:
        return integer("seed", 0 if seed is None else seed, *limits.SEED)
    left_out("seed", seed, "where the sampling is not random")
    return None


def boundary_field(geometry: Manifold, boundary: str | None) -> str | None:
    """The boundary, open by default; None on the sphere, which has none.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    if geometry.base.flat:
        return choice("boundary", "open" if boundary is None else boundary, limits.BOUNDARIES)
    left_out("boundary", boundary, f"on {geometry.name}, which has none")
    return None


def fibre_fields(
    geometry: Manifold,
    orientations: Number | None,
    axes: str | None,
    xi: Number | None,
    alpha: Number | None,
    in_plane_fraction: Number | None,
) -> dict[str, Any]:
    """Orientations, `xi`, `alpha` and `in_plane_fraction`; those that do not apply are None.

    Where there are axes, `axes` names their set, which has the number of orientations.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    given = {
        "orientations": orientations,
        "xi": xi,
        "alpha": alpha,
        "in_plane_fraction": in_plane_fraction,
    }
    if not geometry.oriented:
        for field, value in given.items():
            left_out(field, value, f"on {geometry.name}, which has no orientations")
        return given | {"orientations": 1}
    if axes is not None:
        orientations = limits.AXES[axes]
    fields = dict.fromkeys(given) | {
        "orientations": integer(
            "orientations", 6 if orientations is None else orientations, *limits.ORIENTATIONS
        )
    }
    if xi is None:
        xi = "alpha" if in_plane_fraction is None else "auto"
    if xi != "auto":
        left_out(
            "in_plane_fraction", in_plane_fraction, Words("unless ", Remedy("xi"), " is 'auto'")
        )
    if xi != "alpha":
        left_out("alpha", alpha, Words("where ", Remedy("xi"), f" is {xi}"), "Give one of the two.")
    if xi == "alpha":
        alpha = number("alpha", 1 if alpha is None else alpha, *limits.ALPHA)
        return fields | {"xi": "alpha", "alpha": alpha}
    if xi == "auto":
        if fields["orientations"] == 1:
            field = "xi" if in_plane_fraction is None else "in_plane_fraction"
            where = "left out with one orientation, where all edges are in-plane"
            raise SpecError(field, where, given[field] if given[field] is not None else xi)
        share = 0.4 if in_plane_fraction is None else in_plane_fraction
        fraction = number("in_plane_fraction", share, *limits.IN_PLANE_FRACTION)
        return fields | {"xi": "auto", "in_plane_fraction": fraction}
    return fields | {"xi": number("xi", xi, *limits.XI, "'alpha', 'auto', or a number")}


def anisotropy(geometry: Manifold, eps: Number | None, eps_squared: Number | None) -> float:
    """`eps`, given as itself or as its square.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    if eps_squared is not None:
        left_out(
            "eps", eps, Words("where ", Remedy("eps_squared"), " is given"), "Give one of the two."
        )
        field, given = "eps_squared", eps_squared
        value = math.sqrt(number(field, given, *limits.EPS_SQUARED))
    else:
        field, given = "eps", geometry.default_eps if eps is None else eps
        value = number(field, given, *limits.EPS)
    if not geometry.oriented and value != 1:
        other = geometry.anisotropic
        remedy = "" if other is None else f"Use {other} for an anisotropic metric."
        raise SpecError(field, f"1 on {geometry.name}, which is isotropic", given, remedy)
    return value


def number_of_levels(levels: Number | None, kind: type[SamplingKind], finest: Size) -> int:
    """Number of levels; by default while they are large enough.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    sizes = kind.sizes(finest)
    if levels is not None:
        if kind.default_levels == "all":
            as_many = f"left out or {len(sizes)}, as many as there are arrays of "
            accepted = Words(as_many, Remedy(kind.field))
            return integer("levels", levels, len(sizes), len(sizes), accepted)
        return integer("levels", levels, 1, len(sizes), _accepted_levels(kind, finest, len(sizes)))
    if kind.default_levels == "one":
        return 1
    if kind.default_levels == "all":
        return len(sizes)
    worthwhile = 1
    while worthwhile < len(sizes) and _large_enough(kind.grid(sizes[worthwhile])):
        worthwhile += 1
    return worthwhile


def _large_enough(grid: tuple[int, ...]) -> bool:
    return min(grid) >= (
        limits.SMALLEST_DEFAULT_SIDE if len(grid) > 1 else limits.SMALLEST_DEFAULT_POINTS
    )


def _accepted_levels(kind: type[SamplingKind], finest: Size, possible: int) -> str:
    if kind.regular:
        sides = " x ".join(("width", "height", "depth")[: len(finest)])
        shape = ", ".join(map(str, kind.grid(finest)))
        return (
            f"an integer in [1, {possible}] for {'x'.join(map(str, finest))} ({sides}; images "
            f"(B, C, {shape})): each level halves {'both' if len(finest) == 2 else 'all'} sides, "
            "which must come out whole and at least 2"
        )
    return f"an integer in [1, {possible}] for {kind.field} {finest}"
