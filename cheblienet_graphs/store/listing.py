"""What a store holds, read as JSON alone, so that listing it is instant."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import StoreError, UnknownGraphError
from cheblienet_graphs.store import layout


@dataclass(frozen=True)
class Listed:
    """A published version: vertices of its levels, bytes of its arrays, and the refs naming it.

    `fault` says why it can't be read, where it can't; then the rest is empty.
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
    store = Path(store).expanduser().absolute()
    if not layout.check_store(store):
        raise UnknownGraphError(f"There is no store at {store}; `clg build` makes one.")
    return [
        _listed(store / name, version)
        for name in layout.graph_names(store)
        for version in layout.versions(store / name)
    ]


def _listed(graph: Path, version: str) -> Listed:
    names = tuple(ref for ref, target in layout.refs(graph).items() if target == version)
    try:
        attributes: dict[str, Any] = layout.check_version(graph / version)
        vertices = tuple(int(level["vertices"]) for level in attributes["levels"])
        size = sum(int(entry["nbytes"]) for entry in attributes["manifest"].values())
        return Listed(graph.name, version, names, vertices, size, str(attributes["created"]))
    except (StoreError, KeyError, TypeError, ValueError, AttributeError) as error:
        return Listed(graph.name, version, names, (), 0, "", str(error))
