"""The edges of a vertex, one for each orientation, and the metric that they realise there."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.manifolds.moments import edge_moments, least_logarithms
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.places import chosen_vertex
from cheblienet_graphs.plot.surroundings import Surroundings, same_point
from cheblienet_graphs.report.edges_of import to_the_frame
from cheblienet_graphs.spec.units import visible_unit
from cheblienet_graphs.typing import Floats, Indices

MOST_VIEWS = 6
"""Orientations that are shown; of more, some that are evenly spread."""
NEAR_AT_ONCE = 2**20
"""Points of the base that are looked through for those nearby; of larger graphs none are shown."""


@dataclass(frozen=True)
class View:
    """The edges of a vertex; lengths are in the visible unit, angles in radians.

    Args:
        vertex: its number.
        sample: its orientation as stored, radians, or its axis; empty where there are none.
        neighbours: (N,) vertices.
        places: (N, d) of the neighbours on the picture of the base.
        headings: (N, d) their forward directions there; of no rows where there are none.
        components: (M, dim) of the logarithms: forward, sideways(, rotation), of axes in space
            along, two across in the frame, and the sine of the tilt towards these, as it counts in
            the moments; of an edge that turns by pi/2 both ways.
        edges: (M,) the edge of each.
        weights: (N,) of the edges.
        rotating: (N,) whether an edge leads to another orientation.
        frame: (d, d) directions of forward, sideways on the picture, as rows.
        asked: (dim,) diagonal of R^-1 in these units.
        moment: (dim, dim) sum of w c c^T over the edges, in the frame.
    """

    vertex: int
    sample: tuple[float, ...]
    neighbours: Indices
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

        Evenly filled with their total weight it has the matrix `moment`. None without neighbours.
        """
        total = self.weights.sum()
        return self.moment * (len(self.moment) + 2) / total if total > 0 else None

    @property
    def ball(self) -> Floats | None:
        """(dim, dim) squared radii of the ball of the metric asked for that is to be compared.

        Its radius forward is that of `filled`; without orientations, where no direction is forward,
        its mean squared radius is. None where no neighbour lies forward.
        """
        filled = self.filled
        if filled is None:
            return None
        own = filled.diagonal()
        squared = own[0] if self.sample else own.mean()
        return np.diag(self.asked * squared) if squared > 0 else None

    @property
    def eps_squared(self) -> float | None:
        """The eps^2 realised here, sideways over forward moment; None where none lies forward."""
        forward, *across = self.moment.diagonal()[: len(self.frame)]
        return float(np.mean(across) / forward) if forward > 0 else None

    def on_picture(self, squared_radii: Floats) -> Floats:
        """(d, d) the shadow of an ellipsoid on the picture of the base."""
        d = len(self.frame)
        shadow: Floats = self.frame.T @ squared_radii[:d, :d] @ self.frame
        return shadow


@dataclass(frozen=True)
class Neighbourhood:
    """The edges over one point of the base.

    Args:
        axes: names of the picture's axes.
        unit: of its lengths.
        views: one for each orientation shown.
        orientations: how many there are.
        xi: length of one radian in the visible unit; 0 without orientations.
        middle: index of the view of the vertex asked for.
        others: (P, d) points of the base around.
    """

    axes: tuple[str, ...]
    unit: str
    views: tuple[View, ...]
    orientations: int
    xi: float
    middle: int
    others: Floats

    @property
    def heaviest(self) -> float:
        """The largest weight of all edges; 0 where there are none."""
        return max(float(view.weights.max(initial=0)) for view in self.views)

    @property
    def reach(self) -> float:
        """The largest coordinate of neighbours and ellipses on the picture; 1 without any."""
        far = [float(abs(view.places).max(initial=0)) for view in self.views]
        for view in self.views:
            shapes = [shape for shape in (view.filled, view.ball) if shape is not None]
            shadows = [view.on_picture(shape).diagonal() for shape in shapes]
            far += [float(np.sqrt(shadow.max())) for shadow in shadows]
        return max(far) or 1.0


def neighbourhood_of(
    graph: OpenedGraph, level: int = 0, vertex: int | None = None, *, most: int = MOST_VIEWS
) -> Neighbourhood:
    """The edges of a vertex and of those of other orientations over the same point.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        vertex: its number; default one well inside.
        most: orientations that are shown; of axes in space, each of which takes a figure, but one.

    Raises:
        SpecError: the level or the vertex is out of range.
        StoreError: the graph can't be read.
    """
    middle = chosen_vertex(graph, level, vertex)
    around = Surroundings(graph, level, middle)
    spec = graph.spec
    every = same_point(middle, around.points, spec.orientations)
    count = spec.orientations
    shown = _spread(count, around.orientation, most if spec.axes is None else 1)
    views = tuple(_view(Surroundings(graph, level, int(every[k]))) for k in shown)
    return Neighbourhood(
        around.axes,
        visible_unit(spec),
        views,
        count,
        graph.metric(level).xi * around.scale,
        int(np.flatnonzero(shown == around.orientation)[0]),
        _others(around),
    )


def _spread(count: int, kept: int, most: int) -> Indices:
    """At most `most` of the numbers below a count, evenly spread, one of which is kept."""
    shown = min(count, most)
    steps = np.arange(shown) * count // shown
    return np.sort((kept + steps) % count)


def _view(around: Surroundings) -> View:
    graph, vertex, scale = around.graph, around.vertex, around.scale
    arrays, spec = graph.level(around.level), graph.spec
    metric, manifold = graph.metric(around.level), spec.geometry
    row = arrays.weights.rows(np.array([vertex]))
    neighbours = row.indices.astype(np.int64)
    starts = np.repeat(np.array(arrays.coordinates[vertex])[None], len(neighbours), axis=0)
    ends = np.array(arrays.coordinates[neighbours])
    d = manifold.base.dimension
    if manifold.base.flat:
        ends[:, :d] = starts[:, :d] + around.nearest(ends[:, :d] - starts[:, :d])
    _, products = edge_moments(manifold, metric, starts, ends)
    edges, components = least_logarithms(manifold, starts, ends)
    if spec.axes is not None:
        turned = to_the_frame(around.frame[0])
        components = _with_sines(components) @ turned.T
        products = turned @ products @ turned.T
    entries = np.array(manifold.weights(metric))
    units = np.array([scale] * d + [1.0] * (len(entries) - d))
    lengths = units / np.sqrt(entries)
    moment = np.einsum("n,nab->ab", row.data, products) * np.outer(lengths, lengths)
    return View(
        vertex,
        around.sample,
        neighbours,
        around.places(neighbours),
        around.headings(neighbours) if manifold.oriented else np.empty((0, d)),
        components * units,
        edges,
        row.data,
        neighbours // around.points != around.orientation,
        around.frame,
        lengths**2 / scale**2,
        moment,
    )


def _with_sines(components: Floats) -> Floats:
    """Logarithms (M, 5) with tilts as long as their sine."""
    angle = np.linalg.norm(components[:, 3:], axis=1, keepdims=True)
    return np.hstack([components[:, :3], components[:, 3:] * np.sinc(angle / np.pi)])


def _others(around: Surroundings) -> Floats:
    """(P, d) points of the base, where they are few enough to be looked through."""
    if around.points > NEAR_AT_ONCE:
        return np.empty((0, len(around.axes)))
    return around.places(np.arange(around.points))
