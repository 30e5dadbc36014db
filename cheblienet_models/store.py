"""Opening graphs that were published in a store: zarr-free, zero-copy, failing closed."""

import math
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from cheblienet_models.csr import read_averages, read_csr
from cheblienet_models.eigenpairs import read_eigenpairs
from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.facts import verify_level, verify_spec
from cheblienet_models.files import SEGMENT, Document, Folder, opened
from cheblienet_models.graph import LAPLACIANS, Graph, LaplacianKind, LevelMap, Pyramid
from cheblienet_models.verify import verify_files, verify_laplacian

STORE_SCHEMA = 1
SCHEMA_MAJOR = "1"
VERSION = re.compile(r"v[0-9]{3,9}")
MAX_LEVELS = 64
MAX_LAMBDA = 1e15
MAX_GRID = 5


def open_store(path: str | Path, *, verify: bool = False) -> "Store":
    """Open a store of graphs.

    Args:
        path: the folder that `clg build` wrote.
        verify: whether to hash every file of a graph that is opened and compare it with what was
            published, besides the checks that are always made.

    Raises:
        StoreError: there is no store, or one of a format that this version can't read.
    """
    return Store(Path(path).expanduser().absolute(), verify=verify)


class Store(Mapping[str, Pyramid]):
    """name -> Pyramid; also name@v001 and name@ref. Opens nothing before it is asked for."""

    def __init__(self, path: Path, *, verify: bool = False) -> None:
        self.path, self.verify = path, verify
        with opened(str(path)) as root:
            schema = _ours(root).get("store_schema")
        if schema != STORE_SCHEMA:
            raise StoreError(
                f"{path} has store schema {quoted(schema)}; this version reads {STORE_SCHEMA}. "
                "Install the version of cheblienet that wrote it."
            )

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
            if not SEGMENT.fullmatch(graph) or not _is_graph(root / graph):
                known = ", ".join(self) or "none"
                raise UnknownGraphError(f"No graph {quoted(graph)} in {self.path}. There: {known}.")
            version = _resolve(root / graph, ref or "latest")
            return _pyramid(root, (str(self.path), graph, version), verify=self.verify)

    def __iter__(self) -> Iterator[str]:
        with opened(str(self.path)) as root:
            names = [n for n in root.names() if n != "zarr.json" and _is_graph(root / n)]
        return iter(names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        graph, at, ref = name.partition("@") if isinstance(name, str) else ("", "", "")
        with opened(str(self.path)) as root:
            if not SEGMENT.fullmatch(graph) or not _is_graph(root / graph):
                return False
            try:
                return not at or bool(_resolve(root / graph, ref))
            except UnknownGraphError:
                return False

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}: {', '.join(self) or 'empty'})"


class UnknownGraphError(StoreError, KeyError):
    """No graph, version or ref of that name."""

    __str__ = Exception.__str__  # KeyError's would print the message's repr


def open_version(path: str, name: str, version: str) -> Pyramid:
    """Map one version of a graph. This is what unpickling a Pyramid calls.

    Raises:
        StoreError: it is missing or not valid.
    """
    try:
        with opened(path) as root:
            return _pyramid(root, (path, name, version))
    except StoreError as error:
        raise StoreError(
            f"{error} Pickles hold no graph but where {name}@{version} was, in {path}: put the "
            "store back or link to it there, or take weights to other places as a state_dict()."
        ) from error


def _pyramid(root: Folder, handle: tuple[str, str, str], *, verify: bool = False) -> Pyramid:
    _, name, version = handle
    folder = root / name / version
    attributes = _ours(folder)
    if verify:
        verify_files(folder, attributes)
    schema = attributes.get("schema")
    if not isinstance(schema, str) or schema.partition(".")[0] != SCHEMA_MAJOR:
        raise StoreError(
            f"{folder} has schema {quoted(schema)}; this version reads {SCHEMA_MAJOR}.x. Install "
            f"the version of cheblienet that wrote it: {quoted(attributes.get('generator'))}."
        )
    spec, facts, digest = (attributes.get(key) for key in ("spec", "levels", "spec_sha256"))
    if not (isinstance(spec, dict) and isinstance(facts, list) and isinstance(digest, str)):
        raise StoreError(f"{folder} lacks spec, spec_sha256 or levels.")
    if not 1 <= len(facts) <= MAX_LEVELS:
        raise StoreError(f"{folder} must have 1 to {MAX_LEVELS} levels. Got {len(facts)}.")
    levels = [_graph(folder, handle, level, spec, fact) for level, fact in enumerate(facts)]
    if verify:
        verify_spec(folder, attributes)
        for number, graph in enumerate(levels):
            verify_laplacian(graph)
            verify_level(spec, facts[number], graph)
    sizes = [graph.num_vertices for graph in levels]
    poolings = [
        _level_map(folder, handle, "pooling", (fine, fine + 1), (sizes[fine + 1], sizes[fine]))
        for fine in range(len(levels) - 1)
    ]
    unpoolings = [
        _level_map(folder, handle, "unpooling", (fine + 1, fine), (sizes[fine], sizes[fine + 1]))
        for fine in range(len(levels) - 1)
    ]
    identity = {"name": name, "version": version, "spec_sha256": digest}
    return Pyramid((open_version, handle), identity, spec, levels, poolings, unpoolings)


