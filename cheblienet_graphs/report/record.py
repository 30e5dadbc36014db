"""The report on a published graph: one object behind the terminal, JSON and the tests."""

from dataclasses import asdict, dataclass
from typing import Any

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.text import text
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.words import human_bytes, sentences


@dataclass(frozen=True)
class Report:
    """A published version; `bytes` counts all of its files. str() is made for a terminal."""

    name: str
    version: str
    refs: tuple[str, ...]
    spec: GraphSpec
    spec_sha256: str
    generator: dict[str, str]
    created: str
    bytes: int
    levels: tuple[LevelReport, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return asdict(self) | {"spec": self.spec.to_dict()}

    def __str__(self) -> str:
        generator = f"{self.generator.get('name')} {self.generator.get('version')}"
        refs = f"  ({', '.join(self.refs)})" if self.refs else ""
        size, digest = human_bytes(self.bytes), self.spec_sha256[:12]
        lines = [f"{self.name}@{self.version}{refs}"]
        lines += [f"  {sentence}" for sentence in sentences(self.spec)]
        lines += [f"  {size}, built {self.created} by {generator}, spec {digest}", ""]
        return "\n".join([*lines, text(self.spec, self.levels)])
