"""Figure: random sub-graphs, as training draws them, of the part around a vertex."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import NotDrawnError, another
from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.pictures import lines
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibers import named, word
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

MOST = 100
"""Vertices of the part, unless the first neighbors are more."""
KAPPA = 0.5
FLAT = 1e-6
"""Distance from the picture's plane, in spacings, up to which a vertex lies in it."""
THINNEST, THICKEST = 0.5, 2.0
"""Points of lines of weight 0 and of the largest weight."""

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
    middle, places = chosen_vertex(graph, level, vertex), places_of(graph, level)
    arrays, points = graph.level(level), places.points.num_points
    here = places.vectors[middle % points]
    vertices = _part(arrays, places, middle)
    edges, weights = _edges(arrays, vertices)
    if not len(edges):
        where = f" of its {word(graph.spec)}" if graph.spec.orientations > 1 else ""
        where += " in the plane of x and y" if places.dimension > 2 else ""
        raise NotDrawnError(
            f"No edge{where} is near vertex {middle:,} of {graph.name}; ", another("vertex")
        )
    generator = np.random.default_rng(seed)
    # Of exponential variables with rates w the smallest n are a weighted draw of n.
    arrival = generator.exponential(size=len(weights)) / weights
    first, second, *_ = places.directions
    return Subgraphs(
        (first, second),
        places.unit,
        kappa,
        places.offsets(here, places.vectors[vertices % points])[:, :2] * places.visible,
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


def _part(arrays: LevelArrays, places: Places, vertex: int) -> Indices:
    """The vertices of one orientation within some steps, as many as keep the part small.

    Steps count that lead through other orientations, too, but not out of the picture's plane. The
    middle one comes first.
    """
    points = places.points.num_points
    orientation, middle = divmod(vertex, points)
    part = frontier = np.array([middle])
    while len(frontier):
        over = np.arange(places.points.orientations)[:, None] * points + frontier
        reached = np.unique(arrays.laplacian[over.ravel()].indices % points).astype(np.int64)
        away = places.offsets(places.vectors[middle], places.vectors[reached])[:, 2:]
        beyond = np.setdiff1d(reached[(abs(away) <= FLAT).all(axis=1)], part)
        if len(part) > 1 and len(part) + len(beyond) > MOST:
            break
        part, frontier = np.concatenate([part, beyond]), beyond
    return orientation * points + part


def _edges(arrays: LevelArrays, vertices: Indices) -> tuple[Indices, Floats]:
    """(E, 2) places of both ends, the smaller first, and (E,) positive weights."""
    between = arrays.weights.rows(vertices)[:, vertices].tocoo()
    kept = (between.row < between.col) & (between.data > 0)
    ends = np.stack([between.row, between.col], axis=1)
    return ends[kept].astype(np.int64), between.data[kept]


def draw_subgraph(data: Subgraphs, edges: Any, vertices: Any, ax: "matplotlib.axes.Axes") -> None:
    """Draw a sub-graph; what is left out stays in the background.

    Args:
        data: of `subgraphs_of`.
        edges: (E,) bool, those that are kept.
        vertices: (N,) bool, those that are kept.
        ax: axes to draw on.
    """
    kept, inside, ends = np.asarray(edges), np.asarray(vertices), data.places[data.edges]
    widths = THINNEST + (THICKEST - THINNEST) * data.weights / data.weights.max()
    lines(ax, ends[~kept], FAINT, 0.3)
    lines(ax, ends[kept], SERIES[0], widths[kept])
    ax.plot(*data.places[~inside].T, ".", color=FAINT, markersize=2)
    ax.plot(*data.places[inside].T, ".", color=INK, markersize=4)
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set_xlabel(f"{data.axes[0]} ({data.unit})")
    ax.yaxis.set_inverted(True)  # as rows of an image


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
    data = subgraphs_of(graph, asked.level, asked.vertex, seed=asked.seed)
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    every_edge, every_vertex = np.ones(len(data.edges), bool), np.ones(len(data.vertices), bool)
    among = data.edges_of_kept_vertices
    for ax, title, edges, vertices in (
        (axes[0], "whole", every_edge, every_vertex),
        (axes[1], "half of the edges", data.kept_edges, every_vertex),
        (axes[2], "half of the vertices", among, data.kept_vertices),
    ):
        draw_subgraph(data, edges, vertices, ax)
        ax.set_title(title)
    axes[0].set_ylabel(f"{data.axes[1]} ({data.unit})")
    part = f"The {len(every_vertex):,} vertices around vertex {data.vertices[0]:,}"
    if graph.spec.geometry.oriented:
        number = data.vertices[0] // graph.spec.base_points(asked.level)
        part += f" of {named(graph.spec, number)}"
    if graph.spec.geometry.base.dimension == 3:
        part += ", in its plane of x and y,"
    weight = float(data.weights[data.kept_edges].sum() / data.weights.sum())
    return (
        f"{part} and the {len(every_edge):,} edges among them; two sub-graphs of this part, drawn "
        f"by the rules of training. Middle: {data.kept_edges.sum():,} edges, the heavier the "
        f"likelier ({words.percent(weight)} of the weight). Right: {data.kept_vertices.sum():,} "
        f"vertices, all as likely, and the {among.sum():,} edges among them "
        f"({words.percent(float(among.mean()))}). Training draws from the whole graph, anew each "
        "time."
    )


FIGURE = Figure(
    "subgraphs",
    "Random sub-graphs, as training draws them",
    (6.75, 2.9),
    _draw,
    takes=("vertex", "seed"),
)
