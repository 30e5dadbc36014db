"""Graphs whose functions are compared with dense algebra, and that algebra."""

import numpy as np
import torch
from masks import islands
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph

SPECS = {
    "normalized": GraphSpec("se2", 8, orientations=4, levels=1),
    "combinatorial": GraphSpec(
        "se2", 8, orientations=4, weights="selling", boundary="periodic", levels=1
    ),
    "stiff": GraphSpec("se2", 8, orientations=4, weights="selling", xi=0.01, levels=1),
    "icosphere": GraphSpec("s2", subdivisions=2, levels=1),
    "icosphere-matched": GraphSpec("s2", subdivisions=2, weights="matched", neighbors=24, levels=1),
    "lone": GraphSpec("r2", mask=islands(), levels=1),
    "lone-combinatorial": GraphSpec("r2", mask=islands(), laplacian="combinatorial", levels=1),
}
"""lambda_max from 1.4 to 9e4; areas equal and not, degrees equal, not, and 0."""

GRAPHS = ["normalized", "combinatorial", "stiff", "icosphere", "icosphere-matched", "lone"]


def signal(graph: Graph, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(2, 3, graph.num_vertices, dtype=dtype)


def far(result: Tensor, expected: Tensor, x: Tensor) -> float:
    """The largest error of a channel, in units of its signal's norm."""
    return float(((result.double() - expected).norm(dim=2) / x.double().norm(dim=2)).max())


def delta(graph: Graph, *, training: bool = False) -> np.ndarray:
    """(V, V) float64 Delta, from the stored entries one by one; the diagonal from the others."""
    pointers, columns, values = (part.numpy() for part in graph.laplacian_parts(training=training))
    size = graph.num_vertices
    dense = np.zeros((size, size))
    dense[np.repeat(np.arange(size), np.diff(pointers)), columns] = values
    root = np.sqrt(graph.mass.double().numpy())
    np.fill_diagonal(dense, 0)
    joined = root > 0
    dense[joined, joined] = -1 - (dense @ root)[joined] / root[joined]
    dense[~joined, ~joined] = -1
    return (dense + np.eye(size)) * (graph.lambda_max / 2)


def by_eigenvectors(matrix: np.ndarray, function: object, x: Tensor) -> Tensor:
    """f(Delta) x in float64, x (B, C, V), f of numpy arrays."""
    values, vectors = np.linalg.eigh(matrix)
    return torch.from_numpy(x.double().numpy() @ (vectors * function(values)) @ vectors.T)
