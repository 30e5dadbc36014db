"""Graphs that other programs saved: folders of neural-lam, files of anemoi-graphs.

Both are files of torch, which are read without running code that they may hold.
"""

import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.errors import InputError
from cheblienet_graphs.typing import Floats, Indices

EDGES, FEATURES, MESH = "_edge_index", "_features", "mesh_features"
"""Ends of the names of neural-lam's files, and the file of its mesh nodes."""
ENDS: dict[str, tuple[int | str, int | str]] = {
    "g2m": ("grid", 0),
    "m2g": (0, "grid"),
    "m2m": (0, 0),
    "mesh_up": (0, 1),
    "mesh_down": (1, 0),
}
"""Nodes that neural-lam's edges lead from and to: the grid, or a level relative to the number."""


@dataclass(frozen=True)
class SavedEdges:
    """Edges between two sets of nodes, or within one.

    Args:
        name: such as "m2m 0" or "data -> hidden".
        source, target: names of the nodes.
        sources, targets: their numbers.
        edges: (2, E) sources and targets, from 0.
        lengths: (E,); None where they are not recorded.
    """

    name: str
    source: str
    target: str
    sources: int
    targets: int
    edges: Indices
    lengths: Floats | None


def saved_by_others(path: Path) -> bool:
    """True if a path is a folder as neural-lam has them, or a file of torch."""
    with suppress(OSError, ValueError):  # of a name that no file can have
        if path.is_dir():
            return any(path.glob(f"*{EDGES}.pt"))
        return path.suffix == ".pt" and path.is_file()
    return False


def read_edges(path: Path) -> list[SavedEdges]:
    """The sets of edges of a folder of neural-lam, or of a file of anemoi-graphs.

    Raises:
        InputError: a file can't be read, or has another form.
    """
    try:
        return [*(_neural_lam(path) if path.is_dir() else _hetero(path))]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
        raise InputError(
            f"{path} is not as neural-lam or anemoi-graphs saves graphs: {error}. Save it again."
        ) from error


def _neural_lam(folder: Path) -> Iterator[SavedEdges]:
    """Its sets of edges, level by level."""
    files = {file.stem: _loaded(file) for file in sorted(folder.glob("*.pt"))}
    meshes = [len(level) for level in _levels(files[MESH])]
    grid = _grid_points(files)
    for name, (source, target) in ENDS.items():
        if f"{name}{EDGES}" not in files:
            continue
        features = _levels(files.get(f"{name}{FEATURES}"))
        for number, edges in enumerate(_levels(files[f"{name}{EDGES}"])):
            ends = [_end(side, number, meshes, grid) for side in (source, target)]
            lengths = features[number][:, 0] if number < len(features) else None
            title = (
                f"{name} {number}" if len(meshes) > 1 and "grid" not in (source, target) else name
            )
            yield _edge_set(title, ends, edges, lengths)


def _end(side: int | str, number: int, meshes: list[int], grid: int) -> tuple[str, int]:
    """The name and the number of the nodes at an end of edges."""
    if isinstance(side, str):
        return side, grid
    return f"mesh {number + side}", meshes[number + side]


def _grid_points(files: Mapping[str, Any]) -> int:
    """The number of grid nodes, of which neural-lam saves nothing else."""
    senders, receivers = files[f"g2m{EDGES}"][0], files[f"m2g{EDGES}"][1]
    return 1 + int(max(senders.max() - senders.min(), receivers.max() - receivers.min()))


def _levels(saved: Any) -> list[Any]:
    """A list with an item for each level; a single one is the finest."""
    if saved is None:
        return []
    return [*saved] if isinstance(saved, list | tuple) else [saved]


def _hetero(file: Path) -> Iterator[SavedEdges]:
    """The sets of edges of a HeteroData."""
    graph = _loaded(file)
    for kind in graph.edge_types:
        edges, (source, _, target) = graph[kind], kind
        lengths = edges.edge_length[:, 0] if "edge_length" in edges else None
        ends = [(name, int(graph[name].num_nodes)) for name in (source, target)]
        yield _edge_set(f"{source} -> {target}", ends, edges.edge_index, lengths)


def _edge_set(name: str, ends: list[tuple[str, int]], edges: Any, lengths: Any) -> SavedEdges:
    """A set of edges as arrays, numbered from 0.

    Files of older versions of neural-lam number the nodes of all levels and of the grid on.

    Raises:
        ValueError: edges are no pairs of nodes.
    """
    pairs = np.asarray(edges).astype(np.int64)
    if pairs.ndim != 2 or len(pairs) != 2:
        raise ValueError(f"edges {name} are of shape {pairs.shape}, not (2, E)")
    rows = [_from_zero(name, row, *end) for row, end in zip(pairs, ends, strict=True)]
    (source, sources), (target, targets) = ends
    known = None if lengths is None else np.asarray(lengths).astype(np.float64)
    return SavedEdges(name, source, target, sources, targets, np.stack(rows), known)


def _from_zero(name: str, numbers: Indices, nodes: str, count: int) -> Indices:
    """Numbers of nodes, from 0.

    Raises:
        ValueError: there are not so many nodes.
    """
    if not len(numbers):
        return numbers
    low, high = int(numbers.min()), int(numbers.max())
    if low >= 0 and high < count:
        return numbers
    if high - low >= count or low < 0:
        raise ValueError(f"edges {name} name nodes {low} to {high} of {nodes}, which has {count}")
    return numbers - low


def _loaded(file: Path) -> Any:
    """The contents of a file of torch, read without running code.

    Raises:
        InputError: it can't be read, or holds something besides tensors and graphs.
    """
    import torch

    try:
        with torch.serialization.safe_globals(_graph_classes()):
            return torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{file} holds more than tensors and a graph of torch_geometric, which is not read, as "
            "it could run code. Save the HeteroData alone; its graphs need torch_geometric: pip "
            "install 'cheblienet[pyg]'."
        ) from error
    except (OSError, EOFError, RuntimeError) as error:
        raise InputError(f"{file} can't be read: {' '.join(str(error).split())}") from error


def _graph_classes() -> list[Any]:
    """The classes that a HeteroData consists of; empty where torch_geometric is missing."""
    try:
        from torch_geometric.data import feature_store, graph_store, hetero_data, storage
    except ModuleNotFoundError:
        return []
    stores = [storage.BaseStorage, storage.EdgeStorage, storage.NodeStorage]
    attributes = [graph_store.EdgeAttr, feature_store.TensorAttr]
    return [hetero_data.HeteroData, *stores, *attributes]
