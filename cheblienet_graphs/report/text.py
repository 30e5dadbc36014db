"""The report on a graph, and its text: what one decides from first, or every measurement."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cheblienet_graphs.errors import Remedy, Spell, aligned
from cheblienet_graphs.report import rows as tables
from cheblienet_graphs.report.findings import Finding, levels_in_words, lines
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.opened import VersionReport
from cheblienet_graphs.spec import GraphSpec, fibers, words

WIDTH = 80
"""Width of lines that are sentences; the table may be wider."""
FULL_WIDTH = 110
"""The same of the full text."""
LABEL = 12
"""Width of the words before them."""
TOGETHER = (" %", " = ", "level ")
"""Phrases in which no line ends,"""
UNBROKEN = "\u00a0"
"""and what stands for their spaces meanwhile."""
SHOWN = 6
"""Different eigenvalues that are listed at most."""
ZERO = 1e-4
"""Eigenvalues that are smaller, in units of the largest shown, are those of constants."""
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

    def to_json(self, spell: Spell = str) -> dict[str, Any]:
        """The report as JSON types; `spell` writes parameters, by default as Python has them."""
        levels = [level.to_json(spell) for level in self.levels]
        return VersionReport.to_json(replace(self, levels=())) | {"levels": levels}

    def __str__(self) -> str:
        """The short text."""
        return self.short_text()

    def short_text(self, spell: Spell = str, *, extrapolate: bool = False) -> str:
        """What one decides from first, then a table of the levels, then remarks.

        Args:
            spell: writes parameters, by default as Python has them.
            extrapolate: whether to list eigenvalues less their estimated errors, too.
        """
        spell, columns = _unbroken(spell), tables.columns_of(self.spec, self.levels)
        rows = zip(*([*title.split("\n"), *cells] for title, cells in columns), strict=True)
        about = [line for sentence in words.brief(self.spec) for line in _wrapped("  ", sentence)]
        text = [self.title, *about, "", *self._answers(spell, extrapolate=extrapolate), ""]
        text += [f"  {line}" for line in aligned([*rows], ">")]
        if further := self.remarks(edges, spectra, gradients, spell=spell):
            text += ["", *(line for sentence in further for line in _wrapped("  ", sentence))]
        return "\n".join(text)

    def full_text(self, spell: Spell = str) -> str:
        """All of it: units, digests, every measurement, spectra of all levels, explanations."""
        about = [f"  {sentence}" for sentence in [*words.sentences(self.spec, spell), self.origin]]
        rows = [["", *(f"level {level.level}" for level in self.levels)]]
        rows += [[title, *cells] for title, cells in tables.rows_of(self.spec, self.levels)]
        for symmetry, cells in tables.error_rows(self.levels):
            rows.append([f"|P'LP - L|, {symmetry}", *cells])
        text = [*aligned(rows, "<>"), "", *tables.reading(self.spec)]
        for level in self.levels:
            if level.eigenvalues:
                text += ["", *_eigenvalues(level)]
        if any(level.eigenvalues for level in self.levels):
            operator = self.spec.geometry.operator_in_words
            text.append(f"of the operator: scaled to be those of {operator}")
        text = [self.title, *about, "", *(f"  {line}".rstrip() for line in text), ""]
        spell = _unbroken(spell)
        for sentence in [*self.verdicts(spell), *self.remarks(spell=spell)]:
            text += _wrapped("", sentence, "  ", FULL_WIDTH)
        return "\n".join(text)

    def verdicts(self, spell: Spell = str) -> list[str]:
        """A line for each kind of verdict; without levels where all share it."""
        if len({level.verdict for level in self.levels}) == 1:
            return [self.levels[0].finding.sentence(spell)]
        return self._lines([level.finding for level in self.levels], spell)

    def remarks(self, *made: Made, spell: Spell = str) -> list[str]:
        """A line for each remark besides the verdict, with the levels that it applies to.

        Args:
            made: which remarks: `edges`, `connections`, `spectra`, `gradients`; default all.
            spell: writes parameters.
        """
        kinds = made or (edges, connections, spectra, gradients)
        every_one = (
            one for level in self.levels for kind in kinds for one in kind(self.spec, level)
        )
        return self._lines(every_one, spell)

    def _lines(self, findings: Iterable[Finding], spell: Spell) -> list[str]:
        return lines(findings, [level.level for level in self.levels], spell)

    @property
    def size(self) -> str:
        """'13,824 vertices, 92,160 edges on level 0; 3 levels, 3.1 MB'."""
        first = self.levels[0]
        count = self.spec.levels
        return words.size(first.vertices, first.edges, count, self.bytes, level=first.level)

    @property
    def symmetries(self) -> list[str]:
        """The symmetries by their largest error over the levels, those without any first."""
        exact, others = list[str](), list[str]()
        for name, most in tables.largest_errors(self.levels).items():
            having = [level.level for level in self.levels if name in level.equivariance]
            where = "" if len(having) == len(self.levels) else f" ({levels_in_words(having)})"
            off = f": up to {most:.2g}" if most else ""
            (others if most else exact).append(f"{name.replace('_', ' ')}{where}{off}")
        answer = [f"exact: {', '.join(exact)}"] if exact else []
        answer += [f"|P'LP - L| of {', '.join(others)}"] if others else []
        return answer or ["none that the sampling has"]

    def _answers(self, spell: Spell, *, extrapolate: bool) -> Iterator[str]:
        """Is it consistent with its metric, connected, how large, how symmetric: with labels."""
        against, first = self.remarks(connections, spell=spell), self.levels[0]
        answers = {
            "metric": self.verdicts(spell),
            "connected": [f"no: {against[0]}", *against[1:]] if against else ["yes"],
            "size": [self.size],
            "symmetries": self.symmetries,
            "spectrum": _spectrum(first),
            "limit": _extrapolated(first) if extrapolate else [],
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
        yield remark("dense", numbers={"zeros": words.two_places(level.sparsity)})


def connections(spec: GraphSpec, level: LevelReport) -> Iterator[Finding]:
    """Isolated vertices and components; nothing where all is linked."""
    remark = partial(Finding, levels=(level.level,))
    if level.isolated:
        yield remark("isolated", numbers={"count": level.isolated})
    if level.components <= 1:
        return
    kind, remedies = "components", tuple[Remedy, ...]()
    if spec.mask is not None:
        kind = "components, mask"
    elif spec.orientations > 1:
        kind, remedies = "components, fiber", (Remedy(fibers.scaled_by(spec)),)
    elif spec.kernel:
        kind, remedies = "components, neighbors", (Remedy("neighbors"),)
    numbers = {"count": level.components, "fibers": fibers.words(spec)}
    yield remark(kind, numbers=numbers, remedies=remedies)


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


def _unbroken(spell: Spell) -> Spell:
    """The same, but no line ends within an option and its value."""
    return lambda remedy: spell(remedy).replace(" ", UNBROKEN)


def _wrapped(
    before: str, sentence: str, further: str = "    ", width: int = WIDTH
) -> Iterator[str]:
    """Lines of a sentence, none broken within "eps = 0.1" or "98.5 %"."""
    for phrase in TOGETHER:
        sentence = sentence.replace(phrase, phrase.replace(" ", UNBROKEN))
    lines = _wrap(sentence, width, initial_indent=before, subsequent_indent=further)
    return (line.replace(UNBROKEN, " ") for line in lines)


def _spectrum(level: LevelReport) -> list[str]:
    """The first eigenvalues of a level in one line, those of the operator where that is known."""
    scale = level.eigenvalue_scale

    def written(copies: slice, value: float) -> str:
        bar, _ = level.error_bars.of(copies)
        return _listed(copies, value * (scale or 1), f" ± {bar:.2g}" if bar else "")

    return _in_line(level, written, "of Delta, " if scale is None else "")


def _extrapolated(level: LevelReport) -> list[str]:
    """The same, less the estimated errors."""
    if level.error_bars.unknown:
        return [f"errors of eigenvalues not estimated: {level.error_bars.unknown}"]

    def written(copies: slice, value: float) -> str:
        _, far = level.error_bars.of(copies)
        return "-" if far is None else _listed(copies, value and far)

    return _in_line(level, written, "extrapolated, ")


def _in_line(level: LevelReport, written: Callable[[slice, float], str], what: str) -> list[str]:
    """The first distinct eigenvalues in a line, with dots where there are more; none of none.

    Args:
        level: of which they are.
        written: one, by the places of its copies and its value of Delta; that of constants is 0.
        what: they are, before the level.
    """
    shown = [(copies, value) for copies, value, _ in tables.distinct(level)][:SHOWN]
    if not shown:
        return []
    least = ZERO * max(abs(value) for _, value in shown)
    listed = [written(copies, value if abs(value) > least else 0.0) for copies, value in shown]
    more = ["..."] if shown[-1][0].stop < level.vertices else []
    return [f"{', '.join([*listed, *more])} ({what}level {level.level})"]


def _listed(copies: slice, value: float, off: str = "") -> str:
    """'39.35 ± 0.13 (4x)'."""
    count = copies.stop - copies.start
    number = f"{value:.4g}{off}" if value else "0"
    return f"{number} ({count}x)" if count > 1 else number


def _derivatives(level: LevelReport) -> list[str]:
    """How well gradients differentiate."""
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
    rows += [[f"{copies} x", *cells] for copies, cells in listed]
    unknown = level.error_bars.unknown
    return [*aligned(rows, ">"), *([f"errors not estimated: {unknown}"] if unknown else [])]
