"""The fields of volumes: the axes over each voxel, and the sides of voxels."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cheblienet_graphs import limits
from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.limits import AXES, DEFAULT_AXES
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.values import Number, left_out, parsed

ROUNDING = 1e-4
"""A spacing that is given may differ by so much of itself from that of the mask."""


def axes_field(geometry: Manifold, orientations: Number | None, axes: object) -> str | None:
    """Name of the set of axes; None where the fibre has none.

    Args:
        geometry: the manifold.
        orientations: as given; a set of axes has a number of its own.
        axes: as given.

    Raises:
        SpecError: there is no such set, or a value is given where it does not apply.
    """
    if "nx" not in geometry.fibre.columns:
        left_out("axes", axes, f"on {geometry.name}, which has no axes")
        return None
    where = Words(f"on {geometry.name}: ", Remedy("axes"), " says how many there are")
    left_out("orientations", orientations, where)
    if axes is None:
        return DEFAULT_AXES
    name = axes if isinstance(axes, str) else None
    try:
        number = parsed(axes)
        name = f"{number:.0f}" if number.is_integer() else None
    except (ValueError, TypeError):
        pass
    if name not in AXES:
        named = " or ".join(name for name in AXES if name.startswith("ico"))
        counts = ", ".join(name for name in AXES if name.isdigit())
        remedy = "Numbers are sets that the rotations of the cube map to themselves."
        raise SpecError("axes", f"one of {counts}, or {named}", axes, remedy)
    return name


def spacing_field(geometry: Manifold, spacing: object, mask: object) -> tuple[float, ...] | None:
    """Sides of voxels along x, y and z, in units of that along x; None where all are equal.

    Args:
        geometry: the manifold.
        spacing: as given, in any unit.
        mask: as given; one with an affine says what the spacing is.

    Raises:
        SpecError: it is out of range, given where there are no voxels, or another than the mask's.
    """
    known = _spacing_of(mask) if geometry.base.dimension == 3 else None
    if spacing is None:
        return None if known is None else _relative(geometry, known)
    relative = _relative(geometry, spacing)
    if known is not None and not _same(relative, _relative(geometry, known)):
        accepted = f"{','.join(f'{side:g}' for side in known)}, as of the mask, or left out"
        raise SpecError("spacing", accepted, spacing)
    return relative


def _spacing_of(mask: object) -> tuple[float, float, float] | None:
    """Sides of the voxels of a mask, None where it does not know them."""
    if mask is None or isinstance(mask, Mapping):
        return None
    return mask.spacing if isinstance(mask, Volume) else None


def _same(some: Sequence[float] | None, others: Sequence[float] | None) -> bool:
    """Whether relative spacings are equal, but for roundings of a header."""
    pairs = zip(some or (1.0, 1.0, 1.0), others or (1.0, 1.0, 1.0), strict=True)
    return all(math.isclose(*pair, rel_tol=ROUNDING) for pair in pairs)


def _relative(geometry: Manifold, spacing: object) -> tuple[float, ...] | None:
    """Checked, in units of that along x; None where all are equal."""
    if geometry.base.dimension != 3:
        raise SpecError("spacing", f"left out on {geometry.name}: it is of voxels", spacing)
    accepted = (
        f"x,y,z: three positive sides of voxels, none more than {limits.SPACING.high:g} times as "
        "long as that along x, or as short"
    )
    try:
        sides = [parsed(side) for side in _parts(spacing)]
    except (ValueError, TypeError):
        raise SpecError("spacing", accepted, spacing) from None
    if len(sides) != 3 or min(sides) <= 0:
        raise SpecError("spacing", accepted, spacing)
    relative = tuple(side / sides[0] for side in sides)
    low, high = limits.SPACING
    if not all(low <= side <= high for side in relative) or not math.isfinite(math.prod(relative)):
        raise SpecError("spacing", accepted, spacing)
    return None if relative == (1.0, 1.0, 1.0) else relative


def _parts(spacing: object) -> Sequence[Any]:
    """Text between commas, or the sequence itself.

    Raises:
        TypeError: it is none.
    """
    if isinstance(spacing, str):
        return spacing.split(",")
    return list(spacing)  # type: ignore[call-overload, no-any-return]
