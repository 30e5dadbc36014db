"""An opened version: its levels are mapped when they are first asked for."""

from dataclasses import dataclass, field
from pathlib import Path

from cheblienet_graphs.limits import Number, integer
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import catalog
from cheblienet_graphs.store.facts import VersionFacts
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts


@dataclass(frozen=True)
class OpenedGraph:
    """A published version; its arrays are mapped when a level is asked for.

    Args:
        version: its folder.
        facts: the contents of its document.
    """

    version: Folder
    facts: VersionFacts
    _levels: dict[int, MeasuredLevel] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """NAME@VERSION."""
        return f"{self.version.parent.name}@{self.version.name}"

    @property
    def spec(self) -> GraphSpec:
        """The specification it was built from."""
        return self.facts.spec

    def level(self, number: Number) -> MeasuredLevel:
        """The arrays of a level, mapped once; 0 is the finest.

        Raises:
            SpecError: there is no such level.
        """
        number = integer("level", number, 0, self.spec.levels - 1)
        if number not in self._levels:
            self._levels[number] = MeasuredLevel.published(self.version, self.facts, number)
        return self._levels[number]


def open_graph(store: str | Path, name: str | None = None) -> OpenedGraph:
    """Open a published graph to examine or to draw it.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.

    Raises:
        UnknownGraphError: there is none of that name.
        StoreError: the store can't be read.
    """
    version = catalog.resolve(store, name)
    return OpenedGraph(version, read_facts(version))
