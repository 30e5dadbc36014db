"""What lies around a vertex, on a flat picture of its base.

On the plane and in space the picture is the base itself; on the sphere it is the tangent plane at
the vertex, in which every point has its true direction and its true distance.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.report.edges_of import axis_frame
from cheblienet_graphs.spec.fibres import samples_of
from cheblienet_graphs.spec.units import visible
from cheblienet_graphs.typing import Floats, Indices

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Surroundings:
    """The picture of the base around a vertex; lengths are in the visible unit.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        vertex: in the middle.
    """

    graph: OpenedGraph
    level: int
    vertex: int

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the picture's axes: x, y(, z), or east and north on the sphere."""
        base = self.graph.spec.geometry.base
        return ("x", "y", "z")[: base.dimension] if base.flat else ("east", "north")

    @property
    def scale(self) -> float:
        """The visible units in one unit of the metric's lengths."""
        return visible(self.graph.spec, self.level, 1.0)

    @property
    def coordinates(self) -> npt.NDArray[np.float64]:
        """(V, columns) of the level, mapped."""
        return self.graph.level(self.level).coordinates

    @cached_property
    def points(self) -> int:
        """Points of the base."""
        return self.graph.spec.base_points(self.level)

    @property
    def orientation(self) -> int:
        """Index of the vertex's orientation."""
        return self.vertex // self.points

    @property
    def sample(self) -> tuple[float, ...]:
        """The vertex's orientation as stored, radians, or its axis; empty where there are none."""
        return samples_of(self.graph.spec)[self.orientation]

    def angles(self, vertices: Numbers) -> Floats:
        """(N,) orientations as they are stored, radians; zeros where there are no angles."""
        column = 2 if self.graph.spec.geometry.base.flat else 0
        if not self.graph.spec.geometry.fibre.cyclic:
            return np.zeros(len(vertices))
        return np.array(self.coordinates[vertices, column])

    def places(self, vertices: Numbers) -> Floats:
        """(N, d) of vertices on the picture, seen from the middle one.

        On a periodic domain of each vertex the image that is nearest to the middle.
        """
        base = self.graph.spec.geometry.base
        if not base.flat:
            return self._tangent(self._units(vertices)) * self.scale
        d = base.dimension
        steps = np.array(self.coordinates[vertices, :d]) - self.coordinates[self.vertex, :d]
        places: Floats = self.nearest(steps) * self.scale
        return places

    def nearest(self, steps: Floats) -> Floats:
        """(N, d) steps on a flat base, each the shortest of its images."""
        sides = self._sides
        return steps if sides is None else steps - np.round(steps / sides) * sides

    def headings(self, vertices: Numbers) -> Floats:
        """(N, d) unit vectors forward at vertices, on the picture; modulo their sign.

        On the sphere after parallel transport to the middle. Of oriented manifolds only.
        """
        if self.graph.spec.axes is not None:
            return np.array(self.coordinates[vertices, 3:])
        angles = self.angles(vertices)
        if self.graph.spec.geometry.base.flat:
            return np.stack([np.cos(angles), np.sin(angles)], axis=1)
        here, there = self._units(np.array([self.vertex]))[0], self._units(vertices)
        south, east = self._south_east(vertices)
        forward = np.cos(angles)[:, None] * south + np.sin(angles)[:, None] * east
        across = (forward @ here) / (1 + there @ here)
        transported = forward - across[:, None] * (here + there)
        return self._on_picture(transported)

    @cached_property
    def frame(self) -> Floats:
        """(d, d) the directions of the metric's frame on the picture, forward first, as rows.

        Without orientations those of the axes on a flat base, south and east on the sphere; of an
        axis in space its `axis_frame`.
        """
        spec = self.graph.spec
        if spec.axes is not None:
            return axis_frame(self.headings(np.array([self.vertex]))[0])
        if not spec.geometry.oriented:
            sphere = np.array([[0.0, -1.0], [1.0, 0.0]])
            return np.eye(spec.geometry.base.dimension) if spec.geometry.base.flat else sphere
        cos, sin = self.headings(np.array([self.vertex]))[0]
        return np.array([[cos, sin], [-sin, cos]])

    @cached_property
    def _sides(self) -> Floats | None:
        points = self.graph.points(self.level)
        return np.array(points.extent) if points.periodic and points.extent else None

    def _units(self, vertices: Numbers) -> Floats:
        """(N, 3) unit vectors of vertices on the sphere."""
        beta, gamma = self.coordinates[vertices, -2:].T
        return np.stack(
            [np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)], axis=1
        )

    def _south_east(self, vertices: Numbers) -> tuple[Floats, Floats]:
        """(N, 3) and (N, 3) unit vectors along growing beta and gamma."""
        beta, gamma = self.coordinates[vertices, -2:].T
        south = [np.cos(beta) * np.cos(gamma), np.cos(beta) * np.sin(gamma), -np.sin(beta)]
        east = [-np.sin(gamma), np.cos(gamma), np.zeros_like(gamma)]
        return np.stack(south, axis=1), np.stack(east, axis=1)

    def _on_picture(self, vectors: Floats) -> Floats:
        """(N, 2) tangent vectors at the middle along east and north."""
        south, east = self._south_east(np.array([self.vertex]))
        return np.stack([vectors @ east[0], -vectors @ south[0]], axis=1)

    def _tangent(self, units: Floats) -> Floats:
        """(N, 2) logarithms of points of the sphere along east and north, radians."""
        here = self._units(np.array([self.vertex]))[0]
        flat = self._on_picture(units)
        sine = np.hypot(*flat.T)
        arc = np.arctan2(sine, units @ here)
        stretch = np.divide(arc, sine, out=np.ones_like(arc), where=sine > 0)
        logarithms: Floats = flat * stretch[:, None]
        return logarithms


def same_point(vertices: int | Indices, points: int, orientations: int) -> Indices:
    """(n_o,) or (N, n_o) the vertices over the point of a vertex or, (N, 1), of each of some."""
    return np.arange(orientations) * points + vertices % points
