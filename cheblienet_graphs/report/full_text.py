"""The whole report as text: all rows, the spectra of all levels, and how to read them."""

import textwrap
from collections.abc import Sequence

import numpy as np

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.remarks import remarks, verdicts
from cheblienet_graphs.report.rows import rows_of
from cheblienet_graphs.report.training import on_training
from cheblienet_graphs.spec import GraphSpec, fibres

WIDTH = 110
"""Width of lines that are sentences."""


def full_text(spec: GraphSpec, levels: Sequence[LevelReport]) -> str:
    """The levels side by side, their spectra, remarks, and what studies say of such graphs.

    Args:
        spec: of the build.
        levels: their reports.
    """
    lines = _table(spec, levels)
    if reading := _reading(spec):
        lines += ["", *reading]
    for level in levels:
        if level.eigenvalues:
            lines += ["", *_spectrum(level)]
    if any(level.eigenvalues for level in levels):
        lines += [f"  of the operator: scaled to be those of {_operator(spec)}"]
    lines.append("")
    for sentence in [*verdicts(levels), *remarks(spec, levels), *on_training(spec)]:
        lines += textwrap.wrap(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def _table(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    rows = [("", [f"level {level.level}" for level in levels]), *rows_of(spec, levels)]
    symmetries = dict.fromkeys(name for level in levels for name in level.equivariance)
    for name in symmetries:
        errors = [level.equivariance.get(name) for level in levels]
        title = f"|P'LP - L|, {name.replace('_', ' ')}"
        rows.append((title, ["-" if error is None else f"{error:.2g}" for error in errors]))
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
            f"realised eps^2: least .. largest over the {fibres.words(spec)}; smaller is more "
            "anisotropic"
        )
    if spec.bandwidth is not None:
        lines.append("t: how wide the kernel is, a function of d^2 / (4 t)")
    return [f"  {line}" for line in lines]


def _operator(spec: GraphSpec) -> str:
    """The operator whose eigenvalues Delta's estimate, lengths in the metric's unit."""
    return spec.geometry.operator_in_words


def _spectrum(level: LevelReport) -> list[str]:
    """A line for each distinct eigenvalue: copies, Delta's, the operator's, the exact one."""
    scale = level.eigenvalue_scale
    exact = level.exact_eigenvalues
    lines = [
        f"  {f'level {level.level}':<10}{'eigenvalues of Delta':>28}{'of the operator':>17}"
        + (f"{'exact':>13}{'error':>10}" if exact else "")
    ]
    start = 0
    for copies in level.multiplicities:
        group = slice(start, start := start + copies)
        value = float(np.mean(level.eigenvalues[group]))
        more = "+" if start == len(level.eigenvalues) < level.vertices else " "
        line = f"  {f'{copies}{more}x':>25}{value:>13.6g}"
        line += f"{'-':>17}" if scale is None else f"{value * scale:>17.6g}"
        if exact and scale is not None:
            true = float(np.mean(exact[group]))
            error = f"{value * scale / true - 1:+.1%}".replace("%", " %") if true else ""
            line += f"{true:>13.6g}{error:>10}"
        lines.append(line.rstrip())
    return lines
