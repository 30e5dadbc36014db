"""Graphs with stored eigenpairs that several tests read."""

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph
from cheblienet_models.tensors import announce_sparse

SPECS = {
    "kernel": GraphSpec("se2", 8, orientations=6, levels=1, eigenpairs=384),
    "selling": GraphSpec("se2", 8, orientations=6, weights="selling", levels=1, eigenpairs=384),
    "matched": GraphSpec("se2", 8, orientations=6, weights="matched", levels=1, eigenpairs=384),
    "sphere": GraphSpec(
        "so3", subdivisions=1, orientations=3, laplacian="combinatorial", levels=1, eigenpairs=126
    ),
    "few": GraphSpec("se2", 16, orientations=6, weights="selling", levels=2, eigenpairs=20),
}
WHOLE = ["kernel", "selling", "matched", "sphere"]


def delta_of(graph: Graph, values: Tensor) -> np.ndarray:
    """(V, V) the dense Delta, in float64, of values (nnz,) that are rescaled."""
    parts = (graph.row_pointers, graph.columns, values)
    size = (graph.num_vertices,) * 2
    announce_sparse()  # or the first test to make such a tensor, in any order, is warned
    matrix = torch.sparse_csr_tensor(*parts, size=size, check_invariants=True)
    return (matrix.to_dense().double().numpy() + np.eye(size[0])) * graph.lambda_max / 2
