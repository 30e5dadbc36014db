"""Remarks on versions: what is no fault, but may be a mistake."""

from dataclasses import dataclass
from pathlib import Path

from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import read_facts
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.store.sampled import unlike_cells
from cheblienet_graphs.store.verify import version_folders


@dataclass(frozen=True)
class Remark:
    """A remark: `where` is a path below the store."""

    where: str
    what: str


def remarks(store: str | Path, name: str | None = None) -> list[Remark]:
    """Remarks on versions without faults: given areas that are far from those of the points' cells.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; default every version of every graph.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: a version can't be read.
    """
    store = layout.store_path(store)
    made = []
    for version in version_folders(store, name):
        facts = read_facts(version)
        for level in range(facts.spec.levels):
            if what := unlike_cells(LevelArrays(version, facts, level)):
                where = version.relative_to(store) / f"levels/{level}/area"
                made.append(Remark(str(where), what))
    return made
