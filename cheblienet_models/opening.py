"""Opening graphs that were published in a store: zarr-free, zero-copy, failing closed."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import torch
from torch import nn

from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.groups import graph_faults, group_fault
from cheblienet_graphs.store.layout import store_path
from cheblienet_models.arguments import file_path, flag
from cheblienet_models.errors import StoreError, UnreadableError, quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import made_of
from cheblienet_models.graphs.pyramid import LevelMap, Pyramid
from cheblienet_models.graphs.vertex_map import VertexMap
from cheblienet_models.store.version import (
    StoredMap,
    UnknownGraphError,
    check_schema,
    is_map,
    read_map,
    read_version,
    versions_of,
)

Opened = TypeVar("Opened", Pyramid, VertexMap)
Place = tuple[str, str, str]
"""Path of the store, name and version."""


def open_store(path: str | Path, *, verify: bool = False) -> "Store":
    """Open a store of graphs.

    Args:
        path: the folder that `clg build` wrote.
        verify: whether to compare the size and the digest of every file of a graph that is opened
            with what was published, besides the checks that are always made. What is written into
            files later is not noticed.

    Raises:
        TypeError: path is no path.
        StoreError: there is no store, or one of a format that this version can't read.
    """
    return Store(store_path(file_path("path", path)), verify=verify)


@torch.inference_mode(mode=False)
def open_version(
    path: str, name: str, version: str, sha256: str | None = None
) -> Pyramid | VertexMap:
    """Map one version of a graph or a map. This is what unpickling them calls.

    Args:
        path: of the store.
        name: of the graph or the map.
        version: of it.
        sha256: digest of what was pickled; None in pickles of earlier releases.

    Raises:
        StoreError: it is missing or not valid, or another one than was pickled.
    """
    try:
        with Folder(path).kept_open() as root:
            return _opened(root, (path, name, version), sha256)
    except UnreadableError:
        raise
    except StoreError as error:
        raise StoreError(
            f"{error} Pickles hold no graph but where {name}@{version} was, in {path}: put the "
            "store back or link to it there, or take weights to other places as a state_dict()."
        ) from error


def _opened(
    root: Folder, place: Place, sha256: str | None = None, *, verify: bool = False
) -> Pyramid | VertexMap:
    """The modules over a version's arrays; each is pickled as how to open it again.

    Raises:
        StoreError: it is missing or not valid, or has another digest than is asked for.
    """
    _, name, version = place
    folder, label = root / name / version, f"{name}@{version}"
    read = read_map if is_map(folder) else read_version
    stored = read(folder, label, verify=verify)
    if sha256 not in {None, stored.sha256}:
        raise StoreError(f"{folder} is another one than was pickled: built anew, of other numbers.")
    reopen = open_version, (*place, stored.sha256)
    if isinstance(stored, StoredMap):
        identity = Identity(name, version, stored.spec_sha256, stored.spec)
        return VertexMap(reopen, identity, stored)
    part = partial(made_of, reopen, nn.Module.get_submodule)
    levels = [Graph(part(f"level{n}"), level) for n, level in enumerate(stored.levels)]
    poolings, unpoolings = (
        [LevelMap(part(f"{kind}{n}"), matrix) for n, matrix in enumerate(maps)]
        for kind, maps in (("pool", stored.poolings), ("unpool", stored.unpoolings))
    )
    identity = Identity(name, version, stored.spec_sha256, stored.spec)
    return Pyramid(reopen, identity, levels, poolings, unpoolings)


def _refuse_faults(store: Folder, graph: Folder) -> None:
    """Check what verifying a store checks besides versions: its document, and that of a graph.

    Raises:
        StoreError: something is wrong with them, or with what lies beside the versions.
    """
    if what := group_fault(store):
        raise StoreError(f"{store / DOCUMENT} {what.rstrip('.')}.")
    for fault in graph_faults(graph):
        raise StoreError(f"{store}/{fault.where} {fault.what.rstrip('.')}.")


class _Versions(Mapping[str, Opened]):
    """name -> what its newest version holds, of one kind; also name@v001 and name@ref."""

    _kind: str
    _is_map: bool

    def __init__(self, path: Path, *, verify: bool = False) -> None:
        self.path, self.verify = file_path("path", path), flag("verify", verify)
        with Folder(path).kept_open() as root:
            check_schema(root)

    # Else what is opened while a network is evaluated could never be trained on.
    @torch.inference_mode(mode=False)
    def __getitem__(self, name: str) -> Opened:
        """Map the newest version of a name, or the one named.

        Raises:
            StoreError: there is none of that name (also a KeyError), or it is not valid.
        """
        if not isinstance(name, str):
            raise UnknownGraphError(f"A {self._kind}'s name is text. Got {quoted(name)}.")
        graph, at, ref = name.partition("@")
        if at and not ref:
            raise UnknownGraphError(
                f"Nothing follows the @ of {quoted(name)}. There: versions, refs."
            )
        with Folder(self.path).kept_open() as root:
            known = versions_of(root, graph)
            if not known:
                names, kind = ", ".join(self) or "none", self._kind
                raise UnknownGraphError(
                    f"No {kind} {quoted(graph)} in {self.path}. There: {names}."
                )
            version = known.get(ref or "latest")
            if version is None:
                there = ", ".join(known)
                raise UnknownGraphError(
                    f"No version {quoted(ref)} of {root / graph}. There: {there:.999}."
                )
            if is_map(root / graph / version) != self._is_map:
                other, place = ("graph", "") if self._is_map else ("map", ".maps")
                raise UnknownGraphError(
                    f"{quoted(name)} in {self.path} is a {other}: take it from "
                    f"open_store(path){place}[{quoted(name)}]."
                )
            if self.verify:
                store = Folder(self.path)  # of consolidated metadata every node is opened
                _refuse_faults(store, store / graph)
            where = str(self.path), graph, version
            return cast("Opened", _opened(root, where, verify=self.verify))

    def __iter__(self) -> Iterator[str]:
        root = Folder(self.path)  # kept open, the folders of many graphs would be too many
        return iter([name for name in root.names() if self._holds(root, name)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        graph, at, ref = name.partition("@") if isinstance(name, str) else ("", "", "")
        with Folder(self.path).kept_open() as root:
            return self._holds(root, graph) and (not at or ref in versions_of(root, graph))

    def _holds(self, root: Folder, name: str) -> bool:
        """Whether the newest version of a name is of this kind; graphs are what can't be read."""
        known = versions_of(root, name)
        try:
            return bool(known) and is_map(root / name / known["latest"]) == self._is_map
        except UnreadableError:
            raise
        except StoreError:
            return not self._is_map

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}: {', '.join(self) or 'empty'})"


class Store(_Versions[Pyramid]):
    """name -> Pyramid; also name@v001 and name@ref. Opens nothing before it is asked for.

    `maps` has the maps between samplings in the same way, which are not among the graphs.
    """

    _kind, _is_map = "graph", False

    @property
    def maps(self) -> "Maps":
        """Name -> VertexMap; also name@v001 and name@ref."""
        return Maps(self.path, verify=self.verify)


class Maps(_Versions[VertexMap]):
    """name -> VertexMap, of the maps of a store."""

    _kind, _is_map = "map", True
