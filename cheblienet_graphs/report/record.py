"""The report on a published graph: one object behind the terminal, JSON and the tests."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from cheblienet_graphs.report.findings import Spell
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.text import full_text, short_text
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

    def to_json(self, spell: Spell = str) -> dict[str, Any]:
        """The report as JSON types; `spell` writes parameters, by default as Python has them."""
        levels = [level.to_json(spell) for level in self.levels]
        return asdict(replace(self, levels=())) | {"spec": self.spec.to_dict(), "levels": levels}

    def __str__(self) -> str:
        """The short text."""
        return self.short_text()

    def short_text(self, spell: Spell = str) -> str:
        """What one decides from first, then a table of the levels, then remarks."""
        return f"{self._title}\n{short_text(self.spec, self.levels, self.bytes, spell)}"

    def full_text(self, spell: Spell = str) -> str:
        """All of it: units, digests, every measurement, spectra of all levels, explanations."""
        generator = f"{self.generator.get('name')} {self.generator.get('version')}"
        size, digest = human_bytes(self.bytes), self.spec_sha256[:12]
        lines = [self._title, *(f"  {sentence}" for sentence in sentences(self.spec, spell))]
        lines += [f"  {size}, built {self.created} by {generator}, spec {digest}"]
        return "\n".join([*lines, "", full_text(self.spec, self.levels, spell)])

    @property
    def _title(self) -> str:
        refs = f"  ({', '.join(self.refs)})" if self.refs else ""
        return f"{self.name}@{self.version}{refs}"
