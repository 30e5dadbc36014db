"""Pictures of the base: which point each of their pixels shows."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.plot.places import Places
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.typing import Floats, Indices

FINE = 96
"""Most pixels of a picture along a side; larger lattices are thinned out."""
AXES = "xyz"


@dataclass(frozen=True, eq=False)
class View:
    """A picture of points of the base.

    Args:
        points: (rows, columns) the point that each pixel shows; -1 where there is none.
        extent: left, right, bottom, top of the picture; y grows downwards.
        across, down: names of the axes; empty where positions on the picture are no lengths.
        plane: the slice of a volume that it shows; empty where there is but one picture.
    """

    points: Indices
    extent: tuple[float, float, float, float]
    across: str
    down: str
    plane: str = ""

    def of(self, values: Floats) -> Floats:
        """(..., rows, columns) values (..., points) as pixels; NaN where there is no point."""
        shown: Floats = np.where(self.points >= 0, values[..., self.points], np.nan)
        return shown


def around(places: Places, point: int, reach: float) -> list[View]:
    """Pictures of what is within some spacings of a point: one, of a volume three slices.

    Args:
        places: the points.
        point: in the middle, at 0, 0.
        reach: half of the pictures' sides, in spacings.
    """
    if places.lattice is not None:
        return _pixels_around(places, places.lattice, point, int(reach))
    here = places.vectors[point]
    count = min(FINE, 8 * int(reach) + 1)
    steps = (np.arange(count) + 0.5) / count * 2 * reach - reach
    x, y = (part.ravel() for part in np.meshgrid(steps, steps))
    seen = places.at(here, np.stack([x, y], axis=1))
    found = places.nearest(seen)
    found[~_within(places, seen)] = -1
    east, south = ("x", "y") if places.flat else ("east", "south")
    return [View(found.reshape(count, count), (-reach, reach, reach, -reach), east, south)]


def _within(places: Places, seen: Floats) -> npt.NDArray[np.bool_]:
    """Which places are within an open domain, or all."""
    if not places.flat or places.points.periodic or places.points.extent is None:
        return np.ones(len(seen), bool)
    far = np.array(places.points.extent) / places.spacing
    return np.asarray(((seen >= 0) & (seen <= far)).all(axis=1))


def _pixels_around(places: Places, lattice: Lattice, point: int, reach: int) -> list[View]:
    points = places.points
    number = points.places[point] if isinstance(points, MaskedSampling) else point
    _, here = lattice.decode(np.array(number))
    spans = []
    for side, middle, length in zip(lattice.shape, here, lattice.sides, strict=True):
        most = max(1, round(reach / length))
        steps = np.arange(-most, most + 1)
        if lattice.periodic and len(steps) > side:
            steps = np.arange(side) - side // 2
        spans.append(steps + int(middle))
    axes = len(lattice.shape)
    return [
        _slice(places, lattice, (first, second), spans, here)
        for second in range(axes)
        for first in range(second)
    ][::-1]


def whole(places: Places, fine: int = FINE) -> list[View]:
    """Pictures of all points: one, of a volume three slices through the middle.

    The sphere is drawn by Mollweide's map, which keeps areas: north up, longitude 0 in the middle.

    Args:
        places: the points.
        fine: most pixels along a side, of the sphere's from pole to pole.
    """
    lattice = places.lattice
    if lattice is not None:
        step = int(pixel(places, fine))
        spans = [np.arange(step // 2, side, step) for side in lattice.shape]
        middle = tuple(np.array(side // 2) for side in lattice.shape)
        axes = len(lattice.shape)
        pairs = [(first, second) for second in range(axes) for first in range(second)]
        return [_slice(places, lattice, pair, spans, middle, at_zero=False) for pair in pairs[::-1]]
    if places.flat:
        width, height = (side / places.spacing for side in places.points.extent or (1.0, 1.0))
        side = pixel(places, fine)
        x, y = (np.arange(max(1, round(length / side))) + 0.5 for length in (width, height))
        grid = np.stack([part.ravel() for part in np.meshgrid(x * side, y * side)], axis=1)
        found = places.nearest(grid).reshape(len(y), len(x))
        return [View(found, (0.0, width, height, 0.0), "x", "y")]
    return [_cropped(_mollweide(places, fine))]


def pixel(places: Places, fine: int = FINE) -> float:
    """Side of a pixel of the pictures of all points, in spacings; what is smaller is not seen.

    Args:
        places: the points.
        fine: as of `whole`.
    """
    if places.lattice is not None:
        return float(-(-max(places.lattice.shape) // fine))
    if places.flat:
        return max(places.points.extent or (1.0,)) / places.spacing / fine
    return math.pi * places.radius / fine


def _slice(
    places: Places,
    lattice: Lattice,
    axes: tuple[int, int],
    spans: list[Indices],
    here: tuple[Indices, ...],
    *,
    at_zero: bool = True,
) -> View:
    """A picture along two of a lattice's axes, down and across, the others held fixed."""
    down, across = axes
    y, x = np.meshgrid(spans[down], spans[across], indexing="ij")
    where = [np.broadcast_to(place, y.shape) for place in here]
    where[down], where[across] = y, x
    outside = np.zeros(y.shape, bool)
    for axis, side in enumerate(lattice.shape):
        outside |= (where[axis] < 0) | (where[axis] >= side)
        where[axis] = where[axis] % side
    found = lattice.encode(np.zeros_like(y), where)
    if lattice.periodic:
        outside[:] = False
    if isinstance(places.points, MaskedSampling):
        found = places.points.inside[found]
    found[outside] = -1
    names = AXES[: len(lattice.shape)][::-1]
    left, right = _ends(spans[across], here[across], lattice.sides[across], at_zero=at_zero)
    top, bottom = _ends(spans[down], here[down], lattice.sides[down], at_zero=at_zero)
    rest = [axis for axis in range(len(names)) if axis not in (down, across)]
    plane = ", ".join(f"{names[axis]} = {int(here[axis])}" for axis in rest)
    return View(found, (left, right, bottom, top), names[across], names[down], plane)


