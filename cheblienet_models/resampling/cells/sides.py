"""Curves that bound cells: straight in longitude and height, or those of HEALPix' polar caps.

Each hemisphere is seen from its pole. The depth 1 - |z| keeps its digits there, and with the
longitude it spans an area of the sphere: d(longitude) d(depth) is its element.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

Place = tuple[Floats, Floats]
"""Longitudes, radians, not reduced to one turn, and depths."""


@dataclass(frozen=True)
class Sides(ABC):
    """Sides (n,) within one hemisphere, longitude and depth monotonic along each.

    A cell's sides go around it, its inside on their left; what lies on a parallel is left out, and
    so is the way along a pole.

    Args:
        is_north: the hemisphere.
        cell: (n,) the number of each side's cell.
        start: (n,) longitudes and depths.
        end: likewise.
    """

    is_north: bool
    cell: Indices
    start: Place
    end: Place

    @abstractmethod
    def longitude_at(self, which: Indices, depth: Floats) -> Floats:
        """(m,) where some of the sides cross parallels, to within rounding."""

    @abstractmethod
    def depth_at(self, which: Indices, longitude: Floats) -> Floats:
        """(m,) where some of the sides cross meridians, to within rounding."""

    @abstractmethod
    def bulge(self, which: Indices, start: Place, end: Place) -> Floats:
        """(m,) integrals of longitude d(depth) along parts of sides, less those along chords."""

    def areas(self) -> Floats:
        """(n,) what each side adds to its cell's area, steradians."""
        (west, top), (east, bottom) = self.start, self.end
        areas = (west + east) / 2 * (bottom - top)
        areas += self.bulge(np.arange(len(self.cell)), self.start, self.end)
        return -areas if self.is_north else areas


class Straight(Sides):
    """Longitude is linear in depth: meridians, and the sides in HEALPix' equatorial belt."""

    def longitude_at(self, which: Indices, depth: Floats) -> Floats:
        """(m,) longitudes."""
        share = self._share(which, depth, 1)
        return self.start[0][which] + share * (self.end[0] - self.start[0])[which]

    def depth_at(self, which: Indices, longitude: Floats) -> Floats:
        """(m,) depths."""
        share = self._share(which, longitude, 0)
        return self.start[1][which] + share * (self.end[1] - self.start[1])[which]

    def _share(self, which: Indices, values: Floats, part: int) -> Floats:
        """(m,) how far along sides that are not constant in this part of places a value is."""
        start, end = self.start[part][which], self.end[part][which]
        share: Floats = (values - start) / (end - start)
        return share

    def bulge(self, which: Indices, start: Place, end: Place) -> Floats:  # noqa: ARG002
        """Zeros."""
        return np.zeros(len(which))


@dataclass(frozen=True)
class PolarCap(Sides):
    """Sides of HEALPix' pixels in a polar cap: longitude = origin + constant / sqrt(3 depth).

    Args:
        origin: (n,) radians.
        constant: (n,) radians; 0 on meridians, on which alone the pole is.
    """

    origin: Floats
    constant: Floats

    def longitude_at(self, which: Indices, depth: Floats) -> Floats:
        """(m,) longitudes."""
        longitude: Floats = self.origin[which] + self.constant[which] / np.sqrt(3 * depth)
        return longitude

    def depth_at(self, which: Indices, longitude: Floats) -> Floats:
        """(m,) depths."""
        apart = longitude - self.origin[which]
        root = np.divide(self.constant[which], apart, out=np.zeros_like(apart), where=apart != 0)
        depth: Floats = root**2 / 3
        return depth

    def bulge(self, which: Indices, start: Place, end: Place) -> Floats:
        """(m,) integrals."""
        a, b = np.sqrt(3 * start[1]), np.sqrt(3 * end[1])
        constant = self.constant[which]
        cubes = -constant * (b - a) ** 3 / 6
        bulge: Floats = np.divide(cubes, a * b, out=np.zeros_like(cubes), where=constant != 0)
        return bulge


def rectangles(is_north: bool, cell: Indices, longitudes: Place, depths: Place) -> Straight:  # noqa: FBT001
    """Cells (n,) of one hemisphere between two meridians and two parallels.

    Args:
        is_north: the hemisphere.
        cell: (n,) numbers.
        longitudes: (n,) west and east, radians.
        depths: (n,) of the sides towards the pole and towards the equator.
    """
    west, east = longitudes
    north, south = depths if is_north else depths[::-1]
    return Straight(
        is_north,
        np.concatenate([cell, cell]),
        (np.concatenate([west, east]), np.concatenate([north, south])),
        (np.concatenate([west, east]), np.concatenate([south, north])),
    )
