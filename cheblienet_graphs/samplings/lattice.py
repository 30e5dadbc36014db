"""The regular lattice in a box, with a fiber of orientations over each pixel or voxel."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import SIDE, numbers
from cheblienet_graphs.manifolds.base import NO_FIBER, Base, Fiber
from cheblienet_graphs.samplings.axes import image_of
from cheblienet_graphs.samplings.maps import Parents
from cheblienet_graphs.samplings.sampling import SamplingKind, Size
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.spec import GraphSpec

Places: TypeAlias = tuple[Indices, ...]
"""Indices along each axis, in the order of the shape."""


LETTERS = "zyx"
"""Names of the axes of three-dimensional lattices, in the order of their shape."""


def motions(shape: tuple[int, ...], spacings: tuple[float, ...]) -> Iterator[tuple[str, Indices]]:
    """Generators of the group of rotations and reflections of a box.

    Args:
        shape: (height, width) or (depth, height, width).
        spacings: of the pixels along each axis; empty where all are equal.

    Returns:
        Names and signed permutations (d, d) of the axes, in the order of the shape.
    """
    sides = list(zip(shape, spacings or [1.0] * len(shape), strict=True))
    if len(shape) == 2:
        if sides[0] == sides[1]:
            yield "rotation_90", np.array([[0, 1], [-1, 0]])
        yield "rotation_180", np.diag([-1, -1])
        yield "flip", np.diag([-1, 1])
        return
    for first, second in ((2, 1), (0, 2), (1, 0)):  # x to y, z to x, y to z
        if sides[first] == sides[second]:
            turn = np.eye(3, dtype=np.int64)
            turn[[first, second]] = -turn[second], turn[first]
            yield f"rotation_90_{LETTERS[3 - first - second]}", turn
    if sides[0] == sides[1] == sides[2]:
        yield "rotation_120", np.eye(3, dtype=np.int64)[[2, 0, 1]]
    for name, own in (("rotation_180", 1), ("reflection", -1)):
        for axis in (2, 1, 0):
            yield f"{name}_{LETTERS[axis]}", np.diag(np.where(np.arange(3) == axis, own, -own))


def nearest_image(offset: Indices, period: int | Indices) -> Indices:
    """The representative of `offset` modulo `period` in [-(period // 2), (period - 1) // 2]."""
    return (offset + period // 2) % period - period // 2


@dataclass(frozen=True)
class Lattice(SamplingKind):
    """Pixels or voxels of a box with a side of 1 along x, times orientations.

    Vertices are ordered orientation-major, then as signals are laid out: index
    (k height + y) width + x, or ((k depth + z) height + y) width + x; so a signal (..., V) reshapes
    to (..., n_o, *shape).

    Args:
        shape: (height, width) or (depth, height, width).
        orientations: number of samples along the fiber, n_o; 1 where there is none.
        fiber: over each pixel.
        periodic: whether opposite sides are glued.
        spacings: of the pixels along each axis, in the order of the shape and in units of the
            spacing along x; empty for pixels with equal sides.
    """

    shape: tuple[int, ...]
    orientations: int = 1
    fiber: Fiber = NO_FIBER
    periodic: bool = False
    spacings: tuple[float, ...] = ()

    name = "lattice"
    field = "size"
    regular = True

    @classmethod
    def parse(cls, size: object, base: Base) -> Size:
        """Take N, "WxH" or (W, H), in space N, "WxHxD" or (W, H, D)."""
        form, sides, shape = {
            2: ("WxH", "width and height", "(B, C, H, W)"),
            3: ("WxHxD", "width, height and depth", "(B, C, D, H, W)"),
        }[base.dimension]
        accepted = f"N or {form}, {sides} in {SIDE} ({form} is for image tensors {shape})"
        given = size.lower().split("x") if isinstance(size, str) else size
        several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, bytes)
        lengths = numbers(given if several else [given])
        if len(lengths) == 1:
            lengths *= base.dimension
        inside = all(n.is_integer() and SIDE.low <= n <= SIDE.high for n in lengths)
        if len(lengths) != base.dimension or not inside:
            raise SpecError("size", accepted, size)
        return tuple(map(int, lengths))

    @classmethod
    def points(cls, size: Size) -> int:
        """The product of the sides."""
        return math.prod(size)

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Half of each side, where these come out whole and at least 2."""
        if any(side % 2 or side < 4 for side in size):
            return None
        return tuple(side // 2 for side in size)

    @classmethod
    def grid(cls, size: Size) -> tuple[int, ...]:
        """(height, width) or (depth, height, width)."""
        return tuple(reversed(size))

    @classmethod
    def squared_spacing(cls, size: Size, _base: Base) -> float:
        """h^2, the width of the domain being 1."""
        return 1 / float(size[0]) ** 2

    @classmethod
    def name_parts(cls, size: Size) -> tuple[object, ...]:
        """The sides."""
        return tuple(size)

    @classmethod
    def described(cls, size: Size) -> str:
        """'96 x 96 pixels (width x height)'."""
        sides = ("width", "height", "depth")[: len(size)]
        cells = "pixels" if len(size) == 2 else "voxels"
        return f"{' x '.join(map(str, size))} {cells} ({' x '.join(sides)})"

    @classmethod
    def sampled(cls, size: Size, spec: "GraphSpec") -> "Lattice":
        """A lattice of this size."""
        spacings = (spec.spacing or ())[::-1]
        return cls(cls.grid(size), spec.orientations, spec.fiber, spec.periodic, spacings)

    def without_fiber(self) -> "Lattice":
        """The points alone, without orientations."""
        return replace(self, orientations=1, fiber=NO_FIBER)

    @property
    def lattice(self) -> "Lattice":
        """The lattice itself."""
        return self

    @property
    def width(self) -> int:
        """Pixels along x."""
        return self.shape[-1]

    @property
    def relative(self) -> Floats:
        """(d,) spacings along each axis, in the order of the shape; 1 along x."""
        return np.array(self.spacings or [1.0] * len(self.shape))

    @property
    def spacing(self) -> float:
        """Side of a pixel, h; the geometric mean where sides differ."""
        return self._mean_spacing / self.width

    @property
    def _mean_spacing(self) -> float:
        """Geometric mean of the relative spacings, exactly 1 where sides are equal."""
        return math.prod(self.spacings) ** (1 / len(self.shape)) if self.spacings else 1.0

    @property
    def pixels_per_area(self) -> float:
        """1 / h^2."""
        return self.width**2 / self._mean_spacing**2

    @property
    def sides(self) -> tuple[float, ...]:
        """Sides of a pixel along each axis, in the order of the shape and in units of h."""
        return tuple((self.relative / self._mean_spacing).tolist())

    @property
    def num_points(self) -> int:
        """Vertices of one orientation."""
        return math.prod(self.shape)

    @property
    def extent(self) -> tuple[float, ...]:
        """Sides of the domain along x, y and so on."""
        sides = np.array(self.shape) * self.relative / self.width
        return tuple(sides[::-1].tolist())

    @property
    def base_points(self) -> Floats:
        """(points, d) x, y and so on."""
        return self.base_coordinates(np.arange(self.num_points))

    def decode(self, vertices: Indices) -> tuple[Indices, Places]:
        """Orientation and places of vertex indices, each of their shape."""
        places: list[Indices] = []
        for side in self.shape[:0:-1]:
            row = vertices // side  # faster than divmod: // by a scalar is vectorized
            places.append(vertices - row * side)
            vertices = row
        first = self.shape[0]
        orientation = vertices // first
        places.append(vertices - orientation * first)
        return orientation, tuple(places[::-1])

    def encode(self, orientation: Indices, places: Iterable[Indices]) -> Indices:
        """Vertex indices of orientations and places."""
        index = orientation
        for side, place in zip(self.shape, places, strict=True):
            index = index * side + place
        return index

    def base_coordinates(self, points: Indices) -> Floats:
        """(N, d) x, y and so on of some points, (N,)."""
        _, places = self.decode(points)
        columns = [
            place * spacing / self.width
            for place, spacing in zip(places, self.relative.tolist(), strict=True)
        ]
        return np.stack(columns[::-1], axis=1)

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """Coordinates as of `Sampling.coordinates`; on a line along x all but x is the same."""
        first, last, _ = slice(start, stop).indices(self.num_vertices)
        skipped = first % self.width
        x = self.base_coordinates(np.arange(self.width))[:, 0]
        lines = self._coordinates_of(np.arange(first - skipped, last, self.width))
        rows = np.repeat(lines[:, None], self.width, axis=1)
        rows[:, :, 0] = x
        return rows.reshape(-1, lines.shape[1])[skipped : skipped + last - first]

    def edge_coordinates(
        self, orientation: Indices, others: Indices, offsets: Indices
    ) -> tuple[Floats, Floats]:
        """Coordinates of both ends of edges that start at the origin, lengths in units of h.

        Args:
            orientation: (N,) at the start.
            others: (N,) at the end.
            offsets: (N, d) whole pixels, in the order of the shape.

        Returns:
            (N, columns) and (N, columns).
        """
        steps = (offsets * np.array(self.sides))[:, ::-1]
        starts = np.concatenate(
            [np.zeros(steps.shape), self.fiber_coordinates[orientation]], axis=1
        )
        return starts, np.concatenate([steps, self.fiber_coordinates[others]], axis=1)

    @property
    def base_areas(self) -> Floats:
        """(points,) ones, each in the memory of all others."""
        return np.broadcast_to(np.float64(1), self.num_points)

    @property
    def coarser_lattice(self) -> "Lattice":
        """The lattice of half of each side."""
        return replace(self, shape=tuple(side // 2 for side in self.shape))

    @cached_property
    def parents(self) -> Parents:
        """Each pixel belongs to the block of 2 pixels a side that it is in."""
        _, places = self.decode(np.arange(self.num_points))
        shape = tuple(side // 2 for side in self.shape)
        blocks = np.ravel_multi_index(tuple(place // 2 for place in places), shape)
        return Parents.of(blocks, math.prod(shape))

    def probes(self) -> Indices:
        """Points where the effective metric is measured: the pixel in the middle.

        It may be near the boundary of a small open lattice.
        """
        middle = [np.array([side // 2]) for side in self.shape]
        return self.encode(np.array([0]), middle)

    @property
    def has_half_turn(self) -> bool:
        """True if an image that is turned by 180 degrees has orientations at samples again."""
        return self._images(np.diag([-1, -1]))[0]

    def symmetries(self, *_more: str) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) under which the graph does not change.

        A permutation P maps vertex v to P[v]. Where a rotation maps orientations between two
        samples, as one by 90 degrees does where n_o is odd, each goes to the sample half a step
        before, and the name says "(approximate)"; one that maps axes between two is left out.
        """
        k, places = self.decode(np.arange(self.num_vertices))
        for name, motion in motions(self.shape, self.spacings):
            exact, images = self._images(motion)
            if images is not None:
                permutation = self.encode(images[k], self._moved(places, motion))
                yield name if exact else f"{name} (approximate)", permutation
        if self.periodic:
            # Along every axis: a diagonal shift with the rotations would generate even shifts only.
            for axis, letter in zip(reversed(range(len(self.shape))), "xyz", strict=False):
                moved = list(places)
                moved[axis] = (places[axis] + 1) % self.shape[axis]
                yield f"translation_{letter}", self.encode(k, moved)

    def _moved(self, places: Places, motion: Indices) -> Iterator[Indices]:
        """The places that pixels are mapped to, axis by axis."""
        for row, side in zip(motion, self.shape, strict=True):
            place = places[int(abs(row).argmax())]
            yield place if row.sum() > 0 else side - 1 - place

    def _images(self, motion: Indices) -> tuple[bool, Indices | None]:
        """A flag, true if all samples go to samples exactly, and (n_o,) the image of each."""
        if self.fiber.columns and not self.fiber.cyclic:
            return True, image_of(self.fiber_coordinates, motion[::-1, ::-1])
        k = np.arange(self.orientations)
        n_o = self.orientations
        if not self.fiber.columns:
            return True, k
        # Where x goes, in quarter turns; 2 pi are so many steps.
        quarter_turns = round(math.atan2(motion[-2, -1], motion[-1, -1]) / (math.pi / 2))
        steps, between = divmod(quarter_turns * n_o * len(self.fiber.turns), 4)
        return not between, (round(np.linalg.det(motion)) * k + steps) % n_o
