"""Interpolation on the facets of a convex hull: the one a place is seen through, and its weights.

Points of a lattice on the sphere have facets of more than three corners: rectangles on equiangular
grids and HEALPix, a polygon around each pole. Cut into triangles along one diagonal they would lose
their symmetries; here the weights are the mean over the fans of triangles from each corner, for a
rectangle over both diagonals.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cheblienet_models.resampling.grids import Floats, Indices

Complexes = npt.NDArray[np.complex128]

GENERIC = np.array([0.5772156649, 0.9159655941, -0.6931471806])
"""A direction along which no two planes' normals are equally far."""
INNER = 0.01
"""Distance from the center of six points that make a hull of any others enclose it."""
FULL_TURN = 8.0
"""More than the angles, radians, that are told apart by multiples of it."""


def facet_weights(points: Floats, places: Floats) -> tuple[Indices, Indices, Floats]:
    """(nnz,) place, point and weight of linear interpolation between points (m, 3) on the sphere.

    A place (n, 3) is seen through a facet of the points' convex hull. Its weights w >= 0, of sum 1,
    are such that sum_i w_i p_i is on its ray. Entries of the same place and point are to be added.

    Raises:
        ValueError: the points leave half of the sphere empty.
    """
    planes, facet, corner, which = _seen_facets(points, places)
    sides, first = np.bincount(facet), np.searchsorted(facet, np.arange(len(planes)))
    found: list[tuple[Indices, Indices, Floats]] = []
    for count in np.unique(sides[which]):
        chosen = np.flatnonzero(sides == count)
        inside = np.flatnonzero(sides[which] == count)
        polygon = np.searchsorted(chosen, which[inside])
        members = corner[first[chosen, None] + np.arange(count)]
        # Where the rays to the places meet the planes.
        height = (planes[which[inside]] * places[inside]).sum(1)
        axes = _plane_axes(planes[chosen])
        met = (axes[polygon] * places[inside]).sum(1) / height
        flat = np.einsum("pk,pck->pc", axes, points[members])
        order = np.angle(flat - flat.mean(1, keepdims=True)).argsort(1)
        flat, members = (np.take_along_axis(part, order, axis=1) for part in (flat, members))
        for corners, weights in _fans(flat, polygon, met):
            named = members[polygon[:, None], corners]
            found.append((np.repeat(inside, 3), named.ravel(), weights.ravel()))
    place, point, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return place, point, weight


def _seen_facets(points: Floats, places: Floats) -> tuple[Floats, Indices, Indices, Indices]:
    """The facets of the hull, which may be polygons, and the one that each place is seen through.

    Returns:
        (f, 3) n with n x = 1 on each facet's plane, (k,) facet, ascending, and corner of all pairs,
        (n,) facet of each place.
    """
    from scipy.spatial import ConvexHull, KDTree  # networks and graphs do without scipy

    inner = INNER * np.concatenate([np.eye(3), -np.eye(3)])
    hull = ConvexHull(np.concatenate([points, inner]))
    planes = hull.equations[:, :3] / -hull.equations[:, 3:]
    # Triangles of one polygon have the same plane to the last bit.
    _, first, facet = np.unique((planes * GENERIC).sum(1), return_index=True, return_inverse=True)
    planes = planes[first]
    # A ray leaves the hull where n x is largest: by |x - n|^2 + (largest |n|^2 - |n|^2), least.
    size = (planes**2).sum(1)
    lifted = np.column_stack([planes, np.sqrt(size.max() - size)])
    which = KDTree(lifted).query(np.column_stack([places, np.zeros(len(places))]))[1]
    pairs = np.unique(np.repeat(facet, 3) * len(hull.points) + hull.simplices.ravel())
    facet, corner = np.divmod(pairs, len(hull.points))
    if np.isin(which, facet[corner >= len(points)]).any():
        raise ValueError(
            f"Interpolation needs points on all sides of the sphere; these {len(points)} leave "
            "about half of it empty. Use method='nearest' or 'conservative'."
        )
    return planes, facet, corner, which.astype(np.int64)


def _plane_axes(normals: Floats) -> Complexes:
    """(m, 3) right-handed pairs of unit vectors across normals (m, 3), the second one imaginary."""
    unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    across = np.cross(unit, np.eye(3)[np.abs(unit).argmin(1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    axes: Complexes = across + 1j * np.cross(unit, across)
    return axes


def _fans(
    polygons: Complexes, which: Indices, places: Complexes
) -> Iterator[tuple[Indices, Floats]]:
    """(k, 3) corners and weights of places (k,) in polygons (m, n), counterclockwise; n times.

    Each time the polygons are cut along the diagonals from another corner. The n weights of a place
    add up to 1. A triangle is cut in one way only, so once.
    """
    count = polygons.shape[1]
    cuts = 1 if count == 3 else count
    offsets = FULL_TURN * np.arange(len(polygons))
    for first in range(cuts):
        rolled = np.roll(polygons, -first, axis=1)
        rays, seen = rolled[:, 1:] - rolled[:, :1], places - rolled[which, 0]
        angles = np.angle(rays[:, :1].conj() * rays) + offsets[:, None]
        sought = np.angle(rays[which, 0].conj() * seen) + offsets[which]
        before = np.searchsorted(angles.ravel(), sought, side="right") - 1 - which * (count - 1)
        before = before.clip(0, count - 3)
        left, right = rays[which, before], rays[which, before + 1]
        shares = np.stack([seen.conj() * right, left.conj() * seen], axis=1).imag
        shares /= (left.conj() * right).imag[:, None]
        weights = np.column_stack([1 - shares.sum(1), shares]).clip(0)
        weights /= weights.sum(1, keepdims=True) * cuts
        corners = np.column_stack([np.zeros_like(before), before + 1, before + 2])
        yield (corners + first) % count, weights
