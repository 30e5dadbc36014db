"""Convex polygons on the sphere, cut by planes through its centre."""

import numpy as np

from cheblienet_models.resampling.cells.arcs import Chain, depth_of, wrapped
from cheblienet_models.resampling.cells.sides import Flags, Floats, Indices, Sides, Straight
from cheblienet_models.resampling.nearest import Search

ON_PLANE = 1e-15
"""Corners this close to a plane are on it."""


class Polygons:
    """Convex polygons on the sphere, about some points' cells, that planes are cut off from.

    Args:
        search: of the points.
        owner: (n,) the point whose cell each is of.
        cell: (n,) the number of that cell.
        corners: (n, m, 3) of length 1, counterclockwise.

    Attributes:
        corners: (n, m, 3), the first ones of each row.
        count: (n,) how many these are; 0 of those of which nothing is left.
        is_settled: (n, m) whether a corner is known to be nearest to its own point.
    """

    def __init__(self, search: Search, owner: Indices, cell: Indices, corners: Floats) -> None:
        self.search, self.owner, self.cell, self.corners = search, owner, cell, corners
        self.count = np.full(len(corners), corners.shape[1])
        self.is_settled = np.zeros(corners.shape[:2], dtype=bool)

    @property
    def is_corner(self) -> Flags:
        """(n, m) which of the corners there are."""
        return np.arange(self.corners.shape[1]) < self.count[:, None]

    def cut_by(self, others: Indices) -> None:
        """Keep what is nearer to the own point than to others (n, k)."""
        rows = np.arange(len(self.owner))
        for column in others.T:
            self._cut(rows, column)

    def cut_to_cells(self) -> None:
        """Cut until the nearest point of each corner is the polygon's own."""
        while True:
            row, slot = np.nonzero(self.is_corner & ~self.is_settled)
            if len(row) == 0:
                return
            self.is_settled[row, slot] = True
            nearer = self.search.nearer(self.corners[row, slot], self.owner[row])
            row, nearer = row[nearer >= 0], nearer[nearer >= 0]
            pairs = np.unique(row * len(self.search.points) + nearer)
            row, other = np.divmod(pairs, len(self.search.points))
            first = np.searchsorted(row, row)
            rank = np.arange(len(row)) - first
            for turn in range(int(rank.max(initial=-1)) + 1):
                self._cut(row[rank == turn], other[rank == turn])

    def _cut(self, rows: Indices, others: Indices) -> None:
        """Cut some polygons, each by the plane halfway between its point and another (n,)."""
        points = self.search.points
        normals = points[self.owner[rows]] - points[others]
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals /= np.where(length > 0, length, 1)
        height = (self.corners[rows] @ normals[:, :, None])[..., 0]
        is_out = (height < -ON_PLANE) & self.is_corner[rows]
        cut = np.flatnonzero(is_out.any(1))
        self._cut_off(rows[cut], height[cut], is_out[cut])

    def _cut_off(self, rows: Indices, height: Floats, is_out: Flags) -> None:
        """Cut corners off polygons, given the heights (n, m) of all above the plane."""
        is_in = self.is_corner[rows] & ~is_out
        inside = is_in.sum(1)
        self.count[rows[inside == 0]] = 0
        some = np.flatnonzero(inside)
        if len(some) == 0:
            return
        rows, inside, height = rows[some], inside[some], height[some]
        is_out, is_in = is_out[some], is_in[some]
        count, line = self.count[rows], np.arange(len(rows))
        corners, settled = self.corners[rows], self.is_settled[rows]
        following = (np.arange(is_out.shape[1]) + 1) % count[:, None]
        is_out_next = np.take_along_axis(is_out, following, axis=1)
        leaving = (is_in & is_out_next).argmax(1)
        entering = (is_out & ~is_out_next).argmax(1)
        first = (entering + 1) % count
        self._widen(int(inside.max()) + 2)
        # What stays, from the first corner inside, then where the two sides meet the plane.
        order = (first[:, None] + np.arange(self.corners.shape[1])) % count[:, None]
        self.corners[rows] = np.take_along_axis(corners, order[..., None], axis=1)
        self.is_settled[rows] = np.take_along_axis(settled, order, axis=1)
        self.count[rows] = inside + 2
        for slot, (a, b) in enumerate(((leaving, (leaving + 1) % count), (first, entering))):
            above, below = height[line, a].clip(0)[:, None], -height[line, b][:, None]
            met = corners[line, a] * below + corners[line, b] * above
            met /= np.linalg.norm(met, axis=1, keepdims=True)
            self.corners[rows, inside + slot] = met
            self.is_settled[rows, inside + slot] = False

    def _widen(self, width: int) -> None:
        more = width - self.corners.shape[1]
        if more > 0:
            self.corners = np.pad(self.corners, ((0, 0), (0, more), (0, 0)))
            self.is_settled = np.pad(self.is_settled, ((0, 0), (0, more)))

    def sides(self) -> list[Sides]:
        """Arcs around each polygon, and ways to a pole inside."""
        known, slots = self.is_corner, np.arange(self.corners.shape[1])
        following = np.where(known, (slots + 1) % np.maximum(self.count, 1)[:, None], slots)
        starts = self.corners
        ends = np.take_along_axis(starts, following[..., None], axis=1)
        # Twice starts x ends, to full precision where these are near to each other.
        normals = np.cross(starts + ends, ends - starts)
        at_start, turns, jumps = _turns(starts, ends, following)
        turns[~known], jumps[~known] = 0, 0
        # Around which side of a pole an arc goes may be a matter of rounding, but has to be one.
        is_far = np.abs(turns) > 1.5
        normals[is_far, 2] = np.copysign(normals[is_far, 2], turns[is_far])
        steps = turns + jumps
        longitudes = at_start[:, :1] + np.cumsum(steps, axis=1) - steps
        length = np.linalg.norm(normals, axis=-1)
        row, slot = np.nonzero(known & (length > 0))
        parts = (
            starts,
            ends,
            longitudes,
            turns,
            normals / np.where(length > 0, length, 1)[..., None],
        )
        found = Chain(self.cell[row], *(part[row, slot] for part in parts)).sides()
        around = np.rint(steps.sum(1) / (2 * np.pi))
        for pole in (1, -1):
            rows = np.flatnonzero(around == pole)
            found += _to_pole(self.cell[rows], starts[rows, 0], longitudes[rows, 0], pole)
        return found


