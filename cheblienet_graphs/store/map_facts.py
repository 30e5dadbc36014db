"""The facts of published maps, and of versions of either kind."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.limits import Range
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.store import catalog, layout, rules
from cheblienet_graphs.store.facts import (
    PublishedFacts,
    VersionFacts,
    check_schema,
    graph_facts,
    shared,
)
from cheblienet_graphs.store.folder import DOCUMENT, Folder


@dataclass(frozen=True)
class MapSizes:
    """The sizes of a map as its version records them.

    Args:
        targets, sources: numbers of vertices.
        target_grid, source_grid: shapes of signals, orientations first: (n_o, height, width) on a
            lattice; shapes of the full samplings where there are masks.
        nnz: entries of the matrix.
        farthest: the largest distance between a target and one of its sources.
    """

    targets: int
    sources: int
    target_grid: tuple[int, ...]
    source_grid: tuple[int, ...]
    nnz: int
    farthest: float

    def to_dict(self) -> dict[str, Any]:
        """JSON types."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class MapFacts(PublishedFacts):
    """The facts of a map's version.

    Args:
        spec: of the build.
        sizes: of the map.
    """

    spec: MapSpec
    sizes: MapSizes


def read_facts(version: Folder) -> VersionFacts:
    """The facts of a published graph.

    Raises:
        StoreError: they are missing, of another form than ours, contradict each other, or belong to
            a map.
    """
    facts = read_either(version)
    if not isinstance(facts, VersionFacts):
        raise StoreError(f"{version} is a map between samplings, where a graph is needed.")
    return facts


def read_map_facts(version: Folder) -> MapFacts:
    """The facts of a published map.

    Raises:
        StoreError: they are missing, of another form than ours, contradict each other, or belong to
            a graph.
    """
    facts = read_either(version)
    if not isinstance(facts, MapFacts):
        raise StoreError(f"{version} is a graph, where a map between samplings is needed.")
    return facts


def either_facts(attributes: layout.Attributes, where: str) -> VersionFacts | MapFacts:
    """The facts in a version's attributes; `where` is their name in messages.

    Raises:
        StoreError: they are of another form than ours, or contradict each other.
    """
    check_schema(attributes, where)
    try:
        return _map(attributes) if layout.MAP in attributes else graph_facts(attributes)
    except StoreError as error:
        raise StoreError(
            f"{where} was changed or not written by cheblienet: its {str(error).rstrip('.')}. "
            "Import or build it again."
        ) from error


def read_either(version: Folder) -> VersionFacts | MapFacts:
    """The facts of a published version.

    Raises:
        StoreError: as `either_facts`, or they are missing.
    """
    return either_facts(layout.check_version(version), str(version))


def _map(attributes: layout.Attributes) -> MapFacts:
    common = shared(attributes, MapSpec)
    spec = common["spec"]
    targets, sources = spec.shape
    expected = {
        "targets": targets,
        "sources": sources,
        "target_grid": list(spec.target.grid(0)),
        "source_grid": list(spec.source.grid(0)),
        "nnz": rules.is_integer(targets, targets * sources),
        "farthest": Range(-1 / rules.LARGEST, rules.LARGEST),
    }
    sizes = MapSizes(**rules.read("map", attributes[layout.MAP], expected))
    return MapFacts(**common, sizes=sizes)


@dataclass(frozen=True)
class Listed:
    """A published version: vertices of its levels, bytes of its files, and the refs naming it.

    The vertices of a map, `kind` "map", belong to its target and its source. `spec` is the recorded
    specification, as JSON types. Where it can't be read, `fault` is the reason, and the rest is
    empty: `version`, too, where the graph can't be.
    """

    name: str
    version: str
    refs: tuple[str, ...]
    vertices: tuple[int, ...]
    bytes: int
    created: str
    fault: str | None = None
    kind: str = "graph"
    spec: dict[str, Any] | None = None


def listing(store: str | Path) -> list[Listed]:
    """Every version of every graph and map of a store, by name and age, from JSON alone.

    Raises:
        UnknownGraphError: there is no store.
        StoreError: it can't be read.
    """
    place = catalog.existing_store(store)
    return [row for name in catalog.graph_names(place) for row in _versions(place / name)]


def _versions(graph: Folder) -> list[Listed]:
    try:
        rows = [(version, _listed(graph, version)) for version in catalog.versions(graph)]
        # Versions that somebody removed meanwhile are left out.
        return [row for version, row in rows if row.fault is None or (graph / version).status()]
    except StoreError as error:
        return [Listed(graph.name, "", (), (), 0, "", str(error))]


def _listed(graph: Folder, version: str) -> Listed:
    names: tuple[str, ...] = ()
    try:
        names = tuple(ref for ref, target in catalog.refs(graph).items() if target == version)
        facts = read_either(graph / version)
        nbytes = facts.nbytes + len((graph / version / DOCUMENT).contents())  # as in the report
    except StoreError as error:
        return Listed(graph.name, version, names, (), 0, "", str(error))
    if isinstance(facts, MapFacts):
        kind, vertices = "map", tuple[int, ...](facts.spec.shape)
    else:
        kind, vertices = "graph", tuple(level.vertices for level in facts.levels)
    known = graph.name, version, names, vertices, nbytes, facts.created
    return Listed(*known, kind=kind, spec=facts.spec.to_dict())
