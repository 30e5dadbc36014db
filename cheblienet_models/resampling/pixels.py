"""Pixels of a grid of latitudes and longitudes: how far they reach, which one a point is in."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_models.resampling.grids import SPACING

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ASIDE = 1e-11
"""Radians by which points are moved, so that those on a border are east of it, despite rounding."""


@dataclass(frozen=True)
class Pixels:
    """A grid with a pixel about each pair of a latitude and a longitude.

    Between two coordinates pixels meet halfway. Once around, the last longitude's pixels meet the
    first one's, and the outermost latitudes, where they are at most one step from a pole, reach to
    it. Elsewhere a grid ends half a step beyond its outermost coordinates.

    Args:
        latitudes: (lat,) ascending, degrees.
        longitudes: (lon,) ascending, degrees, less than a circle.
    """

    latitudes: Floats
    longitudes: Floats

    @property
    def columns(self) -> int:
        """How many longitudes there are."""
        return len(self.longitudes)

    @property
    def count(self) -> int:
        """Pixels."""
        return len(self.latitudes) * len(self.longitudes)

    @cached_property
    def is_around(self) -> bool:
        """Whether the gap from the last longitude to the first one is no wider than a step."""
        gap = 360 - float(np.ptp(self.longitudes))
        return bool(gap <= np.diff(self.longitudes).max() * (1 + SPACING))

    @cached_property
    def poles(self) -> tuple[bool, bool]:
        """Whether the grid reaches the south pole, and the north pole, beyond half a step."""
        steps = np.diff(self.latitudes)[[0, -1]] * (1 + SPACING)
        south, north = self.latitudes[0] + 90 <= steps[0], 90 - self.latitudes[-1] <= steps[1]
        return self.is_around and bool(south), self.is_around and bool(north)

    @cached_property
    def row_edges(self) -> Floats:
        """(lat + 1,) latitudes between the rows, ascending, degrees."""
        edges = _edges(self.latitudes).clip(-90, 90)
        if self.poles[0]:
            edges[0] = -90
        if self.poles[1]:
            edges[-1] = 90
        return edges

    @cached_property
    def column_edges(self) -> Floats:
        """(lon + 1,) longitudes between the columns, ascending, degrees."""
        edges = _edges(self.longitudes)
        if self.is_around:
            edges[0] = (self.longitudes[0] + self.longitudes[-1] - 360) / 2
            edges[-1] = edges[0] + 360
        return edges

    @cached_property
    def centres(self) -> tuple[Floats, Floats]:
        """(lat,) colatitudes and (lon,) longitudes, radians."""
        return np.radians(90 - self.latitudes), np.radians(self.longitudes)

    @cached_property
    def share(self) -> float:
        """Area of all pixels as a share of the sphere's."""
        heights = np.sin(np.radians(self.row_edges[[0, -1]]))
        return float(np.ptp(heights) / 2 * np.ptp(self.column_edges[[0, -1]]) / 360)

    @cached_property
    def areas(self) -> Floats:
        """(lat, lon) of the pixels, steradians."""
        rows, columns = np.radians(self.row_edges), np.radians(self.column_edges)
        heights = 2 * np.sin(np.diff(rows) / 2) * np.cos((rows[1:] + rows[:-1]) / 2)
        areas: Floats = heights[:, None] * np.diff(columns)
        return areas

    def reaches(self, beta: Floats, gamma: Floats) -> Flags:
        """(n,) whether points of colatitude beta and longitude gamma, radians, are in a pixel.

        Those on the grid's own edge are, to within rounding of its coordinates.
        """
        latitude, longitude = 90 - np.degrees(beta), self.unrolled(gamma)
        rows, columns = self.row_edges, self.column_edges
        slack = SPACING * np.diff(rows)[[0, -1]]
        inside: Flags = (latitude >= rows[0] - slack[0]) & (latitude <= rows[-1] + slack[1])
        slack = SPACING * np.diff(columns)[[0, -1]]
        across = (longitude >= columns[0] - slack[0]) & (longitude <= columns[-1] + slack[1])
        return inside if self.is_around else inside & across

    def unrolled(self, gamma: Floats) -> Floats:
        """(n,) longitudes, radians, in degrees: from the grid's western edge, once around.

        On a part of the circle the turn begins in the middle of what the grid leaves out.
        """
        start = self.column_edges[0]
        if not self.is_around:
            start -= (360 - np.ptp(self.column_edges[[0, -1]])) / 2
        degrees: Floats = (np.degrees(gamma) - start) % 360 + start
        return degrees

    def containing(self, beta: Floats, gamma: Floats) -> Indices:
        """(n,) the pixel that each point is in, or is nearest to."""
        row = np.searchsorted(self.row_edges[1:-1], 90 - np.degrees(beta))
        column = np.searchsorted(self.column_edges[1:-1], self.unrolled(gamma + ASIDE))
        found: Indices = (row * self.columns + column).astype(np.int64)
        return found


def _edges(centres: Floats) -> Floats:
    """(n + 1,) halfway between centres, and half a step beyond the outermost."""
    middles = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middles[0]], middles, [2 * centres[-1] - middles[-1]]])
