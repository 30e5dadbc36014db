"""Curves that bound cells: straight in longitude and height, or as in HEALPix' polar caps.

Each hemisphere is seen from its pole. The depth 1 - |z| keeps its digits there, and with the
longitude it spans an area of the sphere: d(longitude) d(depth) is its element.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cheblienet_graphs.typing import Flags, Floats, Indices

Place = tuple[Floats, Floats]
"""Longitudes, radians, not reduced to one turn, and depths."""


@dataclass(frozen=True)
class Sides:
    """Sides (n,) within one hemisphere, longitude and depth monotonic along each.

    Longitude is linear in depth here: meridians, and the sides in HEALPix' equatorial belt. Other
    curves are subclasses.

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

    def longitude_at(self, which: Indices, depth: Floats) -> Floats:
        """(m,) where some of the sides cross parallels, to within rounding."""
        share = self._share(which, depth, 1)
        return self.start[0][which] + share * (self.end[0] - self.start[0])[which]

    def depth_at(self, which: Indices, longitude: Floats) -> Floats:
        """(m,) where some of the sides cross meridians, to within rounding."""
        share = self._share(which, longitude, 0)
        return self.start[1][which] + share * (self.end[1] - self.start[1])[which]

    def _share(self, which: Indices, values: Floats, part: int) -> Floats:
        """(m,) how far along sides that are not constant in this part of places a value is."""
        start, end = self.start[part][which], self.end[part][which]
        return (values - start) / (end - start)

    def bulge(self, which: Indices, start: Place, end: Place) -> Floats:  # noqa: ARG002
        """(m,) integrals of longitude d(depth) along parts of sides, minus along chords."""
        return np.zeros(len(which))

    def areas(self) -> Floats:
        """(n,) what each side adds to its cell's area, steradians."""
        (west, top), (east, bottom) = self.start, self.end
        areas = (west + east) / 2 * (bottom - top)
        areas += self.bulge(np.arange(len(self.cell)), self.start, self.end)
        return -areas if self.is_north else areas


@dataclass(frozen=True)
class PolarCap(Sides):
    """Sides of HEALPix' pixels in a polar cap: longitude = origin + constant / sqrt(3 depth)."""

    @cached_property
    def origin(self) -> Floats:
        """(n,) radians, of the meridian between two faces that a side approaches."""
        (first, start), (last, end) = self.start, self.end
        a, b = np.sqrt(3 * start), np.sqrt(3 * end)
        meridian: Floats = (np.pi / 2) * np.rint((b * last - a * first) / (b - a) / (np.pi / 2))
        return meridian

    @cached_property
    def constant(self) -> Floats:
        """(n,) radians; 0 on meridians, on which alone the pole is."""
        constant: Floats = np.sqrt(3 * self.start[1]) * (self.start[0] - self.origin)
        return constant

    def longitude_at(self, which: Indices, depth: Floats) -> Floats:
        """(m,) longitudes."""
        return self.origin[which] + self.constant[which] / np.sqrt(3 * depth)

    def depth_at(self, which: Indices, longitude: Floats) -> Floats:
        """(m,) depths."""
        apart = longitude - self.origin[which]
        root = np.divide(self.constant[which], apart, out=np.zeros_like(apart), where=apart != 0)
        return root**2 / 3

    def bulge(self, which: Indices, start: Place, end: Place) -> Floats:
        """(m,) integrals."""
        a, b = np.sqrt(3 * start[1]), np.sqrt(3 * end[1])
        constant = self.constant[which]
        cubes = -constant * (b - a) ** 3 / 6
        bulge: Floats = np.divide(cubes, a * b, out=np.zeros_like(cubes), where=constant != 0)
        return bulge


