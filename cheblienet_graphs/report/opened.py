"""A published version: opened, to examine or to draw it; what reports on any begin with.

Of two the difference: fields of the specification, facts of levels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from cheblienet_graphs.errors import aligned, one_line
from cheblienet_graphs.limits import Number, integer
from cheblienet_graphs.report.moments import MeasuredLevel
from cheblienet_graphs.spec import GraphSpec, words
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store import catalog
from cheblienet_graphs.store.facts import VersionFacts
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.map_facts import MapFacts, read_facts

WIDEST = 40
"""Characters of a value in the text at most."""
Pairs = dict[str, tuple[Any, Any]]
"""Name -> its value in each graph, for those that differ; None where one has none."""


@dataclass(frozen=True, kw_only=True)
class VersionReport:
    """What any report on a published version begins with.

    Args:
        name, version, refs: where it is.
        spec: of the build.
        spec_sha256, generator, created: as recorded.
        bytes: size of all of its files.
    """

    name: str
    version: str
    refs: tuple[str, ...]
    spec: GraphSpec | MapSpec
    spec_sha256: str
    generator: dict[str, str]
    created: str
    bytes: int

    @classmethod
    def of(cls, version: Folder, facts: VersionFacts | MapFacts, **measured: Any) -> Self:
        """A report with what is recorded, and what was measured by name."""
        refs = catalog.refs(version.parent).items()
        return cls(
            name=version.parent.name,
            version=version.name,
            refs=tuple(ref for ref, target in refs if target == version.name),
            spec=facts.spec,
            spec_sha256=facts.spec_sha256,
            generator=dict(facts.generator),
            created=facts.created,
            bytes=facts.nbytes + len((version / DOCUMENT).contents()),
            **measured,
        )

    @property
    def title(self) -> str:
        """'se2-96x96x6@v001  (latest)'."""
        refs = f"  ({', '.join(self.refs)})" if self.refs else ""
        return f"{self.name}@{self.version}{refs}"

    @property
    def origin(self) -> str:
        """Its size, when and by what it was built, and the specification's digest."""
        built = f"built {self.created} by {' '.join(self.generator.values())}"
        return f"{human_bytes(self.bytes)}, {built}, spec {self.spec_sha256[:12]}"

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types."""
        plain: Any = replace(self, spec=None)  # type: ignore[arg-type]
        return asdict(plain) | {"spec": self.spec.to_dict()}


@dataclass(frozen=True)
class OpenedGraph:
    """A published version; its arrays are mapped when a level is asked for.

    Args:
        version: its folder.
        facts: what its metadata says.
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
        """What it was built from."""
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


@dataclass(frozen=True)
class Difference:
    """Two published graphs, compared. str() is the text for a terminal.

    Args:
        names: NAME@VERSION of each.
        same_files: whether all files have the same digests, as recorded.
        specification: the fields that differ.
        generators: name and version of the packages that built them.
        num_levels: of each.
        levels: the facts that differ, of each level that both have, finest first.
    """

    names: tuple[str, str]
    same_files: bool
    specification: Pairs
    generators: tuple[str, str]
    num_levels: tuple[int, int]
    levels: tuple[Pairs, ...]

    @property
    def identical(self) -> bool:
        """Whether files and specifications are the same, whenever and wherever they were built."""
        return self.same_files and not self.specification

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types."""
        return {"identical": self.identical} | asdict(self)

    def __str__(self) -> str:
        """A line where both are identical; else a table."""
        a, b = self.names
        if self.identical:
            return f"{a} and {b} are identical: the same specification and digests of all files"
        files = {"files": ("all files", "have the same digests")} if self.same_files else {}
        built_by = _different({"built by": self.generators[0]}, {"built by": self.generators[1]})
        rows = [["", *self.names], *_rows("specification", self.specification)]
        for number, facts in enumerate(self.levels):
            rows += _rows(f"level {number}", facts)
        return "\n".join(aligned([*rows, *_rows("graph", built_by | files)], "<"))


def compare(
    store: str | Path, first: str, second: str, *, other_store: str | Path | None = None
) -> Difference:
    """Compare two published graphs by what is recorded of them; no matrix is read.

    Args:
        store: path of the store.
        first: NAME, NAME@v001 or NAME@REF.
        second: the same of the other one.
        other_store: path of the second one's store; default the same.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
    """
    graph = open_graph(store, first)
    other = open_graph(store if other_store is None else other_store, second)
    a, b = graph.facts, other.facts
    return Difference(
        (graph.name, other.name),
        a.files == b.files,
        _different(a.spec.to_dict(), b.spec.to_dict()),
        (" ".join(a.generator.values()), " ".join(b.generator.values())),
        (a.spec.levels, b.spec.levels),
        tuple(
            _different(dict(_flat(x.to_dict())), dict(_flat(y.to_dict())))
            for x, y in zip(a.levels, b.levels, strict=False)
        ),
    )


def _flat(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values, those of inner mappings by their path."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _different(a: Mapping[str, Any], b: Mapping[str, Any]) -> Pairs:
    """What differs, in the order of the first one's."""
    return {name: (a.get(name), b.get(name)) for name in {**a, **b} if a.get(name) != b.get(name)}


def _rows(title: str, pairs: Pairs) -> list[list[str]]:
    return [
        [f"{title}: {name}", *(one_line(words.shown(value), WIDEST) for value in pair)]
        for name, pair in pairs.items()
    ]
