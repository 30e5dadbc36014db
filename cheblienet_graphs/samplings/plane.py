"""The regular lattice on the plane, with a fibre of orientations over each pixel."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


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
    def pixels(self) -> int:
        """Vertices of one orientation."""
        return self.width * self.height

    @property
    def num_vertices(self) -> int:
        """Vertices altogether."""
        return self.orientations * self.pixels

    def theta(self, orientation: int) -> float:
        """Angle of an orientation, radians in [-pi/2, pi/2)."""
        return -math.pi / 2 + orientation * math.pi / self.orientations

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

    def coordinates(self) -> npt.NDArray[np.float64]:
        """(V, 2) x, y, or (V, 3) x, y, theta."""
        orientation, y, x = self.grid()
        columns = [x / self.width, y / self.width]
        if self.oriented:
            columns.append(np.array([self.theta(k) for k in range(self.orientations)])[orientation])
        return np.stack(columns, axis=1)

    def areas(self) -> npt.NDArray[np.float64]:
        """(V,) areas of the cells, in units of their mean: all 1."""
        return np.ones(self.num_vertices)

    def halved(self) -> "PlaneLattice":
        """The next coarser level: half as many pixels each way, the same orientations."""
        return PlaneLattice(
            self.width // 2, self.height // 2, self.orientations, self.oriented, self.periodic
        )

    def children(self) -> Indices:
        """(V/4, 4) fine vertices of each vertex of `halved()`: its 2x2 block, ascending."""
        coarse = self.halved()
        orientation, y, x = (index[:, None] for index in coarse.grid())
        dy, dx = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
        return self.encode(orientation, 2 * y + dy, 2 * x + dx)

    def parents(self) -> Indices:
        """(V,) the vertex of `halved()` whose block holds each vertex."""
        orientation, y, x = self.grid()
        return self.halved().encode(orientation, y // 2, x // 2)

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) under which the graph does not change, exactly.

        A permutation P maps vertex v to P[v]. The rotation by 90 degrees turns theta by pi/2, which
        is on the grid for an even number of orientations only.
        """
        k, y, x = self.grid()
        n_o, width, height = self.orientations, self.width, self.height
        if width == height and (n_o % 2 == 0 or not self.oriented):
            turned = (k + n_o // 2) % n_o
            yield "rotation_90", self.encode(turned, x, width - 1 - y)
        yield "rotation_180", self.encode(k, height - 1 - y, width - 1 - x)
        yield "flip", self.encode((n_o - k) % n_o, height - 1 - y, x)
        if self.periodic:
            yield "translation", self.encode(k, (y + 1) % height, (x + 1) % width)
