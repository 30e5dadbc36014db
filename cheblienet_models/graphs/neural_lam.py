"""Folders of graphs as neural-lam reads them, of its graph specification 0.1.0."""

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cheblienet_models.graphs.edges import Coupled, EdgeSet
from cheblienet_models.graphs.identity import is_spherical
from cheblienet_models.graphs.pyg import latitudes_longitudes

PLANAR = ("r2", "s2")
"""Manifolds of which there are folders."""
METAINFO = "spec_version: 0.1.0\n"


def save(folder: Path, network: Coupled, unit: float) -> Path:
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
    manifold = network.spec["manifold"]
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
    finest, pairs = hidden[0], [*itertools.pairwise(hidden)]
    yield from _edges("g2m", network.edges["data", "to", finest][1], unit)
    yield from _edges("m2g", network.edges[finest, "to", "data"][1], unit)
    lists = {"m2m": [(name, name) for name in hidden]}
    if pairs:
        lists |= {"mesh_up": pairs, "mesh_down": [pair[::-1] for pair in pairs]}
    for name, ends in lists.items():
        sets = [dict(_edges(name, network.edges[one, "to", other][1], unit)) for one, other in ends]
        for file in sets[0]:
            yield file, [each[file] for each in sets]
    yield "mesh_features", [unit * _features(network, name) for name in hidden]


def _features(network: Coupled, name: str) -> Tensor:
    """(V, 2) float32 x and y of nodes, or longitudes and latitudes, radians."""
    pos = network.nodes[name].pos
    places = latitudes_longitudes(pos).flip(1) if is_spherical(network.spec) else pos.float()
    return places.contiguous().cpu()


def _edges(name: str, edges: EdgeSet, unit: float) -> Iterator[tuple[str, Tensor]]:
    """Senders and receivers, (2, E) int64; lengths and components, (E, 3) float32."""
    components = unit * edges.edge_attr.float()
    length = components.norm(dim=1, keepdim=True)
    yield f"{name}_edge_index", edges.edge_index.cpu()
    yield f"{name}_features", torch.cat([length, components], dim=1).cpu()
