"""The edges of a vertex, one for each orientation, and the metric that they realize there."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds.flat import directions_across
from cheblienet_graphs.manifolds.moments import edge_moments, least_logarithms
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.plot.pictures import SHOWN, shown_orientations
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.typing import Floats, Indices

NEAR_AT_ONCE = 2**20
"""Most points of the base that are searched for near ones; larger graphs show none."""
LEVEL = 1e-6
"""Length of an axis across z below which it is z."""
NAMES = ("along", "across 1", "across 2", "tilt to 1", "tilt to 2")
"""The directions of the frame at an axis in space."""


@dataclass(frozen=True)
class View:
    """The edges of a vertex; lengths are in the visible unit, angles in radians.

    Args:
        vertex: its number.
        sample: its orientation as stored, radians, or its axis; empty where there are none.
        neighbors: (N,) vertices.
        places: (N, d) of the neighbors on the picture: right and down; of an axis in space along
            it and across.
        headings: (N, d) their forward directions there; of no rows where there are none.
        components: (M, dim) of the logarithms: forward, sideways(, rotation), of axes in space
            along, two across, and the sine of the tilt toward these, as it counts in the moments;
            of an edge that turns by pi/2 both ways.
        edges: (M,) the edge of each.
        weights: (N,) of the edges.
        rotating: (N,) whether an edge leads to another orientation.
        frame: (d, d) directions of forward, sideways on the picture, as rows.
        asked: (dim,) diagonal of R^-1 in these units.
        moment: (dim, dim) sum of w c c^T over the edges, in the frame; they count as in
            `edge_moments`.
    """

    vertex: int
    sample: tuple[float, ...]
    neighbors: Indices
    places: Floats
    headings: Floats
    components: Floats
    edges: Indices
    weights: Floats
    rotating: npt.NDArray[np.bool_]
    frame: Floats
    asked: Floats
    moment: Floats

    @property
    def filled(self) -> Floats | None:
        """(dim, dim) squared radii of the ellipsoid that has the edges' second moments.

        Evenly filled with their total weight it has the matrix `moment`. None without neighbors.
        """
        total = self.weights.sum()
        return self.moment * (len(self.moment) + 2) / total if total > 0 else None

    @property
    def ball(self) -> Floats | None:
        """(dim, dim) squared radii of the ball of the metric asked for that is to be compared.

        Its radius forward is that of `filled`; without orientations, where no direction is forward,
        its mean squared radius is. None where no neighbor lies forward.
        """
        filled = self.filled
        if filled is None:
            return None
        own = filled.diagonal()
        squared = own[0] if self.sample else own.mean()
        return np.diag(self.asked * squared) if squared > 0 else None

    @property
    def eps_squared(self) -> float | None:
        """The eps^2 realized here, sideways over forward moment; None where none lies forward."""
        forward, *across = self.moment.diagonal()[: len(self.frame)]
        return float(np.mean(across) / forward) if forward > 0 else None

    def ellipsoids(self, directions: Floats | None = None) -> list[Floats]:
        """Shadows of `filled` and `ball`, where there are any, (m, m).

        Args:
            directions: (dim, m) of the frame where they are seen; default the base's picture.
        """
        if directions is None:
            directions = np.pad(self.frame, ((0, len(self.moment) - len(self.frame)), (0, 0)))
        shapes = [shape for shape in (self.filled, self.ball) if shape is not None]
        return [directions.T @ shape @ directions for shape in shapes]


@dataclass(frozen=True)
class Neighborhood:
    """The edges over one point of the base.

    Args:
        axes: names of the picture's axes.
        unit: of its lengths.
        views: one for each orientation shown.
        orientations: how many there are.
        step: angle between two next to one another, radians; 0 without, and between axes.
        xi: length of one radian in the visible unit; 0 without orientations.
        middle: index of the view of the vertex asked for.
        others: (P, d) points of the base around.
    """

    axes: tuple[str, ...]
    unit: str
    views: tuple[View, ...]
    orientations: int
    step: float
    xi: float
    middle: int
    others: Floats

    @property
    def heaviest(self) -> float:
        """The largest weight of all edges; 0 where there are none."""
        return max(float(view.weights.max(initial=0)) for view in self.views)

    @property
    def reach(self) -> float:
        """The largest coordinate of neighbors and ellipses on the picture; 1 without any."""
        return max(outermost(view.places, view.ellipsoids()) for view in self.views) or 1.0


def outermost(places: Floats, shapes: list[Floats]) -> float:
    """The largest coordinate of places (N, d) and of ellipsoids; 0 where there are none."""
    radii = [float(np.sqrt(shape.diagonal().max())) for shape in shapes]
    return max([float(abs(places).max(initial=0)), *radii])


def neighborhood_of(
    graph: OpenedGraph, level: int = 0, vertex: int | None = None, *, most: int = SHOWN
) -> Neighborhood:
    """The edges of a vertex and of the other orientations over the same point.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        vertex: its number; default one well inside.
        most: orientations that are shown; of axes in space, each of which takes a figure, but one.

    Raises:
        SpecError: the level or the vertex is out of range.
        StoreError: the graph can't be read.
    """
    places = places_of(graph, level)
    count, points = places.points.orientations, places.points.num_points
    orientation, point = divmod(chosen_vertex(graph, level, vertex), points)
    shown = shown_orientations(count, most=most, through=orientation)
    if places.of_axes:
        shown = np.array([orientation])
    around = places.vectors if points <= NEAR_AT_ONCE else places.vectors[:0]
    others = places.offsets(places.vectors[point], around) * places.visible
    if places.of_axes:
        others = others @ axis_frame(np.array(places.samples[orientation])).T
    return Neighborhood(
        NAMES[:3] if places.of_axes else places.directions,
        places.unit,
        tuple(_view(graph, level, places, k * points + point) for k in shown.tolist()),
        count,
        graph.spec.geometry.fiber.step(count),
        graph.level(level).sampled.metric.xi * places.visible / places.spacing,
        shown.tolist().index(orientation),
        others,
    )


def _view(graph: OpenedGraph, level: int, places: Places, vertex: int) -> View:
    arrays, manifold, points = graph.level(level), graph.spec.geometry, places.points.num_points
    row = arrays.weights(np.array([vertex]))
    neighbors, point = row.indices.astype(np.int64), vertex % points
    offsets = places.offsets(places.vectors[point], places.vectors[neighbors % points])
    headings, frame = np.empty((0, places.dimension)), _frame(places, vertex)
    if places.samples[0]:
        headings = places.headings(point, neighbors)
    starts = np.repeat(np.array(arrays.coordinates[vertex])[None], len(neighbors), axis=0)
    ends, d = np.array(arrays.coordinates[neighbors]), places.dimension
    if places.flat:
        ends[:, :d] = starts[:, :d] + offsets * places.spacing
    edges, components = least_logarithms(manifold, starts, ends)
    metric = arrays.sampled.metric
    _, second = edge_moments(manifold, metric, starts, ends)
    moment, squares = np.einsum("n,nab->ab", row.data, second), np.array(manifold.weights(metric))
    if places.of_axes:
        axis = np.array(places.samples[vertex // points])
        offsets, headings = (part @ axis_frame(axis).T for part in (offsets, headings))
        angles = np.linalg.norm(components[:, d:], axis=1, keepdims=True)
        components[:, d:] *= np.sinc(angles / np.pi)
        turn = to_the_frame(axis)
        components, moment = components @ turn.T, turn @ moment @ turn.T
    units = np.ones(components.shape[1])
    units[:d] = places.visible / places.spacing
    scale = units / np.sqrt(squares)
    return View(
        vertex,
        places.samples[vertex // points],
        neighbors,
        offsets * places.visible,
        headings,
        components * units,
        edges,
        row.data,
        neighbors // points != vertex // points,
        frame,
        (scale / units[0]) ** 2,
        moment * np.outer(scale, scale),
    )


def _frame(places: Places, vertex: int) -> Floats:
    """(d, d) directions of the metric's frame on the picture, forward first, as rows.

    Without orientations the axes on a flat base, south and east on the sphere.
    """
    if places.dimension == 3:
        return np.eye(3)
    right, down = (1.0, 0.0) if places.flat else (0.0, 1.0)
    if places.samples[0]:
        point = vertex % places.points.num_points
        right, down = places.headings(point, np.array([vertex]))[0].tolist()
    side = 1 if places.flat else -1
    return np.array([[right, down], [-side * down, side * right]])


def axis_frame(axis: Floats) -> Floats:
    """(3, 3) a right-handed frame, as rows: an axis in space, and two directions across it.

    The first of these is across z, too; x where the axis is z itself.

    Args:
        axis: (3,) unit vector.
    """
    level = np.array([-axis[1], axis[0], 0.0])
    length = float(np.linalg.norm(level))
    level = level / length if length > LEVEL else np.array([1.0, 0.0, 0.0])
    return np.stack([axis, level, np.cross(axis, level)])


def to_the_frame(axis: Floats) -> Floats:
    """(5, 5) what takes logarithms at an axis from the manifold's directions to `axis_frame`'s.

    Args:
        axis: (3,) unit vector.
    """
    frame = axis_frame(axis)
    across: Floats = np.array(directions_across(tuple(frame[0].tolist())))
    turned: Floats = np.eye(5)
    turned[1:3, 1:3] = turned[3:, 3:] = frame[1:] @ across.T
    return turned