@dataclass(frozen=True)
class GreatCircle(Sides):
    """Arcs of great circles: normal . place = 0.

    Args:
        azimuth: (n,) of the normal, radians.
        across: (n,) the normal's part across the axis.
        along: (n,) its part along the axis, toward the pole of the hemisphere.
    """

    azimuth: Floats
    across: Floats
    along: Floats

    def longitude_at(self, which: Indices, depth: Floats) -> Floats:
        """(m,) longitudes."""
        cosine = -self.along[which] * (1 - depth)
        scale = self.across[which] * np.sqrt(depth * (2 - depth))
        cosine = np.divide(cosine, scale, out=np.zeros_like(cosine), where=scale > 0)
        # Of the two places at this depth that on the same side of the deepest and the highest one.
        middle = (self.start[0][which] + self.end[0][which]) / 2
        angle = wrapped(middle - self.azimuth[which])
        longitude: Floats = middle - angle + np.copysign(np.arccos(cosine.clip(-1, 1)), angle)
        return longitude

    def depth_at(self, which: Indices, longitude: Floats) -> Floats:
        """(m,) depths."""
        height = self.across[which] * np.abs(np.cos(longitude - self.azimuth[which]))
        radius = np.abs(self.along[which])
        length = np.hypot(height, radius)
        length[length == 0] = 1.0
        height, radius = height / length, radius / length
        return radius**2 / (1 + height)

    def bulge(self, which: Indices, start: Place, end: Place) -> Floats:  # noqa: ARG002
        """(m,) integrals, by the area between arc and pole, which is a triangle's."""
        turn = end[0] - start[0]
        tangents = np.sqrt(start[1] / (2 - start[1]) * (end[1] / (2 - end[1])))
        triangle = 2 * np.arctan2(tangents * np.sin(turn), 1 + tangents * np.cos(turn))
        bulge: Floats = turn * (start[1] + end[1]) / 2 - triangle
        return bulge


def wrapped(angle: Floats) -> Floats:
    """To [-pi, pi], radians."""
    return angle - 2 * np.pi * np.rint(angle / (2 * np.pi))


class Arcs(NamedTuple):
    """Arcs (n,) of great circles, each shorter than half a circle.

    Args:
        cell: (n,) numbers.
        azimuth, across, along: (n,) of normals, as of `GreatCircle`, but along the northern axis.
        first, last: (n,) longitudes of the ends, radians, not reduced to one turn.
        start_depth, end_depth: (n,) there.
        start_height, end_height: (n,) z there, or its sign.
    """

    cell: Indices
    azimuth: Floats
    across: Floats
    along: Floats
    first: Floats
    last: Floats
    start_depth: Floats
    end_depth: Floats
    start_height: Floats
    end_height: Floats

    def cut(self, chosen: Flags, longitude: Floats, depth: Floats, height: Floats) -> "Arcs":
        """The arcs, chosen ones cut: at longitudes up to whole turns, depths, heights (n,)."""
        center = (self.first + self.last) / 2  # next to which: half a turn on has either sign
        nearest = center + wrapped(longitude - center)
        middle = nearest.clip(np.minimum(self.first, self.last), np.maximum(self.first, self.last))
        ends = {"last": middle, "end_depth": depth, "end_height": height}
        before = {name: np.where(chosen, end, getattr(self, name)) for name, end in ends.items()}
        after = self._replace(first=middle, start_depth=depth, start_height=height)
        both = zip(self._replace(**before), after, strict=True)
        return Arcs(*(np.append(one, other[chosen]) for one, other in both))

    def at_extremes(self) -> "Arcs":
        """The arcs, cut where they are nearest to a pole."""
        rises, falls = (np.sin(end - self.azimuth) for end in (self.first, self.last))
        half_turns = np.rint(((self.first + self.last) / 2 - self.azimuth) / np.pi)
        depth = self.along**2 / (1 + self.across)
        nearest = self.azimuth + np.pi * half_turns
        return self.cut(rises * falls < 0, nearest, depth, np.where(rises > 0, 1.0, -1.0))

    def sides(self) -> list[Sides]:
        """Sides of arcs that cross no equator, and are nearest to poles at ends."""
        is_part = (self.first != self.last) | (self.start_depth != self.end_depth)
        is_above = self.start_height + self.end_height >= 0
        sides: list[Sides] = []
        for is_north in (True, False):
            part = Arcs(*(values[is_part & (is_above == is_north)] for values in self))
            start, end = (part.first, part.start_depth), (part.last, part.end_depth)
            along = part.along if is_north else -part.along
            normal = part.azimuth, part.across, along
            sides.append(GreatCircle(is_north, part.cell, start, end, *normal))
        return sides


def depth_of(places: Floats) -> Floats:
    """(...) 1 - |z| of unit vectors (..., 3)."""
    depth: Floats = (places[..., 0] ** 2 + places[..., 1] ** 2) / (1 + np.abs(places[..., 2]))
    return depth


