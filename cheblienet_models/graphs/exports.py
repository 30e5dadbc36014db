"""Graphs as other libraries have them.

PyTorch Geometric has `Data` and `HeteroData`; node sets, edge sets and the names of the latter's
attributes follow anemoi-graphs 0.9. Folders are as neural-lam reads them, of its graph
specification 0.1.0.
"""

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cheblienet_graphs.spec import GraphSpec
from cheblienet_models.graphs.edges import Coupled, EdgeSet, edges_of_graph
from cheblienet_models.graphs.filters import Operator

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

NOWHERE = 1e-8
"""Edges shorter than this have no direction."""
PLANAR = ("r2", "s2")
"""Manifolds of which there are folders."""
METAINFO = "spec_version: 0.1.0\n"


def pyg_data(spec: GraphSpec, whole: Operator, pos: Tensor) -> "Data":
    """A graph of points (V, d) and the edges of its Laplacian.

    Raises:
        ModuleNotFoundError: torch_geometric is not installed.
    """
    made = _torch_geometric().data.Data
    return made(num_nodes=len(pos), pos=pos, **vars(edges_of_graph(spec, whole, pos)))


def pyg_hetero(network: Coupled) -> "HeteroData":
    """Sets of nodes and edges.

    Raises:
        ModuleNotFoundError: torch_geometric is not installed.
    """
    made = _torch_geometric().data.HeteroData()
    spherical = not network.spec.geometry.base.flat
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
        if network.spec.manifold == "s2":
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


def save_neural_lam(folder: Path, network: Coupled, unit: float) -> Path:
    """Write sets of nodes and edges, with an encoder and a decoder, into a new or empty folder.

    Args:
        folder: to be written.
        network: the sets.
        unit: by which lengths are multiplied.

    Raises:
        ValueError: they are neither of the plane nor of the sphere, something is in the folder, or
            the unit is not positive and finite.
        OSError: it can't be written.
    """
    manifold = network.spec.manifold
    if manifold not in PLANAR:
        raise ValueError(
            f"neural-lam's graphs have nodes at x, y: those of {' and '.join(PLANAR)}. "
            f"Got {manifold}."
        )
    if not 0 < unit < math.inf:
        raise ValueError(f"unit must be positive and finite. Got {unit}.")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(f"folder must be new, or empty. Got {folder}: choose another.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, tensors in _files(network, unit):
        torch.save(tensors, folder / f"{name}.pt")
    (folder / "metainfo.yaml").write_text(METAINFO, encoding="utf-8")
    return folder


def _files(network: Coupled, unit: float) -> Iterator[tuple[str, Any]]:
    """Names of files, and the tensors or the lists by level that they hold."""
    hidden = network.hidden
    finest = hidden[0]
    pairs = [*itertools.pairwise(hidden)]
    turned = not network.spec.geometry.base.flat
    between = {"g2m": ("data", finest), "m2g": (finest, "data")}
    for name, (one, other) in between.items():
        yield from _edges(name, network.edges[one, "to", other][1], unit, turned=turned)
    lists = {"m2m": [(name, name) for name in hidden]}
    if pairs:
        lists |= {"mesh_up": pairs, "mesh_down": [pair[::-1] for pair in pairs]}
    for name, ends in lists.items():
        known = [network.edges[one, "to", other][1] for one, other in ends]
        sets = [dict(_edges(name, edges, unit, turned=turned)) for edges in known]
        for file in sets[0]:
            yield file, [each[file] for each in sets]
    yield "mesh_features", [unit * _features(network, name) for name in hidden]


def _features(network: Coupled, name: str) -> Tensor:
    """(V, 2) float32 x and y of nodes, or longitudes and latitudes, radians."""
    pos = network.nodes[name].pos
    places = pos.float() if network.spec.geometry.base.flat else latitudes_longitudes(pos).flip(1)
    return places.contiguous().cpu()


def _edges(name: str, edges: EdgeSet, unit: float, *, turned: bool) -> Iterator[tuple[str, Tensor]]:
    """Senders and receivers, (2, E) int64; lengths and components, (E, 3) float32.

    Components are along x and y of the nodes: east and north on the sphere, where the frame is
    south and east.
    """
    components = unit * edges.edge_attr.float()
    if turned:
        south, east = components.T
        components = torch.stack([east, -south], dim=1)
    length = components.norm(dim=1, keepdim=True)
    yield f"{name}_edge_index", edges.edge_index.cpu()
    yield f"{name}_features", torch.cat([length, components], dim=1).cpu()
