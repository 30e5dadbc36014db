"""Graphs as PyTorch Geometric has them, `Data` and `HeteroData`; the latter as anemoi-graphs does.

Node sets, edge sets and the names of their attributes are those of anemoi-graphs 0.9.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cheblienet_models.graphs.edges import Coupled, EdgeSet, edges_of_graph
from cheblienet_models.graphs.filters import Operator
from cheblienet_models.graphs.identity import is_spherical

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

NOWHERE = 1e-8
"""Edges shorter than this have no direction."""


def data(spec: Mapping[str, Any], whole: Operator, pos: Tensor) -> "Data":
    """A graph of points (V, d) and the edges of its Laplacian.

    Raises:
        ModuleNotFoundError: torch_geometric is not installed.
    """
    made = _torch_geometric().data.Data
    return made(num_nodes=len(pos), pos=pos, **vars(edges_of_graph(spec, whole, pos)))


def hetero(network: Coupled) -> "HeteroData":
    """Sets of nodes and edges.

    Raises:
        ModuleNotFoundError: torch_geometric is not installed.
    """
    made = _torch_geometric().data.HeteroData()
    spherical = is_spherical(network.spec)
    for name, nodes in network.nodes.items():
        made[name].num_nodes, made[name].pos = len(nodes.pos), nodes.pos
        made[name].node_type = nodes.label
        if spherical:
            made[name].x = latitudes_longitudes(nodes.pos)
        if nodes.area is not None:
            made[name].area_weight = nodes.area[:, None]
    for kind, (label, edges) in network.edges.items():
        made[kind].edge_index, made[kind].edge_attr = edges.edge_index, edges.edge_attr
        made[kind].edge_weight, made[kind].edge_type = edges.edge_weight[:, None], label
        if network.spec["manifold"] == "s2":
            for attribute, values in _on_the_sphere(edges, network.nodes[kind[2]].pos):
                made[kind][attribute] = values
    return made


def latitudes_longitudes(pos: Tensor) -> Tensor:
    """(V, 2) float32 latitudes and longitudes of points over the sphere, radians."""
    beta, gamma = pos[:, -2:].T
    return torch.stack([math.pi / 2 - beta, gamma], dim=1).float()


def _on_the_sphere(edges: EdgeSet, targets: Tensor) -> Iterator[tuple[str, Tensor]]:
    """`edge_length` (E, 1) and `edge_dirs` (E, 2).

    The latter are in the frame to which the sphere takes a target's when it turns that target to
    the north pole along its meridian: there south is at the longitude of the target.
    """
    length = edges.edge_attr.norm(dim=1, keepdim=True)
    south, east = (edges.edge_attr / length.clamp(min=NOWHERE)).T
    gamma = targets[edges.edge_index[1], 1]
    cos, sin = gamma.cos().to(length), gamma.sin().to(length)
    directions = torch.stack([cos * south - sin * east, sin * south + cos * east], dim=1)
    yield "edge_length", length
    yield "edge_dirs", directions


def _torch_geometric() -> Any:
    """The library.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    try:
        import torch_geometric.data  # an extra
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Graphs of PyTorch Geometric need torch_geometric, which is not installed. Install it: "
            "pip install 'cheblienet[pyg]'."
        ) from error
    return torch_geometric
