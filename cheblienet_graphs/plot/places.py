"""Places of a level's points, seen from one of them: offsets, headings, middles, room around.

On the plane and in space what is around a point is the base itself; on the sphere it is the tangent
plane there, on which every point has its true direction and its true distance.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from cheblienet_graphs.limits import integer
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.maps import within
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec.fibers import samples_of, visible_unit
from cheblienet_graphs.typing import Floats, Indices

MIDDLE_OF_SPHERE = 0.7198, 0.2620, 0.6428
"""The middle of a whole sphere, at colatitude 50, longitude 20 degrees: off the poles, where
orientations turn quickly, off the equator and off the corners of the icosahedron, which are
special."""
ONE_SIDED = 0.2
"""Length of the points' mean above which they cover a part of the sphere only."""
AROUND = 6
"""A place shows no point where all are farther than points are from this many of their neighbors,
the most isolated of them left out."""
ISOLATED = 0.99


@dataclass(frozen=True, eq=False)
class Places:
    """The points of the base, in units of their spacing: pixels, voxels, mean spacings.

    Args:
        points: the sampling.
        spacing: of the points, in units of the base's coordinates: widths, or radians.
        flat: whether the base is.
        unit: in which readers see lengths: that of spacings, or degrees of arc.
        samples: (n_o, f) of the fiber over each point: angles in radians, or axes in space.
    """

    points: Sampling
    spacing: float
    flat: bool
    unit: str = ""
    samples: tuple[tuple[float, ...], ...] = ((),)

    @property
    def full(self) -> Sampling:
        """The sampling with the points outside a mask."""
        return self.points.full

    @property
    def lattice(self) -> Lattice | None:
        """The lattice that they are all or some pixels of; None elsewhere."""
        return self.points.lattice

    @property
    def dimension(self) -> int:
        """Directions of the base."""
        return int(self.points.base_points.shape[1]) if self.flat else 2

    @property
    def directions(self) -> tuple[str, ...]:
        """Names of the directions of offsets; x, y(, z), or east and south on the sphere."""
        return ("x", "y", "z")[: self.dimension] if self.flat else ("east", "south")

    @property
    def visible(self) -> float:
        """A spacing in the visible unit."""
        return 1.0 if self.flat else math.degrees(self.spacing)

    @property
    def of_axes(self) -> bool:
        """True if axes in space are over each point."""
        return len(self.samples[0]) > 1

    @property
    def size(self) -> Floats | None:
        """(d,) sides of a flat domain, in spacings; None on the sphere."""
        extent = self.points.extent
        return None if extent is None else np.array(extent) / self.spacing

    @property
    def sides(self) -> Floats | None:
        """(d,) the sides of a periodic domain, in spacings; None elsewhere."""
        return self.size if self.points.periodic else None

    @cached_property
    def vectors(self) -> Floats:
        """(points, d) positions in spacings; on the sphere vectors of its radius in spacings."""
        return self.points.base_points / self.spacing

    @cached_property
    def radius(self) -> float:
        """The radius of the sphere, in spacings."""
        return 1 / self.spacing

    def middle(self) -> int:
        """The point around which figures are drawn unless it is isolated, see `chosen_vertex`.

        Without a mask the middle of the domain; with one, a point farthest from the outside; on the
        whole sphere 50 degrees from the pole.
        """
        if self.lattice is not None:
            return int(self.points.probes()[0])
        if len(self.outside):
            return int(KDTree(self.outside).query(self.vectors)[0].argmax())
        if self.size is not None:
            middle = self.size / 2
        else:
            mean = self.vectors.mean(axis=0) / self.radius
            toward = mean if np.linalg.norm(mean) > ONE_SIDED else np.array(MIDDLE_OF_SPHERE)
            middle = toward / np.linalg.norm(toward) * self.radius
        return int(np.linalg.norm(self.vectors - middle, axis=1).argmin())

    @cached_property
    def outside(self) -> Floats:
        """(N, d) positions of the points outside the mask."""
        return self.points.outside / self.spacing

    def room(self, point: int) -> float:
        """Distance from a point to where the graph ends, at most half of its domain or sphere."""
        here = self.vectors[point]
        limits = [self.radius * np.pi / 2]
        if self.size is not None:
            limits = [float(self.size.min()) / 2]
            if not self.points.periodic:
                limits.append(float(min(here.min(), (self.size - here).min())))
        if len(self.outside):
            limits.append(float(np.linalg.norm(self.offsets(here, self.outside), axis=1).min()))
        elif self.lattice is None:
            limits.append(self._to_a_void(here, min(limits)))
        return max(0.0, min(limits))

    def _to_a_void(self, here: Floats, furthest: float) -> float:
        """The distance up to which points are all around a place, tested along rings."""
        angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        for distance in np.arange(1.0, furthest):
            if (self.nearest(self.at(here, ring * distance)) < 0).any():
                return float(distance - 1)
        return furthest

    def offsets(self, here: Floats, places: Floats) -> Floats:
        """(N, dimension) places as seen from one, right and down, in spacings.

        On a periodic domain of each place the image that is nearest. On the sphere right is east,
        down is south, and distances from `here` are arcs: the azimuthal equidistant map.
        """
        if self.flat:
            steps = places - here
            if self.sides is not None:
                steps = steps - np.round(steps / self.sides) * self.sides
            return steps
        east, south, up = _frames(here)
        x, y = places @ east, places @ south
        across = np.hypot(x, y)
        arc = np.arctan2(across, places @ up)
        stretch = np.divide(arc * self.radius, across, out=np.ones_like(arc), where=across > 0)
        return np.stack([x * stretch, y * stretch], axis=1)

    def at(self, here: Floats, offsets: Floats) -> Floats:
        """(N, d) the places at offsets from one; the inverse of `offsets`."""
        if self.flat:
            return here + offsets
        arc = np.linalg.norm(offsets, axis=1, keepdims=True) / self.radius
        tangent = offsets @ np.stack(_frames(here)[:2])
        places: Floats = np.sinc(arc / np.pi) * tangent + np.cos(arc) * here
        return places

    def headings(self, point: int, vertices: Indices) -> Floats:
        """(N, dimension) unit vectors forward at vertices, right and down; modulo their sign.

        On the sphere after parallel transport to a point. Of oriented manifolds only.
        """
        places = vertices % self.points.num_points
        samples = np.array(self.samples)
        samples = samples[vertices // self.points.num_points]
        if self.of_axes:
            return samples
        turn = np.concatenate([np.cos(samples), np.sin(samples)], axis=1)
        if self.flat:
            return turn
        here, there = self.vectors[point] / self.radius, self.vectors[places] / self.radius
        east, south, _ = _frames(there)
        forward = turn[:, :1] * south + turn[:, 1:] * east
        across = (forward @ here) / np.maximum(1 + there @ here, 1e-12)  # 0 at the antipode
        moved = forward - across[:, None] * (here + there)
        seen: Floats = moved @ np.stack(_frames(here)[:2]).T
        return seen

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._wrapped(self.full.base_points / self.spacing), boxsize=self.sides)

    @cached_property
    def _reach(self) -> float:
        """Distance beyond which a place shows no point; infinite with a mask."""
        if self.points.places is not None:
            return np.inf
        count = min(AROUND + 1, self.points.num_points)
        distance, _ = self._tree.query(self._tree.data, k=[count])
        return float(np.quantile(distance, ISOLATED))

    def nearest(self, places: Floats) -> Indices:
        """(N,) the point nearest to each place; -1 outside the domain or mask, or far from all."""
        if self.lattice is not None:
            shape = np.array(self.lattice.shape)
            pixels = np.round(places[:, ::-1] / self.lattice.sides).astype(np.int64)
            far = (pixels % shape != pixels).any(axis=1) & (not self.lattice.periodic)
            numbers = self.lattice.encode(np.zeros_like(pixels[:, 0]), (pixels % shape).T)
        else:
            distance, numbers = self._tree.query(self._wrapped(places))
            far = distance > self._reach
            if self.size is not None and self.sides is None:
                far |= ((places < 0) | (places > self.size)).any(axis=1)
        return np.where(far, -1, self.points.numbers_inside(numbers))

    def _wrapped(self, places: Floats) -> Floats:
        return places if self.sides is None else within(places, tuple(self.sides))


