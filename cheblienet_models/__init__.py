"""Group-equivariant spectral networks on graphs mapped from a store.

Imports torch, numpy and the standard library, nothing else; shares only the on-disk format with the
packages that build graphs.
"""

from cheblienet_models.chebyshev import ChebConv
from cheblienet_models.checkpoints import load_weights
from cheblienet_models.errors import StoreError
from cheblienet_models.finite import check_finite
from cheblienet_models.graph import Graph, LevelMap, Pyramid, ignore_graphs_in_ddp
from cheblienet_models.lifting import Lift, Project
from cheblienet_models.networks.residual import ResidualBlock
from cheblienet_models.networks.unet import UNet
from cheblienet_models.networks.wide_resnet import WideResNet
from cheblienet_models.normalisation import BatchNorm
from cheblienet_models.pooling import GlobalPool, SpatialPool, SpatialUnpool
from cheblienet_models.portable import portable
from cheblienet_models.resampling import LatLonToVertices, VerticesToLatLon, regular_grid
from cheblienet_models.store import Store, open_store
from cheblienet_models.subgraphs import sample_edges, sample_vertices

__all__ = [
    "BatchNorm",
    "ChebConv",
    "GlobalPool",
    "Graph",
    "LatLonToVertices",
    "LevelMap",
    "Lift",
    "Project",
    "Pyramid",
    "ResidualBlock",
    "SpatialPool",
    "SpatialUnpool",
    "Store",
    "StoreError",
    "UNet",
    "VerticesToLatLon",
    "WideResNet",
    "check_finite",
    "ignore_graphs_in_ddp",
    "load_weights",
    "open_store",
    "portable",
    "regular_grid",
    "sample_edges",
    "sample_vertices",
]
