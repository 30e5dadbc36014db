"""Figure: random sub-graphs, as training draws them, of the part around a vertex."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import NotDrawnError, another
from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.places import chosen_vertex
from cheblienet_graphs.plot.surroundings import Surroundings, same_point
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibres import named, word
from cheblienet_graphs.spec.units import visible_unit
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

MOST = 100
"""Vertices of the part, unless the first neighbours are more."""
KAPPA = 0.5
FLAT = 1e-6
"""Distance from the picture's plane, in the visible unit, up to which a vertex lies in it."""

Kept = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Subgraphs:
    """A part of a graph, whole, and two sub-graphs of it.

    Args:
        axes: names of the picture's two axes.
        unit: of its lengths.
        kappa: share that is kept.
        places: (N, 2) of the vertices, the one in the middle first.
        vertices: (N,) their numbers.
        edges: (E, 2) pairs of places; every edge of the graph between these vertices.
        weights: (E,) of the edges.
        kept_edges: (E,) a share kappa, drawn without replacement, likelier where heavier.
        kept_vertices: (N,) a share kappa, drawn uniformly.
    """

    axes: tuple[str, str]
    unit: str
    kappa: float
    places: Floats
    vertices: Indices
    edges: Indices
    weights: Floats
    kept_edges: Kept
    kept_vertices: Kept

    @property
    def edges_of_kept_vertices(self) -> Kept:
        """(E,) the edges with both ends kept."""
        first, second = self.edges.T
        both: Kept = self.kept_vertices[first] & self.kept_vertices[second]
        return both


def subgraphs_of(
    graph: OpenedGraph,
    level: int = 0,
    vertex: int | None = None,
    *,
    kappa: float = KAPPA,
    seed: int = 0,
) -> Subgraphs:
    """Draw sub-graphs of the part of a graph around a vertex, within its orientation.

    In a volume the part lies in the plane of x and y through the vertex.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        vertex: in the middle; default one well inside.
        kappa: share of edges or vertices to keep, in (0, 1].
        seed: of the draws.

    Raises:
        SpecError: the level or the vertex is out of range.
        NotDrawnError: no edge joins vertices around, in their orientation and plane.
        StoreError: the graph can't be read.
    """
    middle = chosen_vertex(graph, level, vertex)
    around = Surroundings(graph, level, middle)
    vertices = _part(around)
    edges, weights = _edges(around, vertices)
    if not len(edges):
        where = f" of its {word(graph.spec)}" if graph.spec.orientations > 1 else ""
        where += " in the plane of x and y" if len(around.axes) > 2 else ""
        raise NotDrawnError(
            f"No edge{where} is near vertex {middle:,} of {graph.name}; ", another("vertex")
        )
    generator = np.random.default_rng(seed)
    # Of exponential variables with rates w the smallest n are a weighted draw of n.
    arrival = generator.exponential(size=len(weights)) / weights
    first, second = around.axes[:2]
    return Subgraphs(
        (first, second),
        visible_unit(graph.spec),
        kappa,
        around.places(vertices)[:, :2],
        vertices,
        edges,
        weights,
        _first(arrival.argsort(kind="stable"), kappa),
        _first(generator.permutation(len(vertices)), kappa),
    )


def _first(order: Indices, kappa: float) -> Kept:
    """Whether each is among the first share of an order; at least one is."""
    kept = np.zeros(len(order), bool)
    kept[order[: max(1, round(kappa * len(order)))]] = True
    return kept


def _part(around: Surroundings) -> Indices:
    """The vertices of one orientation within some steps, as many as keep the part small.

    Steps count that lead through other orientations, too. The middle one comes first.
    """
    part = frontier = np.array([around.vertex])
    while len(frontier):
        beyond = np.setdiff1d(_neighbours(around, frontier), part)
        if len(part) > 1 and len(part) + len(beyond) > MOST:
            return part
        part, frontier = np.concatenate([part, beyond]), beyond
    return part


def _neighbours(around: Surroundings, vertices: Indices) -> Indices:
    """Vertices over the points, in the plane, that any edge over the points of these leads to."""
    laplacian = around.graph.level(around.level).laplacian
    over = same_point(vertices[:, None], around.points, around.graph.spec.orientations)
    points = np.unique(laplacian[over.ravel()].indices % around.points).astype(np.int64)
    found = around.orientation * around.points + points
    return found[(abs(around.places(found)[:, 2:]) <= FLAT).all(axis=1)]


