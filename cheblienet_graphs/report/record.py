"""The report on a published graph: one object behind the terminal, JSON and the tests."""

from dataclasses import asdict, dataclass
from typing import Any

from cheblienet_graphs.report.full_text import full_text
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.order import order_of
from cheblienet_graphs.report.short_text import short_text
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.words import human_bytes, sentences


@dataclass(frozen=True)
class Report:
    """A published version; `bytes` counts all of its files. str() is the short text."""

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
        """What one decides from first, then a table of the levels, then remarks."""
        return f"{self._title}\n{short_text(self.spec, self.levels, self.bytes)}"

    def full_text(self) -> str:
        """All of it: units, digests, every measurement, spectra of all levels, explanations."""
        generator = f"{self.generator.get('name')} {self.generator.get('version')}"
        size, digest = human_bytes(self.bytes), self.spec_sha256[:12]
        lines = [self._title, *(f"  {sentence}" for sentence in sentences(self.spec))]
        lines += [f"  {size}, built {self.created} by {generator}, spec {digest}"]
        if order := order_of(self.spec):
            lines += [f"  {order}"]
        return "\n".join([*lines, "", full_text(self.spec, self.levels)])

    @property
    def _title(self) -> str:
        refs = f"  ({', '.join(self.refs)})" if self.refs else ""
        return f"{self.name}@{self.version}{refs}"
