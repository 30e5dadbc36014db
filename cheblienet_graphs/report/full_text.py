"""The whole report as text: all rows, the spectra of all levels, and how to read them."""

import math
import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.remarks import remarks, verdicts
from cheblienet_graphs.spec import GraphSpec, fibres, units, words

WIDTH = 110
"""Width of lines that are sentences."""


def full_text(spec: GraphSpec, levels: Sequence[LevelReport]) -> str:
    """The levels side by side, their spectra, and remarks.

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
    for sentence in [*verdicts(levels), *remarks(spec, levels)]:
        lines += textwrap.wrap(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def _table(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[str]:
    rows = [("", [f"level {level.level}" for level in levels])]
    if spec.mask is not None:
        shares = [words.percent(level.inside or 0.0) for level in levels]
        rows.append(("inside the mask" if spec.region is None else "inside the region", shares))
    rows += [(title, [cell(level) for level in levels]) for title, cell in _ROWS]
    rows += _length_rows(spec, levels)
    rows += _metric_rows(spec, levels)
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


_ROWS: list[tuple[str, Callable[[LevelReport], str]]] = [
    ("grid", lambda x: _grid(x)),
    ("vertices", lambda x: f"{x.vertices:,}"),
    ("edges", lambda x: f"{x.edges:,}"),
    ("stored entries", lambda x: f"{x.nnz:,}"),
    ("sparsity (paper: >= 98.5 %)", lambda x: f"{x.sparsity:.2%}".replace("%", " %")),
    (
        "degree, min / mean / max",
        lambda x: f"{x.degree['min']:.0f} / {x.degree['mean']:.1f} / {x.degree['max']:.0f}",
    ),
    ("in-plane fraction", lambda x: f"{x.in_plane_fraction:.3f}"),
    (
        "weights, min / median / max",
        lambda x: " / ".join(_short(x.weights[name]) for name in ("min", "median", "max")),
    ),
    ("lambda_max", lambda x: f"{x.lambda_max:.7g}"),
    ("isolated vertices", lambda x: f"{x.isolated:,}"),
    ("components", lambda x: f"{x.components:,}"),
]


def _short(number: float) -> str:
    """Two digits, or all before the point: 0.12, 9.3, 140; from a million on as 1.4e+06."""
    return f"{number:,.0f}" if 100 <= number < 1e6 else f"{number:.2g}"


def _grid(level: LevelReport) -> str:
    """The grid as a size: width x height x orientations."""
    orientations, *base = level.grid
    fibre = [] if level.xi is None else [orientations]
    return " x ".join(map(str, [*reversed(base), *fibre]))


def _length_rows(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[tuple[str, list[str]]]:
    """The metric's xi and the kernel's t, in the metric's unit and in one that can be seen."""
    unit, visible = units.unit(spec), units.visible_unit(spec)
    rows = []
    if spec.geometry.oriented:
        known = [(level.level, level.xi or 0.0) for level in levels]
        rows = [
            (f"xi, {unit} per radian", [f"{xi:.4g}" for _, xi in known]),
            (f"xi, {visible} per radian", [f"{units.visible(spec, *xi):.3g}" for xi in known]),
        ]
    if spec.bandwidth is not None:
        spread = [(level.level, math.sqrt(level.bandwidth or 0.0)) for level in levels]
        rows += [
            (f"sqrt t, {unit}", [f"{length:.4g}" for _, length in spread]),
            (f"sqrt t, {visible}", [f"{units.visible(spec, *t):.3g}" for t in spread]),
        ]
    return rows


def _metric_rows(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[tuple[str, list[str]]]:
    asked = f"{spec.eps**2:.4g}"
    realised = [[metric.eps_squared for metric in level.effective_metric] for level in levels]
    rows = [(f"realised eps^2 (asked {asked})", [_range(values) for values in realised])]
    if not spec.sampling_kind.regular:
        firsts = [[metric.first_moment for metric in level.effective_metric] for level in levels]
        rows.append(("first moments, 0 to 1", [_range(values) for values in firsts]))
    if spec.geometry.oriented:
        ratios = [
            [m.xi_squared / level.xi_squared for m in level.effective_metric if m.xi_squared]
            for level in levels
            if level.xi_squared
        ]
        rows.append(("realised xi^2 / asked", [_range(values) for values in ratios]))
    return rows


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


def _range(values: list[float | None] | list[float]) -> str:
    known = [value for value in values if value is not None]
    return words.interval(min(known), max(known)) if known else "-"


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