def _edges(around: Surroundings, vertices: Indices) -> tuple[Indices, Floats]:
    """(E, 2) places of both ends, the smaller first, and (E,) positive weights."""
    rows = around.graph.level(around.level).weights.rows(vertices).tocoo()
    order = vertices.argsort()
    place = np.minimum(np.searchsorted(vertices[order], rows.col), len(vertices) - 1)
    there = order[place]
    kept = (vertices[there] == rows.col) & (rows.row < there) & (rows.data > 0)
    return np.stack([rows.row[kept], there[kept]], axis=1), rows.data[kept]


WIDTHS = (0.5, 1.0, 1.5, 2.0)
"""Points of lines, by quarters of the largest weight."""


def draw_subgraph(data: Subgraphs, edges: Any, vertices: Any, ax: "matplotlib.axes.Axes") -> None:
    """Draw a sub-graph; what is left out stays in the background.

    Args:
        data: of `subgraphs_of`.
        edges: (E,) bool, those that are kept.
        vertices: (N,) bool, those that are kept.
        ax: axes to draw on.
    """
    kept = np.asarray(edges)
    _draw_lines(data, ~kept, ax, color=FAINT, linewidth=0.3)
    share = data.weights / data.weights.max()
    quarter = np.minimum((share * len(WIDTHS)).astype(int), len(WIDTHS) - 1)
    for number, width in enumerate(WIDTHS):
        _draw_lines(data, kept & (quarter == number), ax, color=SERIES[0], linewidth=width)
    inside = np.asarray(vertices)
    ax.plot(*data.places[~inside].T, ".", color=FAINT, markersize=2)
    ax.plot(*data.places[inside].T, ".", color=INK, markersize=4)
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set_xlabel(f"{data.axes[0]} ({data.unit})")
    if data.axes[1] == "y":
        ax.invert_yaxis()  # as rows of an image


def _draw_lines(data: Subgraphs, chosen: Any, ax: "matplotlib.axes.Axes", **how: Any) -> None:
    """Edges as one line with gaps, which takes less room in a file than many lines."""
    ends = data.places[data.edges[chosen]]
    gaps = np.full((len(ends), 1, 2), np.nan)
    ax.plot(*np.concatenate([ends, gaps], axis=1).reshape(-1, 2).T, **how)


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
    data = subgraphs_of(graph, asked.level, asked.vertex, seed=asked.seed)
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    every_edge, every_vertex = np.ones(len(data.edges), bool), np.ones(len(data.vertices), bool)
    draw_subgraph(data, every_edge, every_vertex, axes[0])
    draw_subgraph(data, data.kept_edges, every_vertex, axes[1])
    draw_subgraph(data, data.edges_of_kept_vertices, data.kept_vertices, axes[2])
    for ax, title in zip(axes, ("whole", "half of the edges", "half of the vertices"), strict=True):
        ax.set_title(title)
    axes[0].set_ylabel(f"{data.axes[1]} ({data.unit})")
    return _caption(graph, data, asked.level)


def _caption(graph: OpenedGraph, data: Subgraphs, level: int) -> str:
    edges, vertices = len(data.edges), len(data.vertices)
    part = f"The {vertices:,} vertices around vertex {data.vertices[0]:,}"
    if graph.spec.geometry.oriented:
        part += f" of {named(graph.spec, data.vertices[0] // graph.spec.base_points(level))}"
    if graph.spec.geometry.base.dimension == 3:
        part += ", in its plane of x and y,"
    weight = float(data.weights[data.kept_edges].sum() / data.weights.sum())
    among = int(data.edges_of_kept_vertices.sum())
    kept_edges, kept_vertices = int(data.kept_edges.sum()), int(data.kept_vertices.sum())
    return (
        f"{part} and the {edges:,} edges among them; two sub-graphs of this part, drawn by the "
        f"rules of training. Middle: {kept_edges:,} edges, the heavier the likelier "
        f"({words.percent(weight)} of the weight). Right: {kept_vertices:,} vertices, all as "
        f"likely, and the {among:,} edges among them ({words.percent(among / edges)}). Training "
        "draws from the whole graph, anew each time."
    )


FIGURE = Figure(
    "subgraphs",
    "Random sub-graphs, as training draws them",
    (6.75, 2.9),
    _draw,
    takes=("vertex", "seed"),
)
