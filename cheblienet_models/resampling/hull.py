"""Interpolation on the facets of a convex hull: the one a place is seen through, and its weights.

Points of a lattice on the sphere have facets of more than three corners: rectangles on equiangular
grids and HEALPix, a polygon around each pole. Cut into triangles along one diagonal they would lose
their symmetries; here the weights are the mean over the fans of triangles from each corner, for a
rectangle over both diagonals.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

PIVOTS = 1000
"""At most so many exchanges of corners; a few dozens are usual."""
ASIDE = 1e-9
"""Pixels' centres are moved this far, so that none is on an edge, where exchanges may cycle."""
INNER = 0.01
"""Distance from the centre of the six points that the search for triangles starts from."""
ON_FACET = 1e-10
"""Points this close to a triangle's plane are in it."""
MARGIN = 1e-7
"""Of colatitudes, radians, between which points on a plane are searched for."""
FULL_TURN = 8.0
"""More than the angles, radians, that are told apart by multiples of it."""


def facet_weights(points: Floats, places: Floats) -> tuple[Indices, Indices, Floats]:
    """(nnz,) place, point and weight of linear interpolation between points (m, 3) on the sphere.

    A place (n, 3) is seen through a facet of the points' convex hull. Its weights w >= 0, of sum 1,
    are such that sum_i w_i p_i is on its ray. Entries of the same place and point are to be added.

    Raises:
        ValueError: the points leave half of the sphere empty.
    """
    triangles, which = _distinct(np.sort(_enclosing_triangles(points, places), axis=1))
    normals = _normals(points[triangles])
    facet, corner = _PlaneSearch(points).on(normals)
    sides, first = np.bincount(facet), np.searchsorted(facet, np.arange(len(normals)))
    found: list[tuple[Indices, Indices, Floats]] = []
    for count in np.unique(sides):
        chosen = np.flatnonzero(sides == count)
        inside = np.flatnonzero(sides[which] == count)
        polygon = np.searchsorted(chosen, which[inside])
        members = corner[first[chosen, None] + np.arange(count)]
        # Where the rays to the places meet the planes.
        height = (normals[which[inside]] * places[inside]).sum(1)
        axes = _plane_axes(normals[chosen])
        met = np.einsum("pak,pk->pa", axes[polygon], places[inside] / height[:, None])
        flat = np.einsum("pak,pck->pca", axes, points[members])
        order = _around(flat)
        flat = np.take_along_axis(flat, order[..., None], axis=1)
        members = np.take_along_axis(members, order, axis=1)
        for corners, weights in _fans(flat, polygon, met):
            named = members[polygon[:, None], corners]
            found.append((np.repeat(inside, 3), named.ravel(), weights.ravel()))
    place, point, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return place, point, weight


