"""Pyramids with encoders and decoders, built once, for tests of what other libraries are given."""

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
import torch
from stores import folder

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map
from cheblienet_models import Graph, Pyramid, VertexMap

SPHERE = GraphSpec("s2", gaussian="O8")
PLANE = GraphSpec("r2", coordinates=np.random.default_rng(4).random((90, 2)), domain=(0, 0, 1, 1))
MESHES = {
    "sphere": (SPHERE, GraphSpec("s2", subdivisions=2, levels=2)),
    "one-sphere": (SPHERE, GraphSpec("s2", subdivisions=2, levels=1)),
    "refined": (SPHERE, GraphSpec("s2", refined=(1, 3, 0, 20, 60, 60), weights="voronoi")),
    "plane": (PLANE, GraphSpec("r2", 8, weights="selling", levels=2)),
    "turns": (
        GraphSpec("se2", 6, orientations=4, boundary="periodic"),
        GraphSpec("se2", 4, orientations=4, boundary="periodic", levels=2),
    ),
}


@cache
def coupled(name: str) -> tuple[Pyramid, VertexMap, VertexMap]:
    """A pyramid, an encoder to its finest level and a decoder from it."""
    store, (data, mesh) = folder() / "g.zarr", MESHES[name]
    encoder = build_map(MapSpec(data, mesh, neighbors=3), store, name="encoder").open()
    decoder = build_map(MapSpec(mesh, data, neighbors=4), store, name="decoder").open()
    return build(mesh, store, name="mesh").open(), encoder, decoder


def sparse(edges: torch.Tensor, values: torch.Tensor, shape: tuple[int, int]) -> Any:
    """(targets, sources) of edges that are all different."""
    source, target = edges.numpy()
    matrix = scipy.sparse.coo_array((values.flatten().numpy(), (target, source)), shape=shape)
    assert len(np.unique(target * shape[1] + source)) == len(source)
    return matrix.tocsr()


def weights_of(graph: Graph) -> Any:
    """W of the edges by number."""
    edges, shape = graph.edges, (graph.num_vertices,) * 2
    ends = torch.stack([edges.first, edges.second])
    return sparse(ends, edges.weights, shape) + sparse(ends.flip(0), edges.weights, shape)
