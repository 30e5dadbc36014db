"""The report on a graph, and its text: what one decides from first, or every measurement."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cheblienet_graphs.errors import aligned
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.report import rows as tables
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.sentences import levels_in_words, lines
from cheblienet_graphs.report.version import VersionReport
from cheblienet_graphs.spec import GraphSpec, words

WIDTH = 80
"""Width of lines that are sentences; the table may be wider."""
FULL_WIDTH = 110
"""The same of the full text."""
LABEL = 12
"""Width of the words before them."""
TOGETHER = (" %", " = ", "level ")
"""Phrases in which no line ends."""
UNBROKEN = "\u00a0"
"""Placeholder of their spaces."""
SHOWN = 6
"""Different eigenvalues that are listed at most."""
ZERO = 1e-4
"""Size, in units of the largest shown, below which an eigenvalue belongs to constants."""
SPARSE_ENOUGH = 0.985
"""The paper's rule of thumb for the share of zeros."""
FAR_FROM_TARGET = 0.02
"""Difference from the in-plane fraction asked for above which a remark is made."""

_wrap = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False)
Made = Callable[[GraphSpec, LevelReport], Iterable[Finding]]


@dataclass(frozen=True, kw_only=True)
class Report(VersionReport):
    """A published graph: a `VersionReport`, and its levels. str() is the short text."""

    spec: GraphSpec
    levels: tuple[LevelReport, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        levels = [level.to_json(self.spec) for level in self.levels]
        return VersionReport.to_json(replace(self, levels=())) | {"levels": levels}

    def __str__(self) -> str:
        """The answers that one decides from, a table of the levels, then remarks."""
        quantities = [row for row in tables.rows_of(self.spec, self.levels) if row.heading]
        columns = [["", "level", *(f"{level.level}" for level in self.levels)]]
        columns += [[*row.heading.split("\n"), *row.cells] for row in quantities]
        about = [line for one in words.brief(self.spec) for line in _wrapped("  ", one)]
        text = [self.title, *about, "", *self._answers(), ""]
        text += [f"  {line}" for line in aligned([*zip(*columns, strict=True)], ">")]
        if further := self.remarks(edges, spectra, gradients):
            text += ["", *(line for one in further for line in _wrapped("  ", one))]
        return "\n".join(text)

    def full_text(self) -> str:
        """All of it: units, digests, every measurement, spectra of all levels, explanations."""
        about = [f"  {line}" for line in [*words.sentences(self.spec), self.origin]]
        rows = [["", *(f"level {level.level}" for level in self.levels)]]
        rows += [[row.title, *row.cells] for row in tables.rows_of(self.spec, self.levels)]
        for row in tables.error_rows(self.levels):
            rows.append([f"|P'LP - L|, {row.title}", *row.cells])
        text = [*aligned(rows, "<>"), "", *tables.reading(self.spec)]
        for level in self.levels:
            if level.eigenvalues:
                text += ["", *_eigenvalues(level)]
        if any(level.eigenvalues for level in self.levels):
            operator = self.spec.geometry.operator_in_words
            text.append(f"of the operator: scaled to be those of {operator}")
        text = [self.title, *about, "", *(f"  {line}".rstrip() for line in text), ""]
        for line in [*self.verdicts(), *self.remarks()]:
            text += _wrapped("", line, "  ", FULL_WIDTH)
        return "\n".join(text)

    def verdicts(self) -> list[str]:
        """A line for each kind of verdict; without levels where all share it."""
        if len({level.verdict for level in self.levels}) == 1:
            return [self.levels[0].verdict]
        return self._lines([level.finding for level in self.levels])

    def remarks(self, *made: Made) -> list[str]:
        """A line for each remark besides the verdict, with the levels that it applies to.

        Args:
            made: which remarks: `edges`, `connections`, `spectra`, `gradients`; default all.
        """
        kinds = made or (edges, connections, spectra, gradients)
        every_one = (
            one for level in self.levels for kind in kinds for one in kind(self.spec, level)
        )
        return self._lines(every_one)

    def _lines(self, findings: Iterable[Finding]) -> list[str]:
        return lines(findings, [level.level for level in self.levels], self.spec)

    @property
    def size(self) -> str:
        """'13,824 vertices, 92,160 edges on level 0; 3 levels, 3.1 MB'."""
        first = self.levels[0]
        count = self.spec.levels
        return words.size(first.vertices, first.edges, count, self.bytes, level=first.level)

    @property
    def symmetries(self) -> list[str]:
        """The symmetries by their largest error over the levels, exact ones first."""
        exact, others = list[str](), list[str]()
        for name, most in tables.largest_errors(self.levels).items():
            having = [level.level for level in self.levels if name in level.equivariance]
            where = "" if len(having) == len(self.levels) else f" ({levels_in_words(having)})"
            off = f": up to {most:.2g}" if most else ""
            (others if most else exact).append(f"{name.replace('_', ' ')}{where}{off}")
        answer = [f"exact: {', '.join(exact)}"] if exact else []
        answer += [f"|P'LP - L| of {', '.join(others)}"] if others else []
        return answer or ["none that the sampling has"]

    def _answers(self) -> Iterator[str]:
        """Is it consistent with its metric, connected, how large, how symmetric: with labels."""
        against = self.remarks(connections)
        first = self.levels[0]
        answers = {
            "metric": self.verdicts(),
            "connected": [f"no: {against[0]}", *against[1:]] if against else ["yes"],
            "size": [self.size],
            "symmetries": self.symmetries,
            "spectrum": _spectrum(first),
            "gradients": _derivatives(first),
        }
        for label, sentences in answers.items():
            for number, sentence in enumerate(sentences):
                start = "" if number else label
                yield from _wrapped(f"  {start:<{LABEL}}", sentence, " " * (LABEL + 2))


def edges(spec: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Their share within an orientation, their number, and what was left out."""
    remark = partial(Finding, levels=(level.level,))
    asked = spec.in_plane_fraction
    if asked is not None and abs(level.in_plane_fraction - asked) > FAR_FROM_TARGET:
        kind = "in plane" if spec.mask is None else "in plane, mask"
        yield remark(kind, numbers={"share": level.in_plane_fraction, "asked": asked})
    if spec.neighbors is not None and level.degree["max"] > spec.neighbors:
        numbers = {"count": level.degree["max"], "most": spec.neighbors}
        yield remark("more neighbors", numbers=numbers)
    if level.dropped_edges:
        yield remark("dropped", numbers={"count": level.dropped_edges})
    if level.sparsity < SPARSE_ENOUGH:
        yield remark("dense", numbers={"zeros": level.sparsity})


def connections(spec: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Isolated vertices and components; nothing where all is linked."""
    remark = partial(Finding, levels=(level.level,))
    if level.isolated:
        yield remark("isolated", numbers={"count": level.isolated})
    if level.components <= 1:
        return
    kind = "components"
    if spec.mask is not None:
        kind = "components, mask"
    elif spec.orientations > 1:
        kind = "components, fiber"
    elif spec.kernel:
        kind = "components, neighbors"
    yield remark(kind, numbers={"count": level.components})


def spectra(_: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Faults of the solver."""
    if not level.eigenvalues_converged:
        yield Finding("approximate", (level.level,))
    if level.multiplicities_may_be_larger:
        yield Finding("copies", (level.level,))


def gradients(_: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Rows that amplify noise too much."""
    if level.derivatives is not None and level.derivatives.steep is not None:
        yield level.derivatives.steep


def _wrapped(
    before: str, sentence: str, further: str = "    ", width: int = WIDTH
) -> Iterator[str]:
    """Lines of a sentence, none broken within "eps = 0.1" or "98.5 %"."""
    for phrase in TOGETHER:
        sentence = sentence.replace(phrase, phrase.replace(" ", UNBROKEN))
    lines = _wrap(sentence, width, initial_indent=before, subsequent_indent=further)
    return (line.replace(UNBROKEN, " ") for line in lines)


def _spectrum(level: LevelReport) -> list[str]:
    """The first eigenvalues of a level in one line, scaled to the operator's if possible."""
    shown = [(copies, value) for copies, value, _ in tables.distinct(level)][:SHOWN]
    if not shown:
        return []
    scale, smallest = level.eigenvalue_scale, ZERO * max(abs(value) for _, value in shown)
    texts = []
    for copies, value in shown:
        text = "0"
        if abs(value) > smallest:
            bar, _ = level.error_bars.of(copies)
            text = f"{value * (scale or 1):.4g}" + (f" ± {bar:.2g}" if bar else "")
        count = copies.stop - copies.start
        texts.append(f"{text} ({count}x)" if count > 1 else text)
    if shown[-1][0].stop < level.vertices:
        texts.append("...")
    unit = "of Delta, " if scale is None else ""
    return [f"{', '.join(texts)} ({unit}level {level.level})"]


def _derivatives(level: LevelReport) -> list[str]:
    """The errors of gradients."""
    known = level.derivatives
    if known is None:
        return []
    order = "" if known.order is None else f", of order {known.order:.2f}"
    turning = known.turning_error
    rotation = "" if turning is None else f", rotations {words.percent(turning)}"
    off = f"{words.percent(known.error)} off on a smooth function{rotation}{order}"
    return [f"{off}; rows up to {known.largest:.3g} / spacing (level {level.level})"]


def _eigenvalues(level: LevelReport) -> list[str]:
    """A line for each distinct eigenvalue: copies, Delta's, the operator's, what is known of it."""
    titles, [listed] = tables.eigenvalue_table([level])
    rows = [[f"level {level.level}", "eigenvalues of Delta", *titles]]
    rows += [[f"{row.title} x", *row.cells] for row in listed]
    unknown = level.error_bars.unknown
    return [*aligned(rows, ">"), *([f"errors not estimated: {unknown}"] if unknown else [])]
