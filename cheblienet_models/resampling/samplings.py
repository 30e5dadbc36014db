"""The points that a level has, and about them those that its mask left out."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.healpix import FIRST_COLUMN, FIRST_RING, faces, nside_of, places
from cheblienet_models.resampling.grids import Flags, Floats, Indices


def unit_vectors(beta: Floats, gamma: Floats) -> Floats:
    """(..., 3) of colatitudes and longitudes, radians, broadcast."""
    beta, gamma = np.broadcast_arrays(beta, gamma)
    sine = np.sin(beta)
    return np.stack([sine * np.cos(gamma), sine * np.sin(gamma), np.cos(beta)], axis=-1)


def nearest(points: Floats, places: Floats) -> Indices:
    """(m,) which of the points (n, 3) is nearest to each place (m, 3)."""
    from scipy.spatial import KDTree  # networks and graphs do without scipy

    nearest: Indices = KDTree(points).query(places)[1].astype(np.int64)
    return nearest


GAP = 1.5
"""Where the full sampling is not known, a place is in the void if it is farther from its nearest
point than this, in roots of that point's area."""


@dataclass(frozen=True)
class Sampling:
    """Points on the sphere, some of which are inside: comparable, so that matrices can be kept.

    Args:
        points: (n, 2) float64 colatitudes and longitudes, radians, as bytes.
        inside: (m,) int64 which of them a level has, in its own order, as bytes.
        kind: "healpix", "equiangular" or "gaussian" where the points are all of such a sampling, in
            its order; else their cells are Voronoi's.
        shape: of the sampling's base.
    """

    points: bytes
    inside: bytes
    kind: str | None = None
    shape: tuple[int, ...] = ()

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(n,) colatitudes and longitudes of all points."""
        beta, gamma = np.frombuffer(self.points).reshape(-1, 2).T
        return beta, gamma

    @cached_property
    def inside_angles(self) -> tuple[Floats, Floats]:
        """(m,) colatitudes and longitudes of those inside."""
        return self.angles[0][self.places], self.angles[1][self.places]

    @cached_property
    def number(self) -> Indices:
        """(n,) which of those inside each point is; -1 where it is none."""
        number = np.full(len(self.angles[0]), -1)
        number[self.places] = np.arange(self.count)
        return number

    @property
    def places(self) -> Indices:
        """(m,) which of all points those inside are."""
        return np.frombuffer(self.inside, dtype=np.int64)

    @property
    def count(self) -> int:
        """Points inside."""
        return len(self.places)

    @property
    def is_whole(self) -> bool:
        """Whether all points are inside."""
        return self.count == len(self.angles[0])


def sampling_of(graph: Graph) -> Sampling:
    """The points of a level on the sphere; with a mask, completed.

    The missing points of icospheres, HEALPix, equiangular and Gaussian grids are computed. Others
    are not known: there rings of points fill what is farther from every point inside than 1.5 roots
    of the nearest one's area.
    """
    own = graph.coordinates[: graph.num_points, -2:].cpu().numpy().astype(np.float64)
    index = np.arange(len(own)) if graph.base_index is None else graph.base_index.cpu().numpy()
    shape = graph.grid[1:]
    has_rule = graph.sampling in {"healpix", "equiangular", "gaussian"}
    if graph.base_index is None and not has_rule:
        return _sampling(own, index)
    known = full_sampling(graph.sampling, shape)
    if known is not None and _far(known[index], own) < 1e-9:
        points = own if graph.base_index is None else known
        return _sampling(points, index, graph.sampling if has_rule else None, shape)
    if graph.base_index is None:
        return _sampling(own, index)
    areas = graph.area[: graph.num_points].cpu().double().numpy()
    areas = areas * (4 * np.pi / np.prod(shape))
    return _sampling(np.concatenate([own, _void(own, areas)]), np.arange(len(own)))


def _sampling(
    points: Floats, inside: Indices, kind: str | None = None, shape: tuple[int, ...] = ()
) -> Sampling:
    whole = np.ascontiguousarray(points).tobytes()
    return Sampling(whole, inside.astype(np.int64).tobytes(), kind, shape)


def _far(a: Floats, b: Floats) -> float:
    """The largest distance between points (n, 2), angles in radians."""
    return float(abs(unit_vectors(*a.T) - unit_vectors(*b.T)).max())


def _void(points: Floats, areas: Floats) -> Floats:
    """(k, 2) angles of rings of points, as dense as those inside (n, 2), where these are far.

    Args:
        points: (n, 2) angles, radians.
        areas: (n,) of their cells, steradians.
    """
    spacing = float(np.sqrt(areas.mean()))
    circles = max(2, round(np.pi / spacing))
    colatitudes = (np.arange(circles) + 0.5) * np.pi / circles
    counts = np.maximum(3, np.rint(2 * np.pi * np.sin(colatitudes) / spacing).astype(np.int64))
    rings = _rings(colatitudes, counts)
    inside, places = unit_vectors(*points.T), unit_vectors(*rings.T)
    near = nearest(inside, places)
    distance = np.arccos((places * inside[near]).sum(1).clip(-1, 1))
    is_far: Flags = distance > GAP * np.sqrt(areas[near])
    return rings[is_far]


def full_sampling(name: str | None, shape: tuple[int, ...]) -> Floats | None:
    """(points, 2) colatitudes and longitudes, radians; None of those that do not follow.

    Args:
        name: of the sampling, as specifications have it.
        shape: of its base.
    """
    if name == "healpix" and len(shape) == 1 and nside_of(shape[0]) is not None:
        return _healpix(shape[0])
    if (rows := rows_of(name, shape)) is not None:
        return _rings(rows.colatitudes, rows.counts, rows.shift)
    if name == "icosahedral" and len(shape) == 1:
        size = _subdivisions(shape[0])
        return None if size is None else _icosphere(size)
    return None


def _icosphere(subdivisions: int) -> Floats:
    from cheblienet_graphs.samplings.icosphere import Icosphere  # networks do without it

    return np.column_stack(Icosphere(size=subdivisions).angles)


def _healpix(points: int) -> Floats:
    """Centers of 12 nside^2 pixels in nested order (Gorski et al. 2005, eqs. 4, 5, 8, 9)."""
    nside = math.isqrt(points // 12)
    face, x, y = faces(nside, np.arange(points))
    ring = FIRST_RING[face] * nside - x - y - 1
    from_pole = np.minimum(ring, 4 * nside - ring)
    gamma, depth = places(nside, FIRST_COLUMN[face], x - y, from_pole)
    return np.column_stack([np.arccos(np.sign(2 * nside - ring) * (1 - depth)), gamma])


@dataclass(frozen=True)
class Rows:
    """A sampling in circles of latitude, as many in the north as in the south, from the north.

    Args:
        colatitudes: (rows,) radians.
        counts: (rows,) points of each.
        shift: of the first points from longitude 0, in steps between two.
        depths: (rows / 2 + 1,) 1 - |z| of the limits of the rows' cells, from a pole to the
            equator.
    """

    colatitudes: Floats
    counts: Indices
    shift: float
    depths: Floats


def rows_of(name: str | None, shape: tuple[int, ...]) -> Rows | None:
    """Rows of an equiangular or a Gaussian grid; None of others.

    Equiangular ones are halves of steps from the poles and from longitude 0, with limits halfway.
    Gaussian ones have Gauss-Legendre latitudes, and are as high as the weights of that quadrature.
    """
    if name == "equiangular" and len(shape) == 2:
        colatitudes = (np.arange(shape[0]) + 0.5) * (np.pi / shape[0])
        limits = np.linspace(0, np.pi / 2, shape[0] // 2 + 1)
        depths: Floats = 2 * np.sin(limits / 2) ** 2
        return Rows(colatitudes.astype(np.float64), np.full(*shape), 0.5, depths)
    counts = _gaussian_counts(shape) if name == "gaussian" else None
    if counts is None:
        return None
    from scipy.special import roots_legendre  # networks and graphs do without scipy

    places, weights = roots_legendre(len(counts))
    heights = weights[: len(counts) // 2]
    depths = np.append(0, np.cumsum(heights) / heights.sum())
    return Rows(np.arccos(-places), np.array(counts), 0.0, depths)


def _gaussian_counts(shape: tuple[int, ...]) -> list[int] | None:
    """Points of each latitude, north to south; None where no Gaussian grid has such a base.

    Of a regular grid of 2 N latitudes each has 4 N; of an octahedral one, which has 4 N (N + 9) in
    all, the j-th from a pole has 4 j + 16.
    """
    if len(shape) == 2:
        rows, columns = shape
        return [columns] * rows if rows % 2 == 0 and columns == 2 * rows > 0 else None
    number = (math.isqrt(81 + shape[0]) - 9) // 2
    if number < 1 or 4 * number * (number + 9) != shape[0]:
        return None
    half = [4 * j + 16 for j in range(1, number + 1)]
    return half + half[::-1]


def _rings(beta: Floats, counts: Indices, shift: float = 0) -> Floats:
    """(points, 2) of circles at colatitudes, so many on each, the first `shift` steps east."""
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    gamma = (place + shift) * np.repeat(2 * np.pi / counts, counts)
    return np.column_stack([np.repeat(beta, counts), gamma])


def _subdivisions(points: int) -> int | None:
    """L of an icosphere of 10 * 4^L + 2 points; None where there is none."""
    if points < 12 or (points - 2) % 10:
        return None
    level = ((points - 2) // 10).bit_length() // 2
    return level if 10 * 4**level + 2 == points else None
