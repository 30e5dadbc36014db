"""The report as text for a terminal: what one decides from first, or every measurement."""

import re
import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from cheblienet_graphs.report.findings import Spell, levels_in_words
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.remarks import connections, edges, remarks, spectra, verdicts
from cheblienet_graphs.report.rows import (
    UNKNOWN,
    aligned,
    eigenvalue_rows,
    grid,
    largest_errors,
    rows_of,
)
from cheblienet_graphs.spec import GraphSpec, fibres, words

WIDTH = 80
"""Width of lines that are sentences; the table may be wider."""
FULL_WIDTH = 110
"""The same of the full text."""
LABEL = 12
"""Width of the words before them."""
TOGETHER = re.compile(r" (?=[=%])|(?<= =) |(?<=level) (?=\d)")
"""Spaces at which no line ends,"""
UNBROKEN = "\u00a0"
"""and what stands for them meanwhile."""
SHOWN = 6
"""Different eigenvalues that are listed at most."""
ZERO = 1e-4
"""Eigenvalues that are smaller, in units of the largest listed, are those of constants."""

Column = tuple[str, str, Callable[[LevelReport], str]]
"""Two lines of a heading, and the cell of a level."""


def short_text(
    spec: GraphSpec, levels: Sequence[LevelReport], nbytes: int, spell: Spell = str
) -> str:
    """The specification, the answers to first questions, a row for each level, and remarks.

    Args:
        spec: of the build.
        levels: their reports.
        nbytes: size of all files.
        spell: writes parameters.
    """
    spell = _unbroken(spell)
    lines = [line for sentence in words.brief(spec) for line in _wrapped("  ", sentence)]
    lines += ["", *_answers(spec, levels, nbytes, spell), "", *_table(spec, levels)]
    if further := remarks(spec, levels, edges, spectra, spell=spell):
        lines += ["", *(line for sentence in further for line in _wrapped("  ", sentence))]
    return "\n".join(lines)


def full_text(spec: GraphSpec, levels: Sequence[LevelReport], spell: Spell = str) -> str:
    """The levels side by side, their spectra, and remarks.

    Args:
        spec: of the build.
        levels: their reports.
        spell: writes parameters.
    """
    spell = _unbroken(spell)
    lines = [*_full_table(spec, levels), *_reading(spec)]
    for level in levels:
        if level.eigenvalues:
            lines += ["", *_eigenvalues(level)]
    if any(level.eigenvalues for level in levels):
        operator = spec.geometry.operator_in_words
        lines.append(f"  of the operator: scaled to be those of {operator}")
    lines.append("")
    for sentence in [*verdicts(levels, spell), *remarks(spec, levels, spell=spell)]:
        lines += textwrap.wrap(sentence, FULL_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines).replace(UNBROKEN, " ")


def _unbroken(spell: Spell) -> Spell:
    """The same, but no line ends within an option and its value."""
    return lambda remedy: spell(remedy).replace(" ", UNBROKEN)


def _answers(
    spec: GraphSpec, levels: Sequence[LevelReport], nbytes: int, spell: Spell
) -> list[str]:
    """Is it consistent with its metric, connected, how large, how symmetric."""
    answers = [
        ("metric", verdicts(levels, spell)),
        ("connected", _connected(remarks(spec, levels, connections, spell=spell))),
        ("size", [_size(spec, levels, nbytes)]),
        ("symmetries", _symmetries(levels)),
        ("spectrum", _spectrum(levels[0])),
    ]
    return [line for label, sentences in answers for line in _answer(label, sentences)]


def _connected(against: Sequence[str]) -> list[str]:
    return [f"no: {against[0]}", *against[1:]] if against else ["yes"]


def _answer(label: str, sentences: Sequence[str]) -> list[str]:
    """Sentences, a paragraph each, with a label before the first; nothing where there are none."""
    lines = []
    for number, sentence in enumerate(sentences):
        start = "" if number else label
        lines += _wrapped(f"  {start:<{LABEL}}", sentence, " " * (LABEL + 2))
    return lines


def _wrapped(before: str, sentence: str, further: str = "    ") -> list[str]:
    """Lines of a sentence, none broken within "eps = 0.1" or "98.5 %"."""
    lines = textwrap.wrap(
        TOGETHER.sub(UNBROKEN, sentence),
        WIDTH,
        initial_indent=before,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(UNBROKEN, " ") for line in lines]


def _size(spec: GraphSpec, levels: Sequence[LevelReport], nbytes: int) -> str:
    first, disk = levels[0], words.human_bytes(nbytes)
    several = f"{spec.levels} levels" if spec.levels > 1 else "1 level"
    which = f" on level {first.level}" if spec.levels > 1 else ""
    return f"{first.vertices:,} vertices, {first.edges:,} edges{which}; {several}, {disk}"


