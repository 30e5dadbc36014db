"""The report on a published graph: one object behind the terminal, JSON and the tests."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import Spell
from cheblienet_graphs.limits import EIGENVALUES
from cheblienet_graphs.report.level import LevelReport, level_report
from cheblienet_graphs.report.opened import open_graph
from cheblienet_graphs.report.text import full_text, short_text
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.words import human_bytes, sentences
from cheblienet_graphs.store import layout
from cheblienet_graphs.typing import Progress
from cheblienet_graphs.values import callback, integer


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

    def short_text(self, spell: Spell = str, *, extrapolate: bool = False) -> str:
        """What one decides from first, then a table of the levels, then remarks.

        Args:
            spell: writes parameters, by default as Python has them.
            extrapolate: whether to list eigenvalues less their estimated errors, too.
        """
        text = short_text(self.spec, self.levels, self.bytes, spell, extrapolate=extrapolate)
        return f"{self._title}\n{text}"

    def full_text(self, spell: Spell = str) -> str:
        """All of it: units, digests, every measurement, spectra of all levels, explanations."""
        size, generator = human_bytes(self.bytes), " ".join(self.generator.values())
        digest = self.spec_sha256[:12]
        lines = [self._title, *(f"  {sentence}" for sentence in sentences(self.spec, spell))]
        lines += [f"  {size}, built {self.created} by {generator}, spec {digest}"]
        return "\n".join([*lines, "", full_text(self.spec, self.levels, spell)])

    @property
    def _title(self) -> str:
        refs = f"  ({', '.join(self.refs)})" if self.refs else ""
        return f"{self.name}@{self.version}{refs}"


def inspect(
    store: str | Path,
    name: str | None = None,
    *,
    eigenvalues: int = 6,
    level: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Examine a published graph. Files are read block by block; memory holds a few vectors.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        eigenvalues: number of the smallest to compute for each level, in [0, 1000].
        level: the only level to examine; default all.
        progress: called with the name of a stage, its steps done and the most there may be; 0 and
            0 where steps are not counted.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `level` or `eigenvalues` is out of range.
    """
    callback("progress", progress)
    graph = open_graph(store, name)
    version, facts = graph.version, graph.facts
    levels = [graph.level(n) for n in (range(graph.spec.levels) if level is None else [level])]
    eigenvalues = integer("eigenvalues", eigenvalues, *EIGENVALUES)
    report_on = progress or (lambda *_: None)
    return Report(
        version.parent.name,
        version.name,
        tuple(ref for ref, target in layout.refs(version.parent).items() if target == version.name),
        facts.spec,
        facts.spec_sha256,
        dict(facts.generator),
        facts.created,
        facts.nbytes + (version / "zarr.json").stat().st_size,
        tuple(level_report(arrays, eigenvalues, report_on) for arrays in levels),
    )
