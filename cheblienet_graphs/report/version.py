"""The beginning of a report on a published version, graph or map."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store import catalog
from cheblienet_graphs.store.facts import VersionFacts
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.map_facts import MapFacts


@dataclass(frozen=True, kw_only=True)
class VersionReport:
    """The beginning of any report on a published version.

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
