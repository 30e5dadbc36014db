"""Matrices of resampling, from the points of a sphere and a grid to sparse entries.

"bilinear" to a grid interpolates on the facet of the points' convex hull that a place is seen
through. Points of a lattice on the sphere have facets of more than three corners: rectangles on
equiangular grids and HEALPix, a polygon around each pole. Cut into triangles along one diagonal
they would lose their symmetries; here the weights are the mean over the fans of triangles from each
corner, for a rectangle over both diagonals.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.samplings.maps import nearest
from cheblienet_graphs.samplings.points import Points, unit_vectors
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_models.resampling.grids import Pixels, grid_of
from cheblienet_models.resampling.overlaps import shared_areas, summed
from cheblienet_models.resampling.points import sampling_of
from cheblienet_models.tensors import CsrParts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Method = Literal["bilinear", "conservative", "nearest"]
Direction = Literal["to points", "to grid"]

KEPT = 16
"""Number of pairs of matrices that a process keeps."""
Complexes = npt.NDArray[np.complex128]

ROUNDING = 1e-12
"""Parts of a target that are nothing but rounding."""
GENERIC = np.array([0.5772156649, 0.9159655941, -0.6931471806])
"""A direction along which no two planes' normals are equally far."""
INNER = 0.01
"""Distance from the center of six points that make a hull of any others enclose it."""
FULL_TURN = 8.0
"""An angle in radians, larger than a full turn: multiples of it keep polygons' angles apart."""


@lru_cache(maxsize=KEPT)
def matrices(
    direction: Direction, method: Method, stored: LevelFolder, latitudes: bytes, longitudes: bytes
) -> tuple[CsrParts, CsrParts]:
    """The matrix and its transpose, from float64 (lat,) and (lon,); cached.

    Rows of targets without any source are empty: points that the grid does not reach, pixels with
    their center, or with "conservative" their whole area, in cells of points that are not
    inside.
    """
    lat, lon = np.frombuffer(latitudes), np.frombuffer(longitudes)
    descending = lat[0] > lat[-1]
    grid, columns = grid_of(lat[::-1] if descending else lat, lon)
    build = {"bilinear": _bilinear, "conservative": _conservative, "nearest": _nearest}[method]
    matrix = build(direction, grid, sampling_of(stored))
    matrix.data[matrix.data <= ROUNDING] = 0
    matrix.eliminate_zeros()
    pixels = np.arange(grid.count).reshape(-1, grid.columns)[:: -1 if descending else 1]
    place = pixels[:, columns].ravel().argsort()
    matrix = matrix[:, place] if direction == "to points" else matrix[place]
    return _parts(matrix), _parts(matrix.T.tocsr())


def _parts(matrix: Any) -> CsrParts:
    """The matrix in float32, columns ascending."""
    matrix.sort_indices()
    pointers, columns = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return CsrParts.of(Csr(matrix.shape, pointers, columns, matrix.data.astype(np.float32)))


def _averages(matrix: "csr_array") -> "csr_array":
    """The matrix with rows divided by their sums; without rows of sums that are not positive."""
    sums = matrix.sum(axis=1)
    each = np.repeat(sums, np.diff(matrix.indptr))
    matrix.data = np.divide(matrix.data, each, out=np.zeros_like(each), where=each > 0)
    return matrix


def _bilinear(direction: Direction, grid: Pixels, points: Sampling) -> "csr_array":
    if direction == "to points":
        return _bilinear_to_points(grid, *_angles(points))
    pixels = _pixels(grid)
    shape, every = (grid.count, points.num_points), points.full.base_points
    if len(every) == points.num_points:
        return summed(shape, *facet_weights(every, pixels))
    from_nearest = _nearest(direction, grid, points)
    in_domain = np.flatnonzero(np.diff(from_nearest.indptr))
    if len(in_domain) == 0:
        return from_nearest
    place, point, weight = facet_weights(every, pixels[in_domain])
    number = points.numbers_inside(point)
    kept = (number >= 0) & (weight > ROUNDING)
    matrix = summed(shape, in_domain[place[kept]], number[kept], weight[kept])
    # The nearest point of all need not be a corner of the facet.
    has_none = np.repeat(np.diff(matrix.indptr) == 0, np.diff(from_nearest.indptr))
    from_nearest.data *= has_none
    return _averages((matrix + from_nearest).tocsr())


