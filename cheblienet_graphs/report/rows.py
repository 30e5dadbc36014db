"""Rows of facts and of eigenvalues: for the terminal and for the page."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.spec import GraphSpec, units, words

UNKNOWN = "-"

Row = tuple[str, list[str]]
"""A title, and a cell for each level."""


def rows_of(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Row]:
    """Sizes, lengths and the metric realised, level by level.

    Args:
        spec: of the build.
        levels: their reports.
    """
    rows: list[Row] = []
    if spec.mask is not None:
        shares = [words.percent(level.inside or 0.0) for level in levels]
        rows.append(("inside the mask" if spec.region is None else "inside the region", shares))
    rows += [(title, [cell(level) for level in levels]) for title, cell in _ROWS]
    return [*rows, *_length_rows(spec, levels), *_metric_rows(spec, levels)]


def turning(level: LevelReport) -> list[float | None]:
    """The realised xi^2 over the one asked for, by orientation; None where none is realised."""
    asked = level.xi_squared
    return [
        m.xi_squared / asked if m.xi_squared and asked else None for m in level.effective_metric
    ]


_ROWS: list[tuple[str, Callable[[LevelReport], str]]] = [
    ("grid", lambda x: grid(x, " x ")),
    ("vertices", lambda x: f"{x.vertices:,}"),
    ("edges", lambda x: f"{x.edges:,}"),
    ("stored entries", lambda x: f"{x.nnz:,}"),
    ("sparsity (paper: >= 98.5 %)", lambda x: words.two_places(x.sparsity)),
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


def grid(level: LevelReport, by: str) -> str:
    """The grid as a size: width x height x orientations."""
    orientations, *base = level.grid
    fibre = [] if level.xi is None else [orientations]
    return by.join(map(str, [*reversed(base), *fibre]))


def largest_errors(levels: Sequence[LevelReport]) -> dict[str, float]:
    """The largest |P'LP - L| of each symmetry over the levels that have it."""
    worst: dict[str, float] = {}
    for level in levels:
        for name, error in level.equivariance.items():
            worst[name] = max(error, worst.get(name, 0.0))
    return worst


def eigenvalue_rows(level: LevelReport, *, exact: bool) -> list[Row]:
    """For each distinct eigenvalue its copies; Delta's, the operator's, the exact one, its error.

    Args:
        level: a report.
        exact: whether there are the last two.
    """
    ends = itertools.accumulate(level.multiplicities)
    rows = []
    for copies, end in zip(level.multiplicities, ends, strict=True):
        value = float(np.mean(level.eigenvalues[end - copies : end]))
        more = " or more" if end == len(level.eigenvalues) < level.vertices else ""
        cells = [f"{value:.6g}", *_of_operator(level, slice(end - copies, end), value)]
        rows.append((f"{copies}{more}", cells if exact else cells[:2]))
    return rows


def _of_operator(level: LevelReport, copies: slice, value: float) -> list[str]:
    """The operator's eigenvalue, the exact one, and the error."""
    if level.eigenvalue_scale is None:
        return [UNKNOWN] * 3
    scaled = value * level.eigenvalue_scale
    if not level.exact_eigenvalues:
        return [f"{scaled:.6g}", UNKNOWN, UNKNOWN]
    exact = float(np.mean(level.exact_eigenvalues[copies]))
    error = f"{scaled / exact - 1:+.1%}".replace("%", " %") if exact else ""
    return [f"{scaled:.6g}", f"{exact:.6g}", error]


def aligned(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Rows in columns.

    Args:
        rows: their cells.
        sides: of each column "<" or ">"; of all, where it is one.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    each = sides * len(widths) if len(sides) == 1 else sides
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, each, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _length_rows(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Row]:
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


def _metric_rows(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Row]:
    asked = f"{spec.eps**2:.4g}"
    realised = [[metric.eps_squared for metric in level.effective_metric] for level in levels]
    rows = [(f"realised eps^2 (asked {asked})", [_range(values) for values in realised])]
    if not spec.sampling_kind.regular:
        firsts = [[metric.first_moment for metric in level.effective_metric] for level in levels]
        rows.append(("first moments, 0 to 1", [_range(values) for values in firsts]))
    if spec.geometry.oriented:
        rows.append(("realised xi^2 / asked", [_range(turning(level)) for level in levels]))
    return rows


def _range(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return words.interval(min(known), max(known)) if known else UNKNOWN