def places_of(graph: OpenedGraph, level: int) -> Places:
    """The points of a level."""
    spec = graph.spec
    points = graph.level(level).sampling
    spacing = math.sqrt(spec.squared_spacing(level))
    if spec.coordinates is not None:  # which may cover a part of the domain
        spacing = typical_spacing(points.base_points)
    return Places(points, spacing, spec.geometry.base.flat, visible_unit(spec), samples_of(spec))


def chosen_vertex(graph: OpenedGraph, level: int, vertex: int | None) -> int:
    """The vertex asked for; by default the same in all figures, of the middle orientation.

    It is over `Places.middle`, which has room around it, and on the whole sphere is like most
    points: the equator's beginning is special there, and the mean of given points may be at an end.
    Where that one has no neighbor, it is the first of the vertices with the most.

    Raises:
        SpecError: the level or the vertex is out of range.
    """
    arrays = graph.level(level)
    if vertex is not None:
        return integer("vertex", vertex, 0, arrays.of_level.vertices - 1)
    places = places_of(graph, level)
    points = places.points
    middle = points.orientations // 2 * points.num_points + places.middle()
    entries = np.diff(arrays.laplacian.indptr)
    return middle if entries[middle] > 1 else int(entries.argmax())


def typical_spacing(positions: Floats) -> float:
    """The side of the square that a point has for itself, from distances to its neighbors.

    Args:
        positions: (N, d) of points of a plane or a sphere.
    """
    count = min(AROUND, len(positions) - 1)
    distance, _ = KDTree(positions).query(positions, k=[count + 1])
    alone = math.gamma(count + 0.5) / math.gamma(count) / math.sqrt(math.pi)
    return float(np.median(distance)) / alone


def _frames(places: Floats) -> tuple[Floats, Floats, Floats]:
    """(..., 3) unit vectors east, south and up at places (..., 3); at poles as along gamma = 0."""
    up = places / np.linalg.norm(places, axis=-1, keepdims=True)
    x, y = up[..., 0], up[..., 1]
    gamma = np.where(np.hypot(x, y) > 1e-12, np.arctan2(y, x), 0.0)
    east = np.stack([-np.sin(gamma), np.cos(gamma), np.zeros_like(gamma)], axis=-1)
    return east, np.cross(east, up), up