def _graph(
    folder: Folder, handle: tuple[str, str, str], level: int, spec: Document, fact: Any
) -> Graph:
    here = folder / f"levels/{level}"
    grid = _grid(here, fact)
    vertices = math.prod(grid)
    lambda_max = _lambda_max(here, fact)
    laplacian = read_csr(here / "laplacian", (vertices, vertices))
    points = {
        "degree": torch.from_numpy((here / "degree").array(("float32",), 1)),
        "area": torch.from_numpy((here / "area").array(("float32",), 1)),
        "coordinates": torch.from_numpy((here / "coordinates").array(("float64",), 2)),
    }
    for name, values in points.items():
        if len(values) != vertices:
            raise StoreError(f"{here}/{name} must have {vertices} rows. Got {len(values)}.")
    eigenpairs = None
    if "eigenpairs" in spec:
        eigenpairs = read_eigenpairs(here, vertices, spec["eigenpairs"], lambda_max)
    return Graph(
        (_open_level, (*handle, level)),
        f"{handle[1]}@{handle[2]}, level {level}",
        grid,
        laplacian,
        _laplacian_kind(folder, spec),
        lambda_max,
        points,
        eigenpairs,
    )


def _laplacian_kind(folder: Folder, spec: Document) -> LaplacianKind:
    for kind in LAPLACIANS:
        if spec.get("laplacian") == kind:
            return kind
    raise StoreError(
        f"{folder} must have a spec whose laplacian is one of {', '.join(LAPLACIANS)}. "
        f"Got {quoted(spec.get('laplacian'))}."
    )


def _lambda_max(folder: Folder, fact: Any) -> float:
    value: Any = fact.get("lambda_max") if isinstance(fact, dict) else None
    if type(value) not in {int, float} or not 0 < value <= MAX_LAMBDA:
        raise StoreError(
            f"{folder} must have lambda_max in (0, {MAX_LAMBDA:g}]. Got {quoted(value)}."
        )
    return float(value)


def _open_level(path: str, name: str, version: str, level: int) -> Graph:
    return open_version(path, name, version).levels[level]


def _level_map(
    folder: Folder,
    handle: tuple[str, str, str],
    kind: str,
    levels: tuple[int, int],
    shape: tuple[int, int],
) -> LevelMap:
    matrix = read_averages(folder / f"{kind}/{levels[0]}to{levels[1]}", shape)
    return LevelMap((_open_map, (*handle, kind, min(levels))), matrix)


def _open_map(path: str, name: str, version: str, kind: str, level: int) -> LevelMap:
    pyramid = open_version(path, name, version)
    return pyramid.pooling(level) if kind == "pooling" else pyramid.unpooling(level)


def _grid(folder: Folder, fact: Any) -> tuple[int, ...]:
    """(orientations, *shape of a signal on the base) of a level."""
    grid = fact.get("grid") if isinstance(fact, dict) else None
    if (
        not isinstance(grid, list)
        or not 2 <= len(grid) <= MAX_GRID
        or not all(type(n) is int and 0 < n < 2**31 for n in grid)
    ):
        raise StoreError(
            f"{folder} must have a grid of orientations and 1 to {MAX_GRID - 1} sides. "
            f"Got {quoted(grid)}."
        )
    return tuple(grid)


def _ours(folder: Folder) -> Document:
    attributes = folder.attributes().get("clg")
    if not isinstance(attributes, dict):
        raise StoreError(f"{folder} was not written by cheblienet.")
    return attributes


def _is_graph(folder: Folder) -> bool:
    """Whether a folder is a graph with at least one version; a crash can leave one without."""
    try:
        return isinstance(_ours(folder).get("refs"), dict) and bool(_versions(folder))
    except StoreError:
        return False


def _versions(graph: Folder) -> list[str]:
    """Oldest first; the newest is what `latest` means, whatever a crash left in the refs."""
    entries = graph.entries()
    found = (n for n, mode in entries if VERSION.fullmatch(n) and stat.S_ISDIR(mode))
    return sorted(found, key=lambda version: int(version[1:]))


def _resolve(graph: Folder, ref: str) -> str:
    versions = _versions(graph)
    found = _ours(graph).get("refs")
    refs = {**found, "latest": versions[-1]} if isinstance(found, dict) and versions else {}
    version = refs.get(ref, ref)
    if version in versions:
        return str(version)
    known = ", ".join([*versions, *refs])
    raise UnknownGraphError(f"No version {quoted(ref)} of {graph}. There: {known:.999}.")
