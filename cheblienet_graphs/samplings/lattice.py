"""The regular lattice on the plane, with a fibre of orientations over each pixel."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.fibre import orientation_angles
from cheblienet_graphs.samplings.maps import LevelMap, averages
from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class PlaneLattice:
    """width x height pixels of [0, 1) x [0, height/width), times orientations.

    Vertices are ordered orientation-major: index = (k height + y) width + x, so a signal of shape
    (..., V) reshapes to (..., orientations, height, width).

    Args:
        width, height: pixels.
        orientations: samples theta_k = -pi/2 + k pi/n_o; 1 on the plane itself.
        oriented: whether theta is a coordinate.
        periodic: whether opposite sides are glued.
    """

    width: int
    height: int
    orientations: int = 1
    oriented: bool = False
    periodic: bool = False

    @property
    def spacing(self) -> float:
        """Side of a pixel, h."""
        return 1 / self.width

    @property
    def num_points(self) -> int:
        """Vertices of one orientation."""
        return self.width * self.height

    @property
    def num_vertices(self) -> int:
        """Vertices altogether."""
        return self.orientations * self.num_points

    @cached_property
    def theta(self) -> Floats:
        """(n_o,) angles of the orientations, radians in [-pi/2, pi/2)."""
        return orientation_angles(self.orientations)

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the domain."""
        return 1.0, self.height / self.width

    @cached_property
    def base_points(self) -> Floats:
        """(points, 2) x, y."""
        y, x = np.divmod(np.arange(self.num_points), self.width)
        return np.stack([x / self.width, y / self.width], axis=1)

    def decode(self, vertices: Indices) -> tuple[Indices, Indices, Indices]:
        """(orientation, y, x) of vertex indices, each of the same shape."""
        row = vertices // self.width  # // by a scalar is vectorised, divmod is not
        orientation = row // self.height
        return orientation, row - orientation * self.height, vertices - row * self.width

    def encode(self, orientation: Indices, y: Indices, x: Indices) -> Indices:
        """Vertex indices of (orientation, y, x)."""
        return (orientation * self.height + y) * self.width + x

    def grid(self) -> tuple[Indices, Indices, Indices]:
        """(orientation, y, x) of every vertex, each of shape (V,)."""
        return self.decode(np.arange(self.num_vertices))

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, 2) x, y, or (V, 3) x, y, theta, or those of the vertices start..stop."""
        orientation, y, x = self.decode(np.arange(*slice(start, stop).indices(self.num_vertices)))
        columns = [x / self.width, y / self.width]
        if self.oriented:
            columns.append(self.theta[orientation])
        return np.stack(columns, axis=1)

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas of the cells in units of their mean, all 1, or of the vertices start..stop."""
        return np.ones(len(range(self.num_vertices)[start:stop]))

    def pooling(self) -> LevelMap:
        """From pixels to those of the next coarser level: the mean of each 2x2 block."""
        index = np.arange(self.num_points).reshape(self.height // 2, 2, self.width // 2, 2)
        return averages(index.transpose(0, 2, 1, 3).reshape(-1, 4), np.ones(self.num_points))

    def unpooling(self) -> LevelMap:
        """To pixels from the next coarser level: each takes the value of its block."""
        points = self.num_points
        y, x = np.divmod(np.arange(points), self.width)
        block = y // 2 * (self.width // 2) + x // 2
        return LevelMap((points, points // 4), np.arange(points + 1), block, np.ones(points))

    def probes(self) -> Indices:
        """Points where the effective metric is measured: the pixel in the middle.

        On an open lattice so small that its middle is near the boundary, it is measured there.
        """
        return np.array([self.height // 2 * self.width + self.width // 2])

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) under which the graph does not change.

        A permutation P maps vertex v to P[v]. The rotation by 90 degrees turns theta by pi/2, which
        is on the grid for an even number of orientations only; for an odd one each goes to the one
        half a step before, and the name says "(approximate)".
        """
        k, y, x = self.grid()
        n_o, width, height = self.orientations, self.width, self.height
        if width == height:
            exact = n_o % 2 == 0 or not self.oriented
            name = "rotation_90" if exact else "rotation_90 (approximate)"
            yield name, self.encode((k + n_o // 2) % n_o, x, width - 1 - y)
        yield "rotation_180", self.encode(k, height - 1 - y, width - 1 - x)
        yield "flip", self.encode((n_o - k) % n_o, height - 1 - y, x)
        if self.periodic:
            # Both: with the rotations (1, 1) makes the even shifts only.
            yield "translation_x", self.encode(k, y, (x + 1) % width)
            yield "translation_y", self.encode(k, (y + 1) % height, x)
