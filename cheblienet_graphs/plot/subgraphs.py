"""Figure: random sub-graphs, as training draws them, of the part around a vertex."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import NotDrawnError, another
from cheblienet_graphs.limits import number
from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Axes, Canvas, Figure
from cheblienet_graphs.plot.pictures import lines, thickness
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.report.opened import OpenedGraph
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibers import named, word
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats, Indices

MOST = 100
"""Vertices of the part, unless the first neighbors are more."""
KAPPA = 0.5
LEAST = 1e-9
"""Smallest share."""
FLAT = 1e-6
"""Distance from the picture's plane, in spacings, up to which a vertex lies in it."""

Kept = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Subgraphs:
    """A part of a graph, whole, and two sub-graphs of it.

    Args:
        axes: names of the picture's two axes.
        unit: of its lengths.
        places: (N, 2) of the vertices, the one in the middle first.
        vertices: (N,) their numbers.
        edges: (E, 2) pairs of places; every edge of the graph between these vertices.
        weights: (E,) of the edges.
        kept_edges: (E,) a share kappa, drawn without replacement, likelier where heavier.
        kept_vertices: (N,) a share kappa, drawn uniformly.
    """

    axes: tuple[str, ...]
    unit: str
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
        kappa: share of edges or vertices to keep, in [1e-9, 1]; at least one is kept.
        seed: of the draws.

    Raises:
        SpecError: the level, the vertex, kappa or the seed is out of range.
        NotDrawnError: no edge joins vertices around, in their orientation and plane.
        StoreError: the graph can't be read.
    """
    kappa = number("kappa", kappa, LEAST, 1)
    Asked(level, vertex, seed).check(graph)
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
    generator, shares = np.random.default_rng(seed), weights / weights.sum()
    return Subgraphs(
        places.directions[:2],
        places.unit,
        places.offsets(here, places.vectors[vertices % points])[:, :2] * places.visible,
        vertices,
        edges,
        weights,
        _kept(generator, len(edges), kappa, shares),
        _kept(generator, len(vertices), kappa),
    )


def _kept(
    generator: np.random.Generator, count: int, kappa: float, shares: Floats | None = None
) -> Kept:
    """A share of so many, at least one, drawn without replacement."""
    chosen = generator.choice(count, max(1, round(kappa * count)), replace=False, p=shares)
    return np.isin(np.arange(count), chosen)


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


def draw_subgraph(data: Subgraphs, edges: Any, vertices: Any, ax: Axes) -> None:
    """Draw a sub-graph; what is left out stays in the background.

    Args:
        data: of `subgraphs_of`.
        edges: (E,) bool, those that are kept.
        vertices: (N,) bool, those that are kept.
        ax: axes to draw on.
    """
    kept, inside, ends = np.asarray(edges), np.asarray(vertices), data.places[data.edges]
    widths = thickness(data.weights, data.weights.max(), 2.0)
    lines(ax, ends[~kept], FAINT, 0.3)
    lines(ax, ends[kept], SERIES[0], widths[kept])
    ax.plot(*data.places[~inside].T, ".", color=FAINT, markersize=2)
    ax.plot(*data.places[inside].T, ".", color=INK, markersize=4)
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set_xlabel(f"{data.axes[0]} ({data.unit})")
    ax.yaxis.set_inverted(True)  # as rows of an image


def _draw(graph: OpenedGraph, asked: Asked, figure: Canvas) -> str:
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
    number = data.vertices[0] // graph.spec.base_points(asked.level)
    where = f" of {named(graph.spec, number)}" if graph.spec.geometry.oriented else ""
    weight = float(data.weights[data.kept_edges].sum() / data.weights.sum())
    return (
        f"The {len(every_vertex):,} vertices around vertex {data.vertices[0]:,}{where} and the "
        f"{len(every_edge):,} edges among them; {data.kept_edges.sum():,} of these, the heavier "
        f"the likelier ({words.percent(weight)} of the weight); {data.kept_vertices.sum():,} of "
        f"the vertices with {among.sum():,} edges ({words.percent(float(among.mean()))})."
    )


FIGURE = Figure(
    "subgraphs", "Random sub-graphs, as training draws them", (6.75, 2.9), _draw, ("vertex", "seed")
)
