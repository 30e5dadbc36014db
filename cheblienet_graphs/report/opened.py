"""A published version: opened, to examine or to draw it, and what reports on any begin with."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import VersionFacts, read_facts
from cheblienet_graphs.store.map_facts import MapFacts
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.values import Number, integer


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
    def of(cls, version: Path, facts: VersionFacts | MapFacts, **measured: Any) -> Self:
        """A report with what is recorded, and what was measured by name."""
        refs = layout.refs(version.parent).items()
        return cls(
            name=version.parent.name,
            version=version.name,
            refs=tuple(ref for ref, target in refs if target == version.name),
            spec=facts.spec,
            spec_sha256=facts.spec_sha256,
            generator=dict(facts.generator),
            created=facts.created,
            bytes=facts.nbytes + (version / "zarr.json").stat().st_size,
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

    version: Path
    facts: VersionFacts
    _levels: dict[int, LevelArrays] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """NAME@VERSION."""
        return f"{self.version.parent.name}@{self.version.name}"

    @property
    def spec(self) -> GraphSpec:
        """What it was built from."""
        return self.facts.spec

    def level(self, number: Number) -> LevelArrays:
        """The arrays of a level, mapped once; 0 is the finest.

        Raises:
            SpecError: there is no such level.
        """
        number = integer("level", number, 0, self.spec.levels - 1)
        if number not in self._levels:
            self._levels[number] = LevelArrays(self.version, self.facts, number)
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
    version = layout.resolve(store, name)
    return OpenedGraph(version, read_facts(version))