def _plane_axes(normals: Floats) -> Floats:
    """(m, 2, 3) right-handed pairs of unit vectors across normals (m, 3)."""
    unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    across = np.cross(unit, np.eye(3)[np.abs(unit).argmin(1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.stack([across, np.cross(unit, across)], axis=1)


def _around(polygons: Floats) -> Indices:
    """(m, n) the corners of convex polygons (m, n, 2), counterclockwise."""
    x, y = np.moveaxis(polygons - polygons.mean(1, keepdims=True), -1, 0)
    order: Indices = np.arctan2(y, x).argsort(1)
    return order


def _fans(polygons: Floats, which: Indices, places: Floats) -> Iterator[tuple[Indices, Floats]]:
    """(k, 3) corners and weights of places (k, 2) in polygons (m, n, 2), counterclockwise; n times.

    Each time the polygons are cut along the diagonals from another corner. The n weights of a place
    add up to 1. A triangle is cut in one way only, so once.
    """
    count = polygons.shape[1]
    cuts = 1 if count == 3 else count
    offsets = FULL_TURN * np.arange(len(polygons))
    for first in range(cuts):
        rolled = np.roll(polygons, -first, axis=1)
        rays, seen = rolled[:, 1:] - rolled[:, :1], places - rolled[which, 0]
        angles = _angle(rays[:, :1], rays) + offsets[:, None]
        sought = _angle(rays[which, 0], seen) + offsets[which]
        before = np.searchsorted(angles.ravel(), sought, side="right") - 1 - which * (count - 1)
        before = before.clip(0, count - 3)
        left, right = rays[which, before], rays[which, before + 1]
        shares = np.stack([_cross(seen, right), _cross(left, seen)], axis=1)
        shares /= _cross(left, right)[:, None]
        weights = np.column_stack([1 - shares.sum(1), shares]).clip(0)
        weights /= weights.sum(1, keepdims=True) * cuts
        corners = np.column_stack([np.zeros_like(before), before + 1, before + 2])
        yield (corners + first) % count, weights


def _cross(a: Floats, b: Floats) -> Floats:
    product: Floats = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def _angle(a: Floats, b: Floats) -> Floats:
    """From a to b (..., 2), radians in [-pi, pi]."""
    angle: Floats = np.arctan2(_cross(a, b), (a * b).sum(-1))
    return angle


def _enclosing_triangles(points: Floats, places: Floats) -> Indices:
    """(n, 3) corners, on a facet of the convex hull, that each place (n, 3) is seen between.

    Among all triangles that a ray goes through, the hull's facet is where it leaves last: a linear
    programme, solved for all places at once by the simplex method. Each triangle with a point
    beyond its plane takes the farthest such point for a corner.
    """
    inner = INNER * np.concatenate([np.eye(3), -np.eye(3)])
    vertices = np.concatenate([points, inner])
    moved = places + ASIDE * np.array([0.5772156649, 0.9159655941, -0.6931471806])
    corners = len(points) + np.where(moved < 0, [3, 4, 5], [0, 1, 2])
    active, search = np.arange(len(places)), _PlaneSearch(points)
    for _ in range(PIVOTS):
        triangles, which = _distinct(np.sort(corners[active], axis=1))
        entering = search.farthest_beyond(_normals(vertices[triangles]))
        entering = entering[which]
        active, entering = active[entering >= 0], entering[entering >= 0]
        if len(active) == 0:
            break
        bases = vertices[corners[active]].transpose(0, 2, 1)
        both = np.stack([moved[active], vertices[entering]], axis=-1)
        held, change = np.moveaxis(np.linalg.solve(bases, both), -1, 0)
        ratio = np.divide(held, change, out=np.full_like(held, np.inf), where=change > 0)
        corners[active, ratio.argmin(1)] = entering
    if len(active) or corners.max() >= len(points):
        raise ValueError(
            f"Interpolation needs points on all sides of the sphere; these {len(points)} leave "
            "about half of it empty. Use method='nearest' or 'conservative'."
        )
    return corners


def _normals(triangles: Floats) -> Floats:
    """(m, 3) n with n x = 1 on the planes of triangles (m, 3 corners, 3)."""
    normals: Floats = np.linalg.solve(triangles, np.ones((3, 1)))[..., 0].astype(np.float64)
    return normals


def _distinct(rows: Indices) -> tuple[Indices, Indices]:
    """(m, 3) the distinct ones of (n, 3) rows of numbers from 0, and which each is (n,)."""
    size = int(rows.max()) + 1
    _, pairs = np.unique(rows[:, 0] * size + rows[:, 1], return_inverse=True)
    _, first, which = np.unique(pairs * size + rows[:, 2], return_index=True, return_inverse=True)
    return rows[first], which


class _PlaneSearch:
    """Searches points (n, 3) that are beyond planes or on them; those near in colatitude only."""

    def __init__(self, points: Floats, chunk: int = 256) -> None:
        beta = np.arctan2(np.hypot(points[:, 0], points[:, 1]), points[:, 2])
        self.order = np.argsort(beta, kind="stable")
        self.beta, self.points = beta[self.order], points[self.order]
        self.chunk = chunk

    def farthest_beyond(self, normals: Floats) -> Indices:
        """(m,) the point farthest beyond each plane n x = 1, n (m, 3); -1 where there is none."""
        found = np.full(len(normals), -1)
        for part, low, heights, thickness in self._heights(normals):
            best = heights.argmax(1)
            is_beyond = heights[np.arange(len(part)), best] - 1 > thickness
            found[part[is_beyond]] = self.order[low + best[is_beyond]]
        return found

    def on(self, normals: Floats) -> tuple[Indices, Indices]:
        """(k,) plane, ascending, and point of all pairs of a plane n x = 1 and a point on it."""
        planes, points = [], []
        for part, low, heights, thickness in self._heights(normals):
            plane, point = np.nonzero(heights >= 1 - thickness[:, None])
            planes.append(part[plane])
            points.append(self.order[low + point])
        plane, point = np.concatenate(planes), np.concatenate(points)
        order = np.argsort(plane, kind="stable")
        return plane[order], point[order]

    def _heights(self, normals: Floats) -> Iterator[tuple[Indices, int, Floats, Floats]]:
        """Some planes, the first of the sorted points near them, and n x of each plane and point.

        On a plane n x is 1, give or take its thickness, the last of the four.
        """
        steepness = np.linalg.norm(normals, axis=1)
        centre = np.arccos((normals[:, 2] / steepness).clip(-1, 1))
        radius = np.arccos((1 / steepness).clip(-1, 1)) + MARGIN
        sequence = np.argsort(centre)
        for start in range(0, len(normals), self.chunk):
            part = sequence[start : start + self.chunk]
            reach = (centre[part] - radius[part]).min(), (centre[part] + radius[part]).max()
            low, high = np.searchsorted(self.beta, reach)
            if high > low:
                heights = normals[part] @ self.points[low:high].T
                yield part, int(low), heights, ON_FACET * steepness[part]
