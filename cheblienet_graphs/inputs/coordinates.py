"""Latitudes and longitudes of grids as users give them: their holes, whatever takes them.

Both packages read grids, so what a hole is stands here alone. It takes numpy alone.
"""

import numpy as np

from cheblienet_graphs.typing import Floats, Indices

WHOLE, UNEVEN = 1.5, 4.0
"""A step that is more times as wide as those beside it is a hole; of uneven grids so many times."""
PARTS = "Give each part by itself, or fill what lies between."


def holes(steps: Floats) -> Indices:
    """Which steps between coordinates of a grid are holes, where it has no pixels.

    A hole is wider than 1.5 times the steps beside it and all that are not so. Grids that grow
    finer toward a place have none. Of grids without a rule, where other steps are wider than those
    beside them, too, a hole is wider than 4 times these.

    Args:
        steps: (n,) positive; the last one counts as beside the first.
    """
    wide = steps > WHOLE * np.maximum(np.roll(steps, 1), np.roll(steps, -1))
    if wide.any():
        usual = steps[~wide].max(initial=0)
        wide &= steps > (WHOLE if steps[wide].min() > WHOLE * usual else UNEVEN) * usual
    # Where most steps are such, it is those that are the rule.
    return np.flatnonzero(wide) if 2 * wide.sum() <= len(steps) else np.empty(0, np.int64)


def hole_between_rows(latitudes: Floats) -> str | None:
    """Where ascending latitudes, (lat,) degrees, have a hole, as text; None where nowhere."""
    found = holes(np.diff(latitudes))
    if not len(found):
        return None
    south, north = latitudes[found[0]], latitudes[found[0] + 1]
    return f"none between {south:g} and {north:g}"


def hole_between_columns(longitudes: Floats) -> str | None:
    """Where ascending longitudes, (lon,) degrees, have two holes, as text; None where fewer.

    With one hole they are a region, wherever the seam of longitudes cuts it.
    """
    steps = _around(longitudes)
    found = holes(steps)
    if len(found) < 2:
        return None
    ends = ((longitudes[n], longitudes[n] + steps[n]) for n in found[:2])
    return "none " + " and ".join(f"between {west:g} and {east:g}" for west, east in ends)


def eastwards(longitudes: Floats) -> tuple[Indices, bool]:
    """The order in which longitudes go eastwards through what they cover.

    Args:
        longitudes: (lon,) degrees, ascending, less than once around, with one hole at most.

    Returns:
        (lon,) places, of a region from its western end, and whether the grid goes once around.
    """
    found, columns = holes(_around(longitudes)), np.arange(len(longitudes))
    return (np.roll(columns, -int(found[0]) - 1) if len(found) else columns), not len(found)


def _around(longitudes: Floats) -> Floats:
    """(lon,) steps between longitudes, the last one from the last to the first of the next turn."""
    return np.diff(longitudes, append=longitudes[0] + 360)