def _symmetries(levels: Sequence[LevelReport]) -> list[str]:
    """The symmetries by their largest error over the levels, those without any first."""
    exact, others = [], []
    for name, most in largest_errors(levels).items():
        having = [level.level for level in levels if name in level.equivariance]
        where = "" if len(having) == len(levels) else f" ({levels_in_words(having)})"
        title = f"{name.replace('_', ' ')}{where}"
        if most:
            others.append(f"{title}: up to {most:.2g}")
        else:
            exact.append(title)
    answer = [f"exact: {', '.join(exact)}"] if exact else []
    answer += [f"|P'LP - L| of {', '.join(others)}"] if others else []
    return answer or ["none that the sampling has"]


def _spectrum(level: LevelReport) -> list[str]:
    """The first eigenvalues of a level in one line, those of the operator where that is known."""
    if not level.eigenvalues:
        return []
    scale, start, listed = level.eigenvalue_scale, 0, []
    floor = max(abs(value) for value in level.eigenvalues) * ZERO
    for copies in level.multiplicities[:SHOWN]:
        value = float(np.mean(level.eigenvalues[start : (start := start + copies)]))
        shown = "0" if abs(value) <= floor else f"{value * (scale or 1):.4g}"
        listed.append(f"{shown} ({copies}x)" if copies > 1 else shown)
    if start < level.vertices:
        listed.append("...")
    of_delta = "of Delta, " if scale is None else ""
    return [f"{', '.join(listed)} ({of_delta}level {level.level})"]


def _table(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    columns = _columns(spec, levels)
    rows = [
        [first for first, _, _ in columns],
        [second for _, second, _ in columns],
        *([cell(level) for _, _, cell in columns] for level in levels),
    ]
    return [f"  {line}" for line in aligned(rows, ">")]


def _columns(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Column]:
    """What is shown of each level: what this manifold, boundary and mask have."""
    columns: list[Column] = [
        ("", "level", lambda x: f"{x.level}"),
        ("", "grid", lambda x: grid(x, "x")),
    ]
    if spec.mask is not None:
        columns.append(("", "inside", lambda x: words.percent(x.inside or 0.0)))
    columns += [
        ("", "vertices", lambda x: f"{x.vertices:,}"),
        ("", "edges", lambda x: f"{x.edges:,}"),
        ("mean", "degree", lambda x: f"{x.degree['mean']:.1f}"),
    ]
    if spec.geometry.oriented:
        columns.append(("in", "plane", lambda x: f"{x.in_plane_fraction:.3f}"))
    columns.append(("realised", "eps^2", _eps_squared))
    if spec.geometry.oriented:
        columns.append(("xi^2", "/ asked", _xi_squared))
    if any(level.spectral_error is not None for level in levels):
        columns.append(("spectrum", "off by", _spectral_error))
    return columns


def _eps_squared(level: LevelReport) -> str:
    return _range([metric.eps_squared for metric in level.effective_metric])


def _xi_squared(level: LevelReport) -> str:
    if not level.xi_squared:
        return UNKNOWN
    return _range(
        [m.xi_squared and m.xi_squared / level.xi_squared for m in level.effective_metric]
    )


def _range(values: Sequence[float | None]) -> str:
    """'0.0036..0.005', the least and the largest over the orientations, or one number."""
    known = [value for value in values if value is not None]
    if not known:
        return UNKNOWN
    least, most = f"{min(known):.2g}", f"{max(known):.2g}"
    return least if least == most else f"{least}..{most}"


def _spectral_error(level: LevelReport) -> str:
    return UNKNOWN if level.spectral_error is None else words.percent(level.spectral_error)


def _full_table(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    rows = [("", [f"level {level.level}" for level in levels]), *rows_of(spec, levels)]
    for name in largest_errors(levels):
        errors = [level.equivariance.get(name) for level in levels]
        title = f"|P'LP - L|, {name.replace('_', ' ')}"
        rows.append((title, [UNKNOWN if error is None else f"{error:.2g}" for error in errors]))
    first = max(len(title) for title, _ in rows)
    width = max(len(cell) for _, cells in rows for cell in cells)
    return [
        f"  {title:<{first}}  {'  '.join(f'{cell:>{width}}' for cell in cells)}"
        for title, cells in rows
    ]


def _reading(spec: GraphSpec) -> list[str]:
    """An explanation of the table's words."""
    lines = []
    if spec.geometry.oriented:
        lines.append(
            f"  realised eps^2: least .. largest over the {fibres.words(spec)}; smaller is more "
            "anisotropic"
        )
    if spec.bandwidth is not None:
        lines.append("  t: how wide the kernel is, a function of d^2 / (4 t)")
    return ["", *lines] if lines else []


def _eigenvalues(level: LevelReport) -> list[str]:
    """A line for each distinct eigenvalue: copies, Delta's, the operator's, the exact one."""
    exact = level.exact_eigenvalues is not None
    titles = ["eigenvalues of Delta", "of the operator", *(["exact", "error"] if exact else [])]
    rows = [[f"level {level.level}", *titles]]
    for copies, cells in eigenvalue_rows(level, exact=exact):
        rows.append([f"{copies} x", *cells])
    return [f"  {line}" for line in aligned(rows, ">")]
