"""Opening graphs that were published in a store: zarr-free, zero-copy, failing closed."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cheblienet_models.arguments import file_path, flag
from cheblienet_models.errors import StoreError, UnreadableError, quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.pyramid import LevelMap, Pyramid
from cheblienet_models.store.files import Folder, opened
from cheblienet_models.store.version import (
    UnknownGraphError,
    check_schema,
    graph_names,
    is_graph,
    read_version,
    resolved,
)


def open_store(path: str | Path, *, verify: bool = False) -> "Store":
    """Open a store of graphs.

    Args:
        path: the folder that `clg build` wrote.
        verify: whether to hash every file of a graph that is opened and compare it with what was
            published, besides the checks that are always made.

    Raises:
        TypeError: path is no path.
        StoreError: there is no store, or one of a format that this version can't read.
    """
    return Store(file_path("path", path).expanduser().absolute(), verify=verify)


class Store(Mapping[str, Pyramid]):
    """name -> Pyramid; also name@v001 and name@ref. Opens nothing before it is asked for."""

    def __init__(self, path: Path, *, verify: bool = False) -> None:
        self.path, self.verify = file_path("path", path), flag("verify", verify)
        with opened(str(path)) as root:
            check_schema(root)

    def __getitem__(self, name: str) -> Pyramid:
        """Map a graph's newest version, or the one named.

        Raises:
            StoreError: there is none of that name (also a KeyError), or it is not valid.
        """
        if not isinstance(name, str):
            raise UnknownGraphError(f"A graph's name is text. Got {quoted(name)}.")
        graph, at, ref = name.partition("@")
        if at and not ref:
            raise UnknownGraphError(
                f"Nothing follows the @ of {quoted(name)}. There: versions, refs."
            )
        with opened(str(self.path)) as root:
            if not is_graph(root, graph):
                known = ", ".join(self) or "none"
                raise UnknownGraphError(f"No graph {quoted(graph)} in {self.path}. There: {known}.")
            version = resolved(root / graph, ref or "latest")
            return _pyramid(root, (str(self.path), graph, version), verify=self.verify)

    def __iter__(self) -> Iterator[str]:
        with opened(str(self.path)) as root:
            names = graph_names(root)
        return iter(names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        graph, at, ref = name.partition("@") if isinstance(name, str) else ("", "", "")
        with opened(str(self.path)) as root:
            if not is_graph(root, graph):
                return False
            try:
                return not at or bool(resolved(root / graph, ref))
            except UnknownGraphError:
                return False

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}: {', '.join(self) or 'empty'})"


def open_version(path: str, name: str, version: str) -> Pyramid:
    """Map one version of a graph. This is what unpickling a Pyramid calls.

    Raises:
        StoreError: it is missing or not valid.
    """
    try:
        with opened(path) as root:
            return _pyramid(root, (path, name, version))
    except UnreadableError:
        raise
    except StoreError as error:
        raise StoreError(
            f"{error} Pickles hold no graph but where {name}@{version} was, in {path}: put the "
            "store back or link to it there, or take weights to other places as a state_dict()."
        ) from error


def _pyramid(root: Folder, handle: tuple[str, str, str], *, verify: bool = False) -> Pyramid:
    """The modules over a version's arrays; each is pickled as how to open it again."""
    _, name, version = handle
    stored = read_version(root / name / version, f"{name}@{version}", verify=verify)
    levels = [Graph((_open_level, (*handle, n)), level) for n, level in enumerate(stored.levels)]
    poolings, unpoolings = (
        [LevelMap((_open_map, (*handle, kind, n)), matrix) for n, matrix in enumerate(matrices)]
        for kind, matrices in (("pooling", stored.poolings), ("unpooling", stored.unpoolings))
    )
    identity = Identity(name, version, stored.spec_sha256, stored.spec)
    return Pyramid((open_version, handle), identity, levels, poolings, unpoolings)


def _open_level(path: str, name: str, version: str, level: int) -> Graph:
    return open_version(path, name, version).levels[level]


def _open_map(path: str, name: str, version: str, kind: str, level: int) -> LevelMap:
    pyramid = open_version(path, name, version)
    return pyramid.pooling(level) if kind == "pooling" else pyramid.unpooling(level)
