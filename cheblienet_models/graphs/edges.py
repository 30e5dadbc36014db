"""The undirected edges of a graph, found in the entries of its Laplacian."""

from dataclasses import dataclass

import torch
from torch import Tensor


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


def edge_list(
    row_pointers: Tensor, columns: Tensor, values: Tensor, mass: Tensor, lambda_max: float
) -> EdgeList:
    """The edges of 2 Delta / lambda_max - I with Delta_ij = -w_ij / sqrt(m_i m_j).

    Args:
        row_pointers: (V + 1,) of a symmetric CSR matrix that stores its whole diagonal.
        columns: (nnz,).
        values: (nnz,).
        mass: (V,) m.
        lambda_max: upper bound of the spectrum of Delta.
    """
    columns = columns.long()
    vertices = torch.arange(len(mass), device=columns.device)
    rows = vertices.repeat_interleave(row_pointers.long().diff())
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
