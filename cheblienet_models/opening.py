"""Graphs of a store as modules: zarr-free, zero-copy, failing closed."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import torch
from torch import nn

from cheblienet_graphs.errors import SkippedDamage
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import MapFacts, either_facts
from cheblienet_graphs.store.map_reader import MapArrays
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_models.arguments import file_path, flag
from cheblienet_models.errors import StoreError, UnknownGraphError, UnreadableError, quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import recipe_of
from cheblienet_models.graphs.pyramid import LevelMap, Pyramid
from cheblienet_models.graphs.vertex_map import VertexMap

Opened = TypeVar("Opened", Pyramid, VertexMap)


def open_store(path: str | Path, *, verify: bool = False) -> "Store":
    """Open a store of graphs.

    Args:
        path: the folder that `clg build` wrote.
        verify: whether to check of every graph that is opened what `clg verify` checks, besides
            the checks that are always made: sizes and digests of files, and how arrays agree. What
            is written into files later is not noticed. This takes scipy, and the package that
            computes the sampling, if there is one.

    Raises:
        TypeError: path is no path.
        StoreError: there is no store, or one of a format that this version can't read.

    Example:
        >>> build(GraphSpec("r2", 16, levels=2), "graphs.zarr", name="plane").version
        'v001'
        >>> store = open_store("graphs.zarr")
        >>> list(store), len(store["plane"].levels)
        (['plane'], 2)
    """
    return Store(layout.store_path(file_path("path", path)), verify=verify)


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
            folder = root / name / version
            return _opened(path, folder, layout.check_version(folder), sha256)
    except UnreadableError:
        raise
    except StoreError as error:
        raise StoreError(
            f"{error} Pickles hold no graph but where {name}@{version} was, in {path}: put the "
            "store back or link to it there, or take weights to other places as a state_dict()."
        ) from error


def _opened(
    path: str, folder: Folder, attributes: layout.Attributes, sha256: str | None = None
) -> Pyramid | VertexMap:
    """The modules over a version's arrays; each is pickled as how to open it again.

    Raises:
        StoreError: it is missing or not valid, or has another digest than is asked for.
    """
    facts = either_facts(attributes, str(folder))
    if sha256 not in {None, facts.numbers_sha256}:
        raise StoreError(f"{folder} is another one than was pickled: built anew, of other numbers.")
    name, version = folder.parent.name, folder.name
    reopen = open_version, (path, name, version, facts.numbers_sha256)
    identity = Identity(name, version, facts.spec_sha256, facts.spec.to_dict())
    if isinstance(facts, MapFacts):
        return VertexMap(reopen, identity, MapArrays(folder, facts))
    part = partial(recipe_of, reopen, nn.Module.get_submodule)
    stored = [LevelFolder.published(folder, facts, level) for level in range(facts.spec.levels)]
    levels = [Graph(part(f"level{n}"), level) for n, level in enumerate(stored)]
    poolings, unpoolings = [], []
    for n, level in enumerate(stored[:-1]):
        down, up = map(level.averages, level.maps)
        poolings.append(LevelMap(part(f"pool{n}"), down))
        unpoolings.append(LevelMap(part(f"unpool{n}"), up))
    return Pyramid(reopen, identity, levels, poolings, unpoolings)


def _refuse_faults(version: Folder) -> None:
    """Check a version as `clg verify` does, and the documents of its store and its graph.

    Raises:
        StoreError: something is wrong with them, or with what lies beside the version.
    """
    from cheblienet_graphs.verification.versions import faults_around  # loads scipy

    for fault in faults_around(version):
        raise StoreError(f"{version.parent.parent}/{fault.where} {fault.what.rstrip('.')}.")


class _Versions(Mapping[str, Opened]):
    """name -> what its newest version holds, of one kind; also name@v001 and name@ref."""

    _kind: str
    _is_map: bool

    def __init__(self, path: Path, *, verify: bool = False) -> None:
        self.path, self.verify = file_path("path", path), flag("verify", verify)
        catalog.existing_store(self.path)

    # Else what is opened while a network is evaluated could never be trained on.
    @torch.inference_mode(mode=False)
    def __getitem__(self, name: str) -> Opened:
        """Map the newest version of a name, or the one named.

        Raises:
            StoreError: there is none of that name (also a KeyError), or it is not valid.
        """
        with Folder(self.path).kept_open() as root:
            version = catalog.version_of(root, name, self._kind)
            attributes = layout.check_version(version)
            if (layout.MAP in attributes) != self._is_map:
                other, place = ("graph", "") if self._is_map else ("map", ".maps")
                raise UnknownGraphError(
                    f"{quoted(name)} in {self.path} is a {other}: take it from "
                    f"open_store(path){place}[{quoted(name)}]."
                )
            if self.verify:
                _refuse_faults(Folder(self.path) / version.parent.name / version.name)
            return cast("Opened", _opened(str(self.path), version, attributes))

    def __iter__(self) -> Iterator[str]:
        root = Folder(self.path)  # kept open, the folders of many graphs would be too many
        graphs = ((name, catalog.versions(root / name)) for name in catalog.graph_names(root))
        return iter([name for name, known in graphs if self._holds(root / name / known[-1])])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        with Folder(self.path).kept_open() as root:
            try:
                return isinstance(name, str) and self._holds(catalog.version_of(root, name))
            except UnknownGraphError:
                return False

    def _holds(self, version: Folder) -> bool:
        """Check whether a version is of this kind; graphs are what can't be read."""
        with SkippedDamage():
            return (layout.MAP in layout.check_version(version)) == self._is_map
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