def _ends(span: Indices, here: Indices, scale: float, *, at_zero: bool) -> tuple[float, float]:
    """Where a picture begins and ends along an axis: half a pixel beyond the first and last."""
    step = float(span[1] - span[0]) if len(span) > 1 else 1.0
    shift = float(here) if at_zero else 0.0
    return (float(span[0]) - step / 2 - shift) * scale, (float(span[-1]) + step / 2 - shift) * scale


def _mollweide(places: Places, fine: int) -> View:
    """The whole sphere in an ellipse twice as wide as high."""
    x = (np.arange(2 * fine) + 0.5) / fine - 1
    y = (np.arange(fine) + 0.5) / fine * 2 - 1
    across, down = np.meshgrid(x, y)
    inside = across**2 + down**2 < 1
    angle = np.arcsin(-down)
    sine = np.clip((2 * angle + np.sin(2 * angle)) / np.pi, -1, 1)
    cosine = np.sqrt(1 - sine**2)
    longitude = np.where(inside, np.pi * across / np.maximum(np.cos(angle), 1e-9), 0.0)
    seen = np.stack([cosine * np.cos(longitude), cosine * np.sin(longitude), sine], axis=-1)
    found = places.nearest(seen.reshape(-1, 3) * places.radius).reshape(inside.shape)
    found[~inside] = -1
    return View(found, (-2.0, 2.0, 1.0, -1.0), "", "")


def _cropped(view: View) -> View:
    """The part of a picture that shows points."""
    down, across = (np.flatnonzero((view.points >= 0).any(axis=axis)) for axis in (1, 0))
    if not len(down):
        return view
    left, right, bottom, top = view.extent
    height, width = view.points.shape
    x = left + (right - left) * np.array([across[0], across[-1] + 1]) / width
    y = top + (bottom - top) * np.array([down[0], down[-1] + 1]) / height
    kept = view.points[down[0] : down[-1] + 1, across[0] : across[-1] + 1]
    extent = (float(x[0]), float(x[1]), float(y[1]), float(y[0]))
    return View(kept, extent, view.across, view.down, view.plane)