def _turns(starts: Floats, ends: Floats, following: Indices) -> tuple[Floats, Floats, Floats]:
    """(n, m) longitudes where arcs start, by how much they turn, and from there to the next one.

    A pole has the longitude of the arc's other end, so that only there the next arc starts
    elsewhere.
    """
    angles = np.arctan2(starts[..., 1], starts[..., 0])
    at_pole = (starts[..., 0] == 0) & (starts[..., 1] == 0)
    angles[at_pole] = 0  # whatever the signs of the zeros
    ends_at, to_pole = (np.take_along_axis(part, following, axis=1) for part in (angles, at_pole))
    at_start, ends_at = np.where(at_pole, ends_at, angles), np.where(to_pole, angles, ends_at)
    sine = starts[..., 0] * ends[..., 1] - starts[..., 1] * ends[..., 0]
    turns = np.arctan2(sine, (starts[..., :2] * ends[..., :2]).sum(-1))
    turns[at_pole | to_pole] = 0
    return at_start, turns, wrapped(np.take_along_axis(at_start, following, axis=1) - ends_at)


def _to_pole(cell: Indices, corners: Floats, longitudes: Floats, pole: int) -> list[Sides]:
    """From corners (n, 3), once around, to a pole, and back at the longitudes (n,) of the start.

    Args:
        cell: (n,) numbers.
        corners: first ones of polygons that have a pole inside.
        longitudes: theirs.
        pole: 1 in the north, -1 in the south.
    """
    found: list[Sides] = []
    around = np.concatenate([longitudes + 2 * np.pi * pole, longitudes])
    for is_north in (True, False):
        has_corner, has_pole = (corners[:, 2] >= 0) == is_north, is_north == (pole > 0)
        there = np.where(has_corner, depth_of(corners), 1.0)
        back = np.full(len(cell), 0.0 if has_pole else 1.0)
        passed = np.tile(has_corner | has_pole, 2)
        start, end = np.concatenate([there, back]), np.concatenate([back, there])
        found.append(
            Straight(
                is_north,
                np.tile(cell, 2)[passed],
                (around[passed], start[passed]),
                (around[passed], end[passed]),
            )
        )
    return found
