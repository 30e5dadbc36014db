"""Coordinates of grids in degrees: regular ones made, any others checked."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.arguments import integer, number, real_array

Floats = npt.NDArray[np.float64]

SPACING = 1e-3
"""Coordinates may be off by this share of the step between two of them."""


def regular_grid(height: int, width: int, *, west: float) -> tuple[Tensor, Tensor]:
    """Centres of the pixels of an image of the whole sphere, north up.

    Args:
        height: rows, at least 2.
        width: columns, at least 2.
        west: longitude of the image's left edge, degrees: 0 for [0, 360), -180 for [-180, 180).

    Returns:
        (height,) latitudes, descending, and (width,) longitudes, ascending, degrees, float64.

    Raises:
        ValueError: a smaller image, or `west` outside [-360, 360].
    """
    if min(integer("height", height), integer("width", width)) < 2:
        raise ValueError(f"A grid has at least 2 rows and 2 columns. Got {height} x {width}.")
    if not -360 <= number("west", west) <= 360:
        raise ValueError(f"west must be in [-360, 360] degrees. Got {west}.")
    rows = torch.arange(height, dtype=torch.float64) + 0.5
    columns = torch.arange(width, dtype=torch.float64) + 0.5
    return 90 - rows * (180 / height), west + columns * (360 / width)


def _degrees(name: str, values: npt.ArrayLike | Tensor) -> Floats:
    """(n,) float64, n at least 2, all finite."""
    degrees = real_array(name, values)
    if degrees.ndim != 1 or len(degrees) < 2 or not np.isfinite(degrees).all():
        raise ValueError(
            f"{name} must be at least 2 finite numbers, degrees. Got shape {degrees.shape}, "
            f"{np.count_nonzero(~np.isfinite(degrees))} of them not finite."
        )
    return degrees


def checked_latitudes(values: npt.ArrayLike | Tensor) -> Floats:
    """(lat,) latitudes, degrees, monotonic, in [-90, 90].

    Raises:
        ValueError: they are not.
    """
    latitudes = _degrees("latitudes", values)
    steps = np.diff(latitudes) if latitudes[0] < latitudes[-1] else np.diff(latitudes[::-1])
    if steps.min() <= 0:
        raise ValueError(
            f"latitudes must descend (north up) or ascend. Got {span(latitudes)}, in no order."
        )
    if latitudes.min() < -90 or latitudes.max() > 90:
        raise ValueError(f"latitudes must be in [-90, 90] degrees. Got {span(latitudes)}.")
    return latitudes


def checked_longitudes(values: npt.ArrayLike | Tensor) -> Floats:
    """(lon,) longitudes, degrees, ascending, at most once around.

    Raises:
        ValueError: they are not.
    """
    longitudes = _degrees("longitudes", values)
    if np.diff(longitudes).min() <= 0:
        raise ValueError(
            "longitudes must ascend, across the date line as 170, ..., 190. "
            f"Got {span(longitudes)}, which do not: sort them, or add 360 to those east of it."
        )
    if longitudes[-1] - longitudes[0] >= 360 * (1 - SPACING / len(longitudes)):
        raise ValueError(
            "longitudes must go at most once around, the first not repeated as the last. "
            f"Got {span(longitudes)}."
        )
    return longitudes


def check_degrees(latitudes: Floats, longitudes: Floats) -> None:
    """Refuse a grid of the whole sphere whose latitudes or longitudes are in radians.

    Raises:
        ValueError: they are.
    """
    inner = abs(latitudes).max()
    from_pole_to_pole = [
        inner <= quarter and 2 * quarter - np.ptp(latitudes) <= 2.5 * np.ptp(latitudes[:2])
        for quarter in (90, np.pi / 2 + 1e-6)
    ]
    step = np.ptp(longitudes) / (len(longitudes) - 1)
    around = [abs(np.ptp(longitudes) + step - turn) <= step / 2 for turn in (360, 2 * np.pi)]
    if any(from_pole_to_pole) and any(around) and not (from_pole_to_pole[0] and around[0]):
        raise ValueError(
            "latitudes and longitudes must be in degrees; a grid that is to cover the sphere, in "
            f"degrees, has other numbers. Got latitudes {span(latitudes)}, longitudes "
            f"{span(longitudes)}, as in radians: use numpy.degrees."
        )


def span(values: Floats) -> str:
    """How many coordinates there are, the first and the last, for messages."""
    if values.size == 0:
        return "none"
    return f"{values.size} from {values.flat[0]:g} to {values.flat[-1]:g}"
