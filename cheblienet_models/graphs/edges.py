"""The edges of graphs and maps, where sources lie as seen from targets, and sets of both.

Logarithms come from `cheblienet_graphs.manifolds`, so that each manifold has one formula.
"""

import operator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from cheblienet_graphs.manifolds.moments import edge_components
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.map_spec import extent
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.filters import Operator
from cheblienet_models.tensors import CsrParts

Kind = tuple[str, str, str]
"""The kind of edges between sets of nodes, as in PyG: (from, "to", to)."""


class EdgeList:
    """The undirected edges of a whole graph, and where the Laplacian holds them.

    By 2 Delta / lambda_max - I and Delta_ij = -w_ij / sqrt(m_i m_j). The Laplacian is symmetric,
    with its whole diagonal stored.

    Attributes:
        first, second: (edges,) int64 end points, first < second.
        weights: (edges,) in the dtype of the Laplacian.
        upper, lower: (edges,) int64 entry of (first, second) and of (second, first).
        diagonal: (V,) int64 entries.
    """

    def __init__(self, whole: Operator) -> None:
        rows = whole.laplacian.rows()
        columns = whole.laplacian.columns.long()
        # The pattern is symmetric: its entries by columns are its entries by rows, transposed.
        mirror = torch.empty_like(rows)
        mirror[columns.argsort(stable=True)] = torch.arange(len(rows), device=rows.device)
        self.upper = upper = (rows < columns).nonzero()[:, 0]
        self.lower, self.diagonal = mirror[upper], (rows == columns).nonzero()[:, 0]
        self.first, self.second = ends = rows[upper], columns[upper]
        self.weights = _weights(whole, whole.laplacian.values[upper], *ends)


def _weights(whole: Operator, entries: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """(n,) w_ij of entries 2 Delta_ij / lambda_max of the Laplacian."""
    mass = whole.mass.to(entries)
    return -entries * (whole.lambda_max / 2) * mass[first].sqrt() * mass[second].sqrt()


class Neighbors(NamedTuple):
    """The edges of a vertex of the whole graph, also where a random sub-graph is drawn.

    Args:
        vertices: (N,) int64, ascending: where they lead. Of a graph with a mask compact numbers, as
            of its signals; `graph.base_index[vertices % graph.num_points]` are places in the full
            sampling, `vertices // graph.num_points` orientations.
        weights: (N,) in the dtype of the Laplacian, w_ij of Delta_ij = -w_ij / sqrt(m_i m_j), m the
            graph's `mass`.
        coordinates: (N, d) float64 coordinates there, as of `graph.coordinates`.
    """

    vertices: Tensor
    weights: Tensor
    coordinates: Tensor


def neighbors_of(whole: Operator, coordinates: Tensor, vertex: int) -> Neighbors:
    """The edges of a vertex in [0, V), on the device of the graph.

    Args:
        whole: the Laplacian of the whole graph.
        coordinates: (V, d) float64.
        vertex: as above.

    Raises:
        ValueError: there is no such vertex, or it is no whole number.
    """
    try:
        number = operator.index(vertex)
    except (TypeError, RuntimeError):  # of a tensor without values
        number = -1
    if isinstance(vertex, bool) or not 0 <= number < len(coordinates):
        raise ValueError(
            f"vertex of {whole.label} must be an integer in [0, {len(coordinates) - 1}]. "
            f"Got {quoted(vertex)}."
        )
    pointers, columns, values = whole.laplacian
    row = slice(*pointers[number : number + 2].tolist())
    edge = columns[row] != number
    vertices = columns[row][edge].long()
    weights = _weights(whole, values[row][edge], vertices, torch.tensor(number))
    return Neighbors(vertices, weights, coordinates[vertices])


@dataclass(frozen=True)
class EdgeSet:
    """Edges, targets ascending.

    Args:
        edge_index: (2, E) int64, sources and targets.
        edge_weight: (E,).
        edge_attr: (E, dim), of the dtype of the weights: components of log g^-1 h, h the source, g
            the target.
    """

    edge_index: Tensor
    edge_weight: Tensor
    edge_attr: Tensor


@dataclass(frozen=True)
class NodeSet:
    """Points.

    Args:
        label: of what they were opened from.
        pos: (V, d) float64 coordinates.
        area: (V,) with mean 1; None where it is not known.
    """

    label: str
    pos: Tensor
    area: Tensor | None = None


@dataclass(frozen=True)
class Coupled:
    """Sets of nodes and edges.

    Args:
        spec: of the pyramid.
        hidden: names of the levels' nodes, the finest first.
        nodes: by name.
        edges: by names of nodes, each with the label of what it was opened from.
    """

    spec: GraphSpec
    hidden: tuple[str, ...]
    nodes: dict[str, NodeSet]
    edges: dict[Kind, tuple[str, EdgeSet]]


def edges_of_map(spec: GraphSpec, weights: CsrParts, sources: Tensor, targets: Tensor) -> EdgeSet:
    """The edges of a matrix.

    Args:
        spec: of the points.
        weights: (targets, sources).
        sources: (sources, d) float64 coordinates.
        targets: (targets, d) float64 coordinates.
    """
    ends = torch.stack([weights.columns.long(), weights.rows()])
    return _edge_set(spec, ends, weights.values, (sources, targets))


def edges_of_graph(spec: GraphSpec, whole: Operator, coordinates: Tensor) -> EdgeSet:
    """Both directions of the edges of a whole graph, also where a random sub-graph is drawn.

    Args:
        spec: of the points.
        whole: the Laplacian of the whole graph.
        coordinates: (V, d) float64.
    """
    both = torch.stack([whole.laplacian.columns.long(), whole.laplacian.rows()])
    edge = both[0] != both[1]
    ends = both[:, edge]
    entries = whole.laplacian.values[edge]
    weights = _weights(whole, entries, *ends.sort(0).values)
    return _edge_set(spec, ends, weights, (coordinates, coordinates))


def _edge_set(
    spec: GraphSpec, ends: Tensor, weights: Tensor, points: tuple[Tensor, Tensor]
) -> EdgeSet:
    """Edges (2, E) between sources and targets with given coordinates."""
    periods = extent(spec) if spec.boundary == "periodic" else None
    source, target = (p[which].cpu().numpy() for p, which in zip(points, ends, strict=True))
    components = torch.from_numpy(edge_components(spec.geometry, target, source, periods))
    return EdgeSet(ends, weights, components.to(weights))
