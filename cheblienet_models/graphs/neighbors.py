"""The edges of one vertex, read from its row of the Laplacian."""

import operator
from typing import NamedTuple

from torch import Tensor

from cheblienet_models.errors import quoted


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
    parts: tuple[Tensor, Tensor, Tensor],
    lambda_max: float,
    mass: Tensor,
    coordinates: Tensor,
    vertex: int,
) -> Neighbors:
    """The edges of a vertex.

    Args:
        label: of the graph.
        parts: row pointers (V + 1,), columns (nnz,) and values (nnz,) of 2 Delta / lambda_max - I.
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
    pointers, columns, values = parts
    row = slice(*pointers[number : number + 2].tolist())
    edge = columns[row] != number
    vertices, entries = columns[row][edge].long(), values[row][edge]
    roots = mass[vertices].to(entries).sqrt() * mass[number].to(entries).sqrt()
    return Neighbors(vertices, -entries * (lambda_max / 2) * roots, coordinates[vertices])
