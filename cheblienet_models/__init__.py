"""Group-equivariant spectral networks on graphs mapped from a store.

Imports torch, numpy and the standard library, nothing else; shares only the on-disk format with the
packages that build graphs.
"""

from cheblienet_models.chebyshev import ChebConv
from cheblienet_models.errors import StoreError
from cheblienet_models.graph import Graph, LevelMap, Pyramid, ignore_graphs_in_ddp
from cheblienet_models.lifting import Lift, Project
from cheblienet_models.networks.wide_resnet import ResidualBlock, WideResNet
from cheblienet_models.normalisation import BatchNorm
from cheblienet_models.pooling import GlobalPool, SpatialPool, SpatialUnpool
from cheblienet_models.store import Store, open_store
from cheblienet_models.subgraphs import sample_edges, sample_vertices

__all__ = [
    "BatchNorm",
    "ChebConv",
    "GlobalPool",
    "Graph",
    "LevelMap",
    "Lift",
    "Project",
    "Pyramid",
    "ResidualBlock",
    "SpatialPool",
    "SpatialUnpool",
    "Store",
    "StoreError",
    "WideResNet",
    "ignore_graphs_in_ddp",
    "open_store",
    "sample_edges",
    "sample_vertices",
]
