"""The undirected edges of a graph, found in the entries of its Laplacian."""

import operator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from cheblienet_models.errors import quoted
from cheblienet_models.tensors import Csr


@dataclass(frozen=True)
class EdgeList:
    """The undirected edges of a graph, and where the Laplacian holds them.

    Args:
        first, second: (edges,) int64 end points, first < second.
        weights: (edges,) in the dtype of the Laplacian.
        upper, lower: (edges,) int64 entry of (first, second) and of (second, first).
        diagonal: (V,) int64 entries.
    """

    first: Tensor
    second: Tensor
    weights: Tensor
    upper: Tensor
    lower: Tensor
    diagonal: Tensor


def edge_list(laplacian: Csr, mass: Tensor, lambda_max: float) -> EdgeList:
    """The edges of 2 Delta / lambda_max - I with Delta_ij = -w_ij / sqrt(m_i m_j).

    Args:
        laplacian: symmetric, with its whole diagonal stored.
        mass: (V,) m.
        lambda_max: upper bound of the spectrum of Delta.
    """
    columns, values = laplacian.columns.long(), laplacian.values
    vertices = torch.arange(len(mass), device=columns.device)
    rows = vertices.repeat_interleave(laplacian.row_pointers.long().diff())
    # The pattern is symmetric: by columns its entries are those by rows, transposed.
    mirror = torch.empty_like(rows)
    mirror[columns.argsort(stable=True)] = torch.arange(len(rows), device=rows.device)
    upper = (rows < columns).nonzero()[:, 0]
    first, second = rows[upper], columns[upper]
    root = mass.to(values).sqrt()
    return EdgeList(
        first,
        second,
        -values[upper] * (lambda_max / 2) * root[first] * root[second],
        upper,
        mirror[upper],
        (rows == columns).nonzero()[:, 0],
    )


def directed(laplacian: Csr, mass: Tensor, lambda_max: float) -> Csr:
    """W as a matrix without its diagonal: both directions of each edge.

    Args:
        laplacian: 2 Delta / lambda_max - I with Delta_ij = -w_ij / sqrt(m_i m_j).
        mass: (V,) m.
        lambda_max: its scale.
    """
    count = laplacian.row_pointers.long().diff()
    rows = torch.arange(len(mass), device=count.device).repeat_interleave(count)
    edge = laplacian.columns != rows
    rows, columns = rows[edge], laplacian.columns[edge]
    root = mass.to(laplacian.values).sqrt()
    low, high = torch.minimum(rows, columns), torch.maximum(rows, columns)  # both with one rounding
    weights = -laplacian.values[edge] * (lambda_max / 2) * root[low] * root[high]
    degrees = rows.bincount(minlength=len(mass))
    return Csr(torch.cat([degrees.new_zeros(1), degrees.cumsum(0)]), columns, weights)


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


def neighbors_of(
    label: str,
    laplacian: Csr,
    lambda_max: float,
    mass: Tensor,
    coordinates: Tensor,
    vertex: int,
) -> Neighbors:
    """The edges of a vertex.

    Args:
        label: of the graph.
        laplacian: 2 Delta / lambda_max - I.
        lambda_max: its scale.
        mass: (V,) m.
        coordinates: (V, d).
        vertex: in [0, V).

    Returns:
        Tensors on the device of the graph.

    Raises:
        ValueError: there is no such vertex, or it is no whole number.
    """
    try:
        number = operator.index(vertex)
    except TypeError:
        number = -1
    if isinstance(vertex, bool) or not 0 <= number < len(mass):
        raise ValueError(
            f"vertex of {label} must be an integer in [0, {len(mass) - 1}]. Got {quoted(vertex)}."
        )
    pointers, columns, values = laplacian
    row = slice(*pointers[number : number + 2].tolist())
    edge = columns[row] != number
    vertices, entries = columns[row][edge].long(), values[row][edge]
    roots = mass[vertices].to(entries).sqrt() * mass[number].to(entries).sqrt()
    return Neighbors(vertices, -entries * (lambda_max / 2) * roots, coordinates[vertices])
