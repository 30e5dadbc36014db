"""The report as text for a terminal: what one decides from first, then a table, then remarks."""

import re
import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.order import order_of
from cheblienet_graphs.report.remarks import on_connections, on_edges_and_spectrum, verdicts
from cheblienet_graphs.report.said import levels_in_words
from cheblienet_graphs.spec import GraphSpec, words

WIDTH = 80
"""Width of lines that are sentences; the table may be wider."""
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


def short_text(spec: GraphSpec, levels: Sequence[LevelReport], nbytes: int) -> str:
    """The specification, the answers to first questions, a row for each level, and remarks.

    Args:
        spec: of the build.
        levels: their reports.
        nbytes: size of all files.
    """
    lines = [line for said in words.brief(spec) for line in _wrapped("  ", said)]
    lines += ["", *_answers(spec, levels, nbytes), "", *_table(spec, levels)]
    if further := on_edges_and_spectrum(spec, levels):
        lines += ["", *(line for said in further for line in _wrapped("  ", said))]
    return "\n".join(lines)


def _answers(spec: GraphSpec, levels: Sequence[LevelReport], nbytes: int) -> list[str]:
    """Is it consistent with its metric, connected, how large, how symmetric, of which order."""
    answers = [
        ("metric", verdicts(levels)),
        ("connected", _connected(on_connections(spec, levels))),
        ("size", [_size(spec, levels, nbytes)]),
        ("symmetries", _symmetries(levels)),
        ("spectrum", _spectrum(levels[0])),
        ("order", [order] if (order := order_of(spec)) else []),
    ]
    return [line for label, said in answers for line in _answer(label, said)]


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
    errors: dict[str, dict[int, float]] = {}
    for level in levels:
        for name, error in level.equivariance.items():
            errors.setdefault(name.replace("_", " "), {})[level.level] = error
    if not errors:
        return ["none that the sampling has"]
    exact, others = [], []
    for name, by_level in errors.items():
        where = "" if len(by_level) == len(levels) else f" ({levels_in_words(list(by_level))})"
        if most := max(by_level.values()):
            others.append(f"{name}{where}: up to {most:.2g}")
        else:
            exact.append(f"{name}{where}")
    said = [f"exact: {', '.join(exact)}"] if exact else []
    return [*said, f"|P'LP - L| of {', '.join(others)}"] if others else said


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
    whose = " of Delta" if scale is None else ""
    return [f"{', '.join(listed)} (level {level.level}{whose})"]


def _table(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    columns = _columns(spec, levels)
    rows = [
        [first for first, _, _ in columns],
        [second for _, second, _ in columns],
        *([cell(level) for _, _, cell in columns] for level in levels),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _columns(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Column]:
    """What is shown of each level: what this manifold, boundary and mask have."""
    columns: list[Column] = [("", "level", lambda x: f"{x.level}"), ("", "grid", _grid)]
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


def _grid(level: LevelReport) -> str:
    """The grid as a size: width x height x orientations."""
    orientations, *base = level.grid
    fibre = [] if level.xi is None else [orientations]
    return "x".join(map(str, [*reversed(base), *fibre]))


def _eps_squared(level: LevelReport) -> str:
    return _range([metric.eps_squared for metric in level.effective_metric])


def _xi_squared(level: LevelReport) -> str:
    if not level.xi_squared:
        return "-"
    return _range([m.xi_squared and m.xi_squared / level.xi_squared for m in level.effective_metric])


def _range(values: Sequence[float | None]) -> str:
    """'0.0036..0.005', the least and the largest over the orientations, or one number."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    least, most = f"{min(known):.2g}", f"{max(known):.2g}"
    return least if least == most else f"{least}..{most}"


def _spectral_error(level: LevelReport) -> str:
    return "-" if level.spectral_error is None else words.percent(level.spectral_error)
