"""The contents of a store, read from JSON alone."""

from dataclasses import dataclass
from pathlib import Path

from cheblienet_graphs.errors import StoreError, UnknownGraphError, UnreadableError
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import read_facts


@dataclass(frozen=True)
class Listed:
    """A published version: vertices of its levels, bytes of its files, and the refs naming it.

    Where it can't be read, `fault` is the reason, and the rest is empty.
    """

    name: str
    version: str
    refs: tuple[str, ...]
    vertices: tuple[int, ...]
    bytes: int
    created: str
    fault: str | None = None


def listing(store: str | Path) -> list[Listed]:
    """Every version of every graph of a store, by name and age.

    Raises:
        UnknownGraphError: there is no store.
        StoreError: it can't be read.
    """
    store = layout.store_path(store)
    if not layout.check_store(store):
        raise UnknownGraphError(f"There is no store at {store}; `clg build` makes one.")
    return [
        _listed(store / name, version)
        for name in layout.graph_names(store)
        for version in layout.versions(store / name)
    ]


def _listed(graph: Path, version: str) -> Listed:
    names: tuple[str, ...] = ()
    try:
        names = tuple(ref for ref, target in layout.refs(graph).items() if target == version)
        facts = read_facts(graph / version)
    except (StoreError, UnreadableError) as error:
        return Listed(graph.name, version, names, (), 0, "", str(error))
    vertices = tuple(level.vertices for level in facts.levels)
    nbytes = facts.nbytes + (graph / version / "zarr.json").stat().st_size  # as in the report
    return Listed(graph.name, version, names, vertices, nbytes, facts.created)
