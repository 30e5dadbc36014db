"""Group-equivariant spectral networks on graphs mapped from a store.

Imports torch, numpy, the standard library, and what `cheblienet_graphs` has on its numpy floor: the
store, the specification, samplings and manifolds.
"""

from cheblienet_models.errors import StoreError, UnreadableError
from cheblienet_models.fields import (
    Gaussian,
    Matern,
    inpaint,
    noise_matrix,
    random_field,
    smooth,
    smoothing_matrix,
)
from cheblienet_models.graphs.checkpoints import load_weights
from cheblienet_models.graphs.connection import Connection
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.mapped import ignore_graphs_in_ddp
from cheblienet_models.graphs.pyramid import LevelMap, Pyramid
from cheblienet_models.graphs.subgraphs import sample_edges, sample_vertices
from cheblienet_models.graphs.vertex_map import VertexMap
from cheblienet_models.harmonics import FromHarmonics, ToHarmonics, harmonics_matrix, largest_degree
from cheblienet_models.layers.cheb_conv import ChebConv, low_pass_
from cheblienet_models.layers.derivatives import Gradient, GradientNorm
from cheblienet_models.layers.diffusion import Diffusion
from cheblienet_models.layers.lifting import Lift, Project
from cheblienet_models.layers.modulus import Modulus
from cheblienet_models.layers.oriented_lift import OrientedLift
from cheblienet_models.layers.pooling import GlobalPool, SpatialPool, SpatialUnpool
from cheblienet_models.layers.portable import portable
from cheblienet_models.missing import UNSEEN, check_finite
from cheblienet_models.networks.blocks import BatchNorm, ResidualBlock
from cheblienet_models.networks.unet import UNet
from cheblienet_models.networks.wide_resnet import WideResNet
from cheblienet_models.opening import Store, open_store
from cheblienet_models.resampling import LatLonToVertices, VerticesToLatLon, regular_grid
from cheblienet_models.tensors import save_npz

__all__ = [
    "UNSEEN",
    "BatchNorm",
    "ChebConv",
    "Connection",
    "Diffusion",
    "FromHarmonics",
    "Gaussian",
    "GlobalPool",
    "Gradient",
    "GradientNorm",
    "Graph",
    "LatLonToVertices",
    "LevelMap",
    "Lift",
    "Matern",
    "Modulus",
    "OrientedLift",
    "Project",
    "Pyramid",
    "ResidualBlock",
    "SpatialPool",
    "SpatialUnpool",
    "Store",
    "StoreError",
    "ToHarmonics",
    "UNet",
    "UnreadableError",
    "VertexMap",
    "VerticesToLatLon",
    "WideResNet",
    "check_finite",
    "harmonics_matrix",
    "ignore_graphs_in_ddp",
    "inpaint",
    "largest_degree",
    "load_weights",
    "low_pass_",
    "noise_matrix",
    "open_store",
    "portable",
    "random_field",
    "regular_grid",
    "sample_edges",
    "sample_vertices",
    "save_npz",
    "smooth",
    "smoothing_matrix",
]
