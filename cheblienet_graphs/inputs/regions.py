"""Boxes of longitudes and latitudes, and of the plane, as four numbers.

Only the standard library is imported here, as help does without more.
"""

from collections.abc import Sequence

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.values import parsed

Four = tuple[float, float, float, float]

REGION = "W,S,E,N in degrees, S < N in [-90, 90], W and E in [-360, 360]"
DOMAIN = "X0,Y0,X1,Y1 with X0 < X1 and Y0 < Y1"


def region(value: object) -> Four:
    """A region of the sphere: from W eastwards to E, from S to N, degrees; the limits belong to it.

    W > E crosses the date line; E - W of 360 or more is all longitudes.

    Args:
        value: "W,S,E,N", or four numbers.

    Raises:
        SpecError: it is no region.
    """
    west, south, east, north = numbers = _four("region", value, REGION)
    if not (-90 <= south < north <= 90 and max(abs(west), abs(east)) <= 360):
        swapped = "S is north of N." if south > north else ""
        raise SpecError("region", REGION, value, swapped)
    if east - west < 360 and (east - west) % 360 == 0:
        remedy = "All longitudes are -180,S,180,N."
        raise SpecError("region", "W,S,E,N with W and E on different meridians", value, remedy)
    return numbers


def domain(value: object) -> Four:
    """A box of the plane, (x0, y0, x1, y1).

    Args:
        value: "X0,Y0,X1,Y1", or four numbers.

    Raises:
        SpecError: it is no box.
    """
    left, top, right, bottom = numbers = _four("domain", value, DOMAIN)
    if not (left < right and top < bottom):
        raise SpecError("domain", DOMAIN, value)
    return numbers


def _four(field: str, value: object, accepted: str) -> Four:
    """Four finite numbers; -0.0 becomes 0.0."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, Sequence) or len(given) != 4:
        raise SpecError(field, accepted, value)
    try:
        first, second, third, fourth = (parsed(number) + 0.0 for number in given)
    except (ValueError, TypeError):
        raise SpecError(field, accepted, value) from None
    return first, second, third, fourth