def _angles(points: Sampling) -> Floats:
    """(2, m) colatitudes and longitudes, radians."""
    return points.base_coordinates(np.arange(points.num_points)).T


def _pixels(grid: Pixels) -> Floats:
    """(pixels, 3) their centers as vectors, row by row."""
    beta = np.radians(90 - grid.latitudes)
    gamma = np.radians(grid.longitudes)
    return unit_vectors(np.repeat(beta, len(gamma)), np.tile(gamma, len(beta)))


def _bilinear_to_points(grid: Pixels, beta: Floats, gamma: Floats) -> "csr_array":
    """The bilinear matrix to points; a pole beyond the last row has that row's mean."""
    reached = np.flatnonzero(grid.reaches(beta, gamma))
    known, latitude = grid.latitudes, 90 - np.degrees(beta[reached])
    below = grid.poles[0] and bool(known[0] > -90)
    above = grid.poles[1] and bool(known[-1] < 90)
    first = -int(below)
    rows = np.concatenate([[-90.0] * below, known, [90.0] * above])
    south, north_share = _between(rows, latitude)
    left, right_share = _columns(grid, gamma[reached])
    found: list[tuple[Indices, Indices, Floats]] = []
    for row, share in ((south + first, 1 - north_share), (south + 1 + first, north_share)):
        inside = np.flatnonzero((row >= 0) & (row < len(known)))
        start = row[inside] * grid.columns
        for column, part in ((left, 1 - right_share), (left + 1, right_share)):
            pixel = start + column[inside] % grid.columns
            found.append((reached[inside], pixel, (share * part)[inside]))
        beyond = np.flatnonzero((row < 0) | (row >= len(known)))
        circle = np.arange(grid.columns)
        pixel = row[beyond, None].clip(0, len(known) - 1) * grid.columns + circle
        mean = np.repeat(share[beyond] / grid.columns, grid.columns)
        found.append((np.repeat(reached[beyond], grid.columns), pixel.ravel(), mean))
    joined = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return summed((len(beta), grid.count), *joined)


def _columns(grid: Pixels, gamma: Floats) -> tuple[Indices, Floats]:
    """(n,) the longitude west of each point, modulo their number, and the eastern one's share."""
    known = grid.longitudes
    if not grid.is_around:
        return _between(known, grid.unrolled(gamma))
    left, share = _between(
        np.concatenate([[known[-1] - 360], known, [known[0] + 360]]), grid.unrolled(gamma)
    )
    return left - 1, share


def _between(known: Floats, places: Floats) -> tuple[Indices, Floats]:
    """(n,) which of the ascending numbers lies before each place, and the share of the next one.

    Beyond the first and the last these are continued.
    """
    before = (np.searchsorted(known, places, side="right") - 1).clip(0, len(known) - 2)
    share = (places - known[before]) / (known[before + 1] - known[before])
    return before, share.clip(0, 1)


def _nearest(direction: Direction, grid: Pixels, points: Sampling) -> "csr_array":
    if direction == "to points":
        beta, gamma = _angles(points)
        point = np.flatnonzero(grid.reaches(beta, gamma))
        pixel = grid.containing(beta[point], gamma[point])
        return summed((points.num_points, grid.count), point, pixel, np.ones(len(point)))
    number = points.numbers_inside(nearest(points.full.base_points, _pixels(grid)))
    pixel = np.flatnonzero(number >= 0)
    return summed((grid.count, points.num_points), pixel, number[pixel], np.ones(len(pixel)))


def _conservative(direction: Direction, grid: Pixels, points: Sampling) -> "csr_array":
    """Areas that pixels and cells share, over the targets' areas."""
    places = np.arange(points.num_points) if points.places is None else points.places
    sides = cast("Points", points.full).sides(places)
    overlap = shared_areas(sides, grid, points.num_points)
    return _averages(overlap if direction == "to points" else overlap.T.tocsr())


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
    return across + 1j * np.cross(unit, across)


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
