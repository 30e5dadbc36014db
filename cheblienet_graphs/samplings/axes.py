"""Axes in space: unit vectors of which n and -n are the same, spread over the projective plane.

The sets by number are orbits of the rotations of the cube, so that all 24 map a set to itself; the
others are the vertices of icospheres, which 12 of them do. HEALPix is left out: its axes are not
isotropic, sum a (n n^T - I/3) is not 0.
"""

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cheblienet_graphs.manifolds.base import AXES, Fiber
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.voronoi import cell_areas
from cheblienet_graphs.typing import Floats, Indices

DECIMALS = 12
"""Areas are rounded to so many, as their last digits differ between machines."""
Vector = tuple[float, float, float]
SAME = 1e-9
"""Largest distance at which a rotated axis counts as one of the set."""


@dataclass(frozen=True, kw_only=True)
class Axes(Fiber):
    """A set of axes; sets of the same name are the same.

    Args:
        name: of the set.
        points: (n_o, 3) unit vectors, float64; the last coordinate that is not 0 is positive.
    """

    columns: tuple[str, ...] = AXES.columns
    name: str
    points: Floats = field(compare=False)

    def shares(self, _count: int) -> tuple[float, ...]:
        """The areas."""
        return tuple(self.areas.tolist())

    def samples(self, _count: int) -> list[tuple[float, ...]]:
        """The unit vectors."""
        return [tuple(point) for point in self.points.tolist()]

    def spectrum(self, count: int) -> list[float]:
        """The eigenvalue l (l + 1) of each even degree l, 2 l + 1 times."""
        degrees = itertools.takewhile(lambda d: d * (d - 1) // 2 < count, itertools.count(0, 2))
        return [float(d * (d + 1)) for d in degrees for _ in range(2 * d + 1)][:count]

    def __len__(self) -> int:
        return len(self.points)

    @functools.cached_property
    def angles(self) -> Floats:
        """(n_o, n_o) angles between axes, radians in [0, pi/2]."""
        return angles_between(self.points, self.points)

    @functools.cached_property
    def rotations(self) -> list[tuple[Indices, Indices]]:
        """Matrices (3, 3) of the rotations of the cube that map the set to itself; (n_o,) images.

        The reflections of the cube, minus such a matrix, have the same images.
        """
        from scipy.spatial.transform import Rotation  # slow to import, most builds do without

        cube = Rotation.create_group("O").as_matrix().round().astype(np.int64)
        images = [(matrix, image_of(self.points, matrix)) for matrix in cube]
        return [(matrix, image) for matrix, image in images if image is not None]

    @functools.cached_property
    def areas(self) -> Floats:
        """(n_o,) areas of the Voronoi cells on the projective plane, in units of their mean.

        They are the same on each orbit of the rotations.
        """
        cells = cell_areas(np.concatenate([self.points, -self.points]))[: len(self)]
        mean = cells[np.stack([image for _, image in self.rotations])].mean(axis=0)
        areas: Floats = (mean / mean.mean()).round(DECIMALS)
        areas.setflags(write=False)
        return areas


def angles_between(some: Floats, others: Floats) -> Floats:
    """(N, M) angles between axes (N, 3) and (M, 3), radians in [0, pi/2], as accurate for small."""
    cross = np.linalg.norm(np.cross(some[:, None], others), axis=2)
    dots = (some[:, None] * others).sum(axis=2)
    angles: Floats = np.arctan2(cross, abs(dots))
    return angles


@functools.cache
def axis_set(name: str) -> Axes:
    """The set of a name; its arrays are read-only.

    Args:
        name: one of `AXIS_SETS`.

    Raises:
        KeyError: there is no such set.
    """
    points = AXIS_SETS[name]()
    points.setflags(write=False)
    return Axes(name=name, points=points)


def _orbit(*vector: float) -> Floats:
    """The images of a vector under the rotations of the cube, one of each pair n, -n."""
    length = np.sqrt(sum(sorted(part * part for part in vector)))
    images = {
        tuple(sign * part for sign, part in zip(signs, order, strict=True))
        for order in itertools.permutations(part / length for part in vector)
        for signs in itertools.product((1.0, -1.0), repeat=3)
    }
    return _one_of_each(np.array(sorted(images, reverse=True)))


def _one_of_each(points: Floats) -> Floats:
    """One point of each antipodal pair: the one with a positive last nonzero coordinate."""
    nonzero = points != 0
    last = 2 - nonzero[:, ::-1].argmax(axis=1)
    kept = points[np.take_along_axis(points, last[:, None], axis=1)[:, 0] > 0]
    return kept + 0.0  # no -0.0


def _third(squared: float) -> Vector:
    """(h, h, k), a unit vector, h^2 given."""
    return np.sqrt(squared), np.sqrt(squared), np.sqrt(1 - 2 * squared)


def _orbits(*vectors: Vector) -> Callable[[], Floats]:
    return lambda: np.concatenate([_orbit(*vector) for vector in vectors])


def _icosphere(subdivisions: int) -> Callable[[], Floats]:
    return lambda: _one_of_each(Icosphere(size=subdivisions).base_points)


def image_of(points: Floats, matrix: Floats | Indices) -> Indices | None:
    """(n_o,) the axis of (n_o, 3) that each is mapped to by an orthogonal matrix (3, 3).

    None where some are mapped between the axes.
    """
    moved = points @ matrix.T
    image: Indices = abs(moved @ points.T).argmax(axis=1)
    ends = points[image]
    ends = np.where((ends * moved).sum(axis=1, keepdims=True) < 0, -ends, ends)
    return image if abs(ends - moved).max() <= SAME else None


FACES, CORNERS, EDGES = (1.0, 0.0, 0.0), (1.0, 1.0, 1.0), (1.0, 1.0, 0.0)
# Equal weights on 12 and on 22 axes integrate polynomials up to degree 5 exactly: the mean of
# x^4 + y^4 + z^4 is 3/5, a quadratic equation for h^2.
# 43 are of the 86 points of Lebedev's rule of degree 15 one of each pair; l and p as published in
# "Values of the nodes and weights of ninth to seventeenth order Gauss-Markov quadrature formulae
# invariant under the octahedron group with inversion", USSR Comput. Math. Math. Phys. 15 (1975).
LEBEDEV = (
    *(_third(0.3696028464541502**2), _third(0.6943540066026664**2)),
    (0.3742430390903412, np.sqrt(1 - 0.3742430390903412**2), 0.0),
)
AXIS_SETS: dict[str, Callable[[], Floats]] = {
    "3": _orbits(FACES),
    "4": _orbits(CORNERS),
    "6": _orbits(EDGES),
    "7": _orbits(FACES, CORNERS),
    "12": _orbits(_third((4 - np.sqrt(6.4)) / 12)),
    "13": _orbits(FACES, CORNERS, EDGES),
    "22": _orbits(CORNERS, EDGES, _third((4 - np.sqrt(146 / 15)) / 12)),
    "43": _orbits(FACES, CORNERS, *LEBEDEV),
    "ico6": _icosphere(0),
    "ico21": _icosphere(1),
    "ico81": _icosphere(2),
}
"""The points of each set, by its name."""