def great_circles(cell: Indices, starts: Floats, ends: Floats, within: Floats) -> list[Sides]:
    """Sides of convex cells that are arcs of great circles.

    Longitudes are nearest to a place within the cell: only around a pole they make a whole turn,
    where a way to this pole and back, a turn apart, is added.

    Args:
        cell: (n,) numbers.
        starts: (n, 3) of length 1, the cell on the left.
        ends: (n, 3), less than half a circle away.
        within: (n,) longitudes of places within the cells, radians.
    """
    # Twice starts x ends, to full precision where these are near to each other.
    normals = np.cross(starts + ends, ends - starts)
    length = np.linalg.norm(normals, axis=1)
    kept = np.flatnonzero(length)
    cell, starts, ends, within = cell[kept], starts[kept], ends[kept], within[kept]
    normals = normals[kept] / length[kept, None]
    first, last, turns = _longitudes(starts, ends, within)
    # Around which side of a pole an arc goes may be a matter of rounding, but has to be one.
    is_far = np.abs(turns) > 1.5
    normals[is_far, 2] = np.copysign(normals[is_far, 2], turns[is_far])
    across, along = np.hypot(normals[:, 0], normals[:, 1]), normals[:, 2]
    normal = np.arctan2(normals[:, 1], normals[:, 0]), across, along
    depths, heights = (depth_of(starts), depth_of(ends)), (starts[:, 2], ends[:, 2])
    arcs = Arcs(cell, *normal, first, first + turns, *depths, *heights)
    crossing = starts * np.abs(ends[:, 2:]) + ends * np.abs(starts[:, 2:])
    equator, ones = np.arctan2(crossing[:, 1], crossing[:, 0]), np.ones(len(cell))
    arcs = arcs.cut(heights[0] * heights[1] < 0, equator, ones, 0 * ones)
    sides = arcs.at_extremes().sides()
    rounds = np.rint((first + turns - last) / (2 * np.pi))
    total = np.bincount(cell, rounds, 1)
    for pole in (1, -1):
        which = np.flatnonzero((rounds != 0) & (np.where(total[cell] < 0, -1, 1) == pole))
        longitudes = last[which], last[which] + 2 * np.pi * rounds[which]
        sides += _to_pole(cell[which], ends[which], longitudes, pole)
    return sides


def _longitudes(starts: Floats, ends: Floats, within: Floats) -> tuple[Floats, Floats, Floats]:
    """(n,) longitudes of starts and of ends, next to the ones `within`, and by how much arcs turn.

    A pole has the longitude of the arc's other end.
    """
    first, last = (np.arctan2(places[:, 1], places[:, 0]) for places in (starts, ends))
    from_pole, to_pole = (~places[:, :2].any(1) for places in (starts, ends))
    first, last = np.where(from_pole, last, first), np.where(to_pole, first, last)
    sine = starts[:, 0] * ends[:, 1] - starts[:, 1] * ends[:, 0]
    turns = np.arctan2(sine, (starts[:, :2] * ends[:, :2]).sum(1))
    turns[from_pole | to_pole] = 0
    return within + wrapped(first - within), within + wrapped(last - within), turns


def _to_pole(cell: Indices, corners: Floats, longitudes: Place, pole: int) -> list[Sides]:
    """From corners (n, 3) to a pole, and back at other longitudes.

    Args:
        cell: (n,) numbers.
        corners: where cells have gone once around the pole.
        longitudes: (n,) of the ways back and there.
        pole: 1 in the north, -1 in the south.
    """
    sides: list[Sides] = []
    around = np.concatenate(longitudes[::-1])
    for is_north in (True, False):
        has_corner = (corners[:, 2] >= 0) == is_north
        has_pole = is_north == (pole > 0)
        there = np.where(has_corner, depth_of(corners), 1.0)
        back = np.full(len(cell), 0.0 if has_pole else 1.0)
        passed = np.tile(has_corner | has_pole, 2)
        start, end = np.concatenate([there, back])[passed], np.concatenate([back, there])[passed]
        place = around[passed]
        sides.append(Sides(is_north, np.tile(cell, 2)[passed], (place, start), (place, end)))
    return sides
