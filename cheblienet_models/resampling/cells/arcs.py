"""Arcs of great circles as sides, cut at the equator and where they are nearest to a pole."""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cheblienet_models.resampling.cells.sides import Flags, Floats, Indices, Place, Sides


@dataclass(frozen=True)
class GreatCircle(Sides):
    """Arcs of great circles: normal . place = 0.

    Args:
        azimuth: (n,) of the normal, radians.
        across: (n,) the normal's part across the axis.
        along: (n,) its part along the axis, towards the pole of the hemisphere.
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
    nearest: Floats = angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
    return nearest


class Chain(NamedTuple):
    """Arcs (n,) between unit vectors, each shorter than half a circle.

    Args:
        cell: (n,) numbers.
        starts: (n, 3).
        ends: (n, 3).
        longitudes: (n,) of the starts, radians, not reduced to one turn.
        turns: (n,) longitudes of the ends less those.
        normals: (n, 3) of length 1, along starts x ends; the sign of the last part is that of the
            turn where this is beyond a quarter.
    """

    cell: Indices
    starts: Floats
    ends: Floats
    longitudes: Floats
    turns: Floats
    normals: Floats

    def sides(self) -> list[Sides]:
        """The arcs, cut at the equator and where they are nearest to a pole."""
        across = np.hypot(self.normals[:, 0], self.normals[:, 1])
        azimuth = np.arctan2(self.normals[:, 1], self.normals[:, 0])
        breaks = self._breaks()
        found: list[Sides] = []
        for is_north in (True, False):
            parts = []
            for a, b in pairwise(breaks):
                is_part = (a.turned != b.turned) | (a.depth != b.depth)
                chosen = np.flatnonzero(is_part & ((a.height + b.height >= 0) == is_north))
                from_to = (a.turned, a.depth, b.turned, b.depth)
                parts.append((chosen, *(values[chosen] for values in from_to)))
            which = np.concatenate([part[0] for part in parts])
            start, depth, end, end_depth = (
                np.concatenate([part[k].astype(np.float64) for part in parts]) for k in (1, 2, 3, 4)
            )
            west = self.longitudes[which]
            along = self.normals[which, 2] if is_north else -self.normals[which, 2]
            found.append(
                GreatCircle(
                    is_north,
                    self.cell[which],
                    (west + start, depth),
                    (west + end, end_depth),
                    azimuth[which],
                    across[which],
                    along,
                )
            )
        return found

    def _breaks(self) -> list["_Break"]:
        """Starts, up to two places in between in their order, else the start again, and ends."""
        starts, ends, normals = self.starts, self.ends, self.normals
        start = _Break(np.zeros(len(self.cell)), depth_of(starts), starts[:, 2])
        is_crossing = starts[:, 2] * ends[:, 2] < 0
        crossing = starts * np.abs(ends[:, 2:]) + ends * np.abs(starts[:, 2:])
        rises, falls = (normals[:, 0] * p[:, 1] - normals[:, 1] * p[:, 0] for p in (starts, ends))
        is_bent = rises * falls < 0
        # An arc that rises first is highest in the north, one that falls first lowest in the south.
        side = np.where((rises > 0) != np.signbit(normals[:, 2]), -1.0, 1.0)
        nearest = np.column_stack([side[:, None] * normals[:, :2], normals[:, 2]])
        depth = normals[:, 2] ** 2 / (1 + np.hypot(normals[:, 0], normals[:, 1]))
        ones = np.ones(len(self.cell))
        equator = _Break(self._turned(crossing), ones, 0 * ones).where(is_crossing, start)
        extreme = _Break(self._turned(nearest), depth, np.where(rises > 0, ones, -ones))
        extreme = extreme.where(is_bent, start)
        is_later = ~is_bent | (is_crossing & (np.abs(equator.turned) > np.abs(extreme.turned)))
        end = _Break(self.turns, depth_of(ends), ends[:, 2])
        return [start, extreme.where(is_later, equator), equator.where(is_later, extreme), end]

    def _turned(self, places: Floats) -> Floats:
        """(n,) by how much places (n, 3) are turned from the starts, at most by the turns."""
        turned = wrapped(np.arctan2(places[:, 1], places[:, 0]) - self.longitudes)
        # At a pole, half a turn from one side to the other, rounding may lose the sign.
        return turned.clip(np.minimum(self.turns, 0), np.maximum(self.turns, 0))


class _Break(NamedTuple):
    """Places (n,) on arcs: by how much they are turned from the start, depths, z or its sign."""

    turned: Floats
    depth: Floats
    height: Floats

    def where(self, chosen: Flags, other: "_Break") -> "_Break":
        """These where chosen, else the others."""
        return _Break(*(np.where(chosen, a, b) for a, b in zip(self, other, strict=True)))


def depth_of(places: Floats) -> Floats:
    """(...) 1 - |z| of unit vectors (..., 3)."""
    depth: Floats = (places[..., 0] ** 2 + places[..., 1] ** 2) / (1 + np.abs(places[..., 2]))
    return depth
