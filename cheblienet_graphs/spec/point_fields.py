"""Fields on the points of a graph: manifold, sampling, fiber and boundary, each one checked.

The input maps each parameter of `GraphSpec` to its value, None where it was left out.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

from cheblienet_graphs import limits
from cheblienet_graphs.errors import MISSING, SpecError, Unquoted
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.limits import Given, choice, integer, left_out, numbers, parsed
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold
from cheblienet_graphs.samplings import SAMPLINGS, SamplingKind, Size
from cheblienet_graphs.samplings.classical_grids import classical_rows
from cheblienet_graphs.samplings.given import GivenPoints
from cheblienet_graphs.spec.mask import size_of

SIZES = tuple(kind.field for kind in SAMPLINGS.values())
"""Part that hold the size of some kind of sampling."""
ROUNDING = 1e-4
"""A spacing that is given may differ by so much of itself from that of the mask."""


@dataclass
class Part:
    """A part of a specification, normalized.

    Args:
        values: by name of the field; None where it does not apply.
        defaults: the values that some fields have where they are left out.
    """

    values: dict[str, Any]
    defaults: dict[str, Any]


@dataclass
class PointFields(Part):
    """The fields that say where the points of a graph are.

    Args:
        values: as of `Part`.
        defaults: likewise.
        geometry: the manifold.
        kind: of the sampling.
        sizes: of the finest level and of all coarser ones.
    """

    geometry: Manifold
    kind: type[SamplingKind]
    sizes: list[Size]

    @classmethod
    def parse(cls, given: Given) -> Self:
        """The fields, normalized.

        Raises:
            SpecError: a value is out of range, or given where it does not apply.
        """
        geometry = MANIFOLDS[choice("manifold", given["manifold"], tuple(MANIFOLDS))]
        kind, finest = _sampling(geometry, given)
        axes, period = _axes(geometry, given), _period(geometry, given["period"])
        values = {
            "manifold": geometry.name,
            "sampling": kind.name,
            **dict.fromkeys(SIZES),
            kind.field: finest,
            "seed": _seed(kind, given["seed"]),
            "axes": axes,
            "period": period,
            "spacing": _spacing(geometry, given),
            "orientations": _orientations(geometry, axes, period, given["orientations"]),
            "boundary": _boundary(geometry, given["boundary"]),
        }
        defaults = {
            "sampling": kind.name,  # which the size names
            "seed": 0,
            "axes": limits.DEFAULT_AXES,
            "orientations": _most_often(geometry, axes, period),
            "boundary": limits.BOUNDARIES[0],
        }
        return cls(values, defaults, geometry, kind, kind.sizes(finest))

    @property
    def finest(self) -> Size:
        """The size of the finest level."""
        return self.sizes[0]

    @property
    def orientations(self) -> int:
        """n_o."""
        count: int = self.values["orientations"]
        return count


def _sampling(geometry: Manifold, given: Given) -> tuple[type[SamplingKind], Size]:
    """The kind of sampling and its size on the finest level; the size alone can name the kind."""
    _check_points(geometry, given)
    sizes = {field: given[field] for field in SIZES}
    names, name = geometry.base.samplings, given["sampling"]
    on_lattice = name is None or (isinstance(name, str) and name == "lattice")
    if geometry.base.flat and on_lattice and all(size is None for size in sizes.values()):
        sizes["size"] = size_of(geometry, given["mask"])
    if (rows := classical_rows(sizes["gaussian"])) is not None:
        left_out("pl", sizes["pl"], "where `gaussian` is given", "Give one of the two.")
        sizes |= {"gaussian": None, "pl": rows}
        name = "reduced-gaussian" if name == "gaussian" else name
    if name is None:
        sized = [n for n in names if sizes[SAMPLINGS[n].field] is not None]
        name = sized[0] if sized else names[0]
    kind = SAMPLINGS[choice("sampling", name, names)]
    for field, value in sizes.items():
        if value is not None and field != kind.field:
            remedy = f"Its size is given by `{kind.field}` alone."
            shown = Unquoted(f"shape {value.shape}") if hasattr(value, "shape") else value
            left_out(field, shown, f"on {geometry.name} with {kind.name} sampling", remedy)
    if sizes[kind.field] is None:
        where = f"given: it is the size of {geometry.name} with {kind.name} sampling"
        others = [f"`{SAMPLINGS[n].field}`" for n in names if n != kind.name]
        remedy = f"Or choose another sampling by its size: {', '.join(others)}."
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
    for field, applies, where in (("domain", flat, "plane"), ("units", not flat, "sphere")):
        if given["coordinates"] is None:
            left_out(field, given[field], "without `coordinates`")
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
    where = f"on {geometry.name}: `axes` says how many there are"
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
    asked = _relative(geometry, spacing)
    cube = (1.0, 1.0, 1.0)
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


def _orientations(geometry: Manifold, axes: str | None, period: str | None, asked: Any) -> int:
    """n_o, as many as there are axes."""
    if not geometry.oriented:
        left_out("orientations", asked, f"on {geometry.name}, which has no orientations")
        return 1
    count = asked if axes is None and asked is not None else _most_often(geometry, axes, period)
    return integer("orientations", count, *limits.ORIENTATIONS)


def _most_often(geometry: Manifold, axes: str | None, period: str | None) -> int:
    """The number of orientations where none is given."""
    if not geometry.oriented:
        return 1
    return limits.DEFAULT_ORIENTATIONS[period or "pi"] if axes is None else limits.AXES[axes]


def _boundary(geometry: Manifold, boundary: Any) -> str | None:
    if geometry.base.flat:
        named = limits.BOUNDARIES[0] if boundary is None else boundary
        return choice("boundary", named, limits.BOUNDARIES)
    left_out("boundary", boundary, f"on {geometry.name}, which has none")
    return None
