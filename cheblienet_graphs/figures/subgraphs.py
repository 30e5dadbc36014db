"""Random sub-graphs, drawn by the rules of training, of the part of a graph around a vertex."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.places import chosen_vertex
from cheblienet_graphs.figures.surroundings import Surroundings, same_point
from cheblienet_graphs.spec.fibres import word
from cheblienet_graphs.spec.units import visible_unit
from cheblienet_graphs.store.reader import weights_of
from cheblienet_graphs.typing import Floats, Indices

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
            f"No edge{where} is near vertex {middle:,} of {graph.name}; choose another `vertex`."
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
    rows = weights_of(around.graph.level(around.level)).rows(vertices).tocoo()
    order = vertices.argsort()
    place = np.minimum(np.searchsorted(vertices[order], rows.col), len(vertices) - 1)
    there = order[place]
    kept = (vertices[there] == rows.col) & (rows.row < there) & (rows.data > 0)
    return np.stack([rows.row[kept], there[kept]], axis=1), rows.data[kept]
