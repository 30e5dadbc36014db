"""Tables of levels: columns for a glance, rows of facts and of eigenvalues for all the rest."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.spec import GraphSpec, fibers, words

UNKNOWN = "-"
DEGREES = "{min:.0f} / {mean:.1f} / {max:.0f}"
MASSES = "{least:.3g} / {most:.3g}"

Row = tuple[str, list[str]]
"""A title, and a cell for each level."""
Quantity = tuple[bool, str, Callable[[LevelReport], str]]
"""Whether it is shown, a title, and the cell of a level."""


def columns_of(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Row]:
    """What one decides from: what this manifold, boundary and mask have. Titles are of two lines.

    Args:
        spec: of the build.
        levels: their reports.
    """
    oriented, masked = spec.geometry.oriented, spec.mask is not None
    compared = any(level.spectral_error is not None for level in levels)
    columns: list[Quantity] = [
        (True, "\nlevel", lambda x: f"{x.level}"),
        (True, "\ngrid", lambda x: _grid(x, "x")),
        (masked, "\ninside", _inside),
        (True, "\nvertices", lambda x: f"{x.vertices:,}"),
        (True, "\nedges", lambda x: f"{x.edges:,}"),
        (True, "mean\ndegree", lambda x: f"{x.degree['mean']:.1f}"),
        (oriented, "in\nplane", _in_plane),
        (True, "realized\neps^2", lambda x: _span(_along(x), 2, "..")),
        (oriented, "xi^2\n/ asked", lambda x: _span(turning(x), 2, "..")),
        (compared, "spectrum\noff by", lambda x: _known(x.spectral_error, words.percent)),
    ]
    return _rows(columns, levels)


def rows_of(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Row]:
    """Sizes, lengths and the metric realized, level by level.

    Lengths are in the metric's unit and in one that can be seen.

    Args:
        spec: of the build.
        levels: their reports.
    """
    oriented, masked = spec.geometry.oriented, spec.mask is not None
    kernel, asked = spec.kernel is not None, f"{spec.eps**2:.4g}"
    cut = spec.cuts_pixels
    irregular = not spec.sampling_kind.regular
    unit, visible = spec.geometry.base.unit, fibers.visible_unit(spec)

    def seen(level: LevelReport, length: float) -> str:
        return f"{fibers.visible(spec, level.level, length):.3g}"

    every: list[Quantity] = [
        (masked, f"inside the {'mask' if spec.region is None else 'region'}", _inside),
        (cut, "points whose pixel is cut", lambda x: words.percent((x.cut or {})["share"])),
        (cut, "mass of a point, pixels, min / max", lambda x: MASSES.format(**x.cut or {})),
        (True, "grid", lambda x: _grid(x, " x ")),
        (True, "vertices", lambda x: f"{x.vertices:,}"),
        (True, "edges", lambda x: f"{x.edges:,}"),
        (True, "stored entries", lambda x: f"{x.nnz:,}"),
        (True, "sparsity (paper: >= 98.5 %)", lambda x: words.two_places(x.sparsity)),
        (True, "degree, min / mean / max", lambda x: DEGREES.format(**x.degree)),
        (True, "in-plane fraction", _in_plane),
        (
            True,
            "weights, min / median / max",
            lambda x: " / ".join(map(_short, x.weights.values())),
        ),
        (True, "lambda_max", lambda x: f"{x.lambda_max:.7g}"),
        (True, "isolated vertices", lambda x: f"{x.isolated:,}"),
        (True, "components", lambda x: f"{x.components:,}"),
        (oriented, f"xi, {unit} per radian", lambda x: f"{x.xi or 0.0:.4g}"),
        (oriented, f"xi, {visible} per radian", lambda x: seen(x, x.xi or 0.0)),
        (kernel, f"sqrt t, {unit}", lambda x: f"{math.sqrt(x.bandwidth or 0.0):.4g}"),
        (kernel, f"sqrt t, {visible}", lambda x: seen(x, math.sqrt(x.bandwidth or 0.0))),
        (True, f"realized eps^2 (asked {asked})", lambda x: _span(_along(x), 3, " .. ")),
        (irregular, "first moments, 0 to 1", lambda x: _span(_drift(x), 3, " .. ")),
        (oriented, "realized xi^2 / asked", lambda x: _span(turning(x), 3, " .. ")),
        *(_gradients(oriented=oriented) if spec.gradients else ()),
    ]
    return _rows(every, levels)


def _gradients(*, oriented: bool) -> list[Quantity]:
    """How well they differentiate a smooth function."""

    def cell(name: str, write: Callable[[float], str]) -> Callable[[LevelReport], str]:
        return lambda level: _known(getattr(level.derivatives, name), write)

    return [
        (True, "gradients off by", cell("error", words.percent)),
        (oriented, "rotation off by", cell("turning_error", words.percent)),
        (True, "order of gradients", cell("order", "{:.2f}".format)),
        (True, "largest row of gradients x spacing", cell("largest", "{:.3g}".format)),
    ]


def _rows(quantities: Sequence[Quantity], levels: Sequence[LevelReport]) -> list[Row]:
    return [(title, [cell(x) for x in levels]) for shown, title, cell in quantities if shown]


def error_rows(levels: Sequence[LevelReport]) -> list[Row]:
    """For each symmetry |P'LP - L|, level by level."""
    written = "{:.2g}".format
    return [
        (name.replace("_", " "), [_known(x.equivariance.get(name), written) for x in levels])
        for name in largest_errors(levels)
    ]


def eigenvalue_table(levels: Sequence[LevelReport]) -> tuple[list[str], list[list[Row]]]:
    """For each distinct eigenvalue its copies; Delta's and the operator's, and what is known of it.

    Args:
        levels: their reports; of all there are cells for what is known of one.

    Returns:
        Titles of the cells from the operator's on, and rows level by level.
    """
    bars = any(level.error_bars.unknown is None for level in levels)
    exact = any(level.exact_eigenvalues for level in levels)
    more = [*(["±", "extrapolated"] if bars else []), *(["exact", "error"] if exact else [])]
    rows = [_eigenvalue_rows(level, bars=bars, exact=exact) for level in levels]
    return ["of the operator", *more], rows


def _eigenvalue_rows(level: LevelReport, *, bars: bool, exact: bool) -> list[Row]:
    rows = []
    for copies, value, known in distinct(level):
        more = " or more" if copies.stop == len(level.eigenvalues) < level.vertices else ""
        scale = level.eigenvalue_scale
        cells = [f"{value:.6g}", UNKNOWN if scale is None else f"{value * scale:.6g}"]
        if bars:
            cells += _estimated(level, copies)
        if exact:
            cells += _compared(value, scale, known)
        rows.append((f"{copies.stop - copies.start}{more}", cells))
    return rows


def _estimated(level: LevelReport, copies: slice) -> list[str]:
    """The estimated error of an eigenvalue, and the extrapolated one."""
    bar, far = level.error_bars.of(copies)
    return [_known(bar, "{:.2g}".format), _known(far, "{:.6g}".format)]


def _compared(value: float, scale: float | None, known: float | None) -> list[str]:
    """The exact eigenvalue, and the error."""
    if scale is None or known is None:
        return [UNKNOWN] * 2
    error = f"{value * scale / known - 1:+.1%}".replace("%", " %") if known else ""
    return [f"{known:.6g}", error]


def distinct(level: LevelReport) -> Iterator[tuple[slice, float, float | None]]:
    """The places of each eigenvalue's copies, their mean, and that of the exact ones if known."""
    ends, exact = itertools.accumulate(level.multiplicities), level.exact_eigenvalues
    for end, count in zip(ends, level.multiplicities, strict=True):
        copies = slice(end - count, end)
        known = float(np.mean(exact[copies])) if exact else None
        yield copies, float(np.mean(level.eigenvalues[copies])), known


def reading(spec: GraphSpec) -> list[str]:
    """An explanation of the tables' words."""
    lines = ["Level 0 is the finest. Sparsity is the share of zeros."]
    if spec.geometry.oriented:
        lines += [
            f"The in-plane fraction is the share of edges within one {fibers.word(spec)}.",
            f"Realized eps^2: least .. largest over the {fibers.words(spec)}.",
            "xi is the length that one radian of rotation counts for.",
        ]
    if spec.kernel is not None:
        lines.append("Weights are a function of d^2 / (4 t): sqrt t is the kernel's width.")
    return lines


def turning(level: LevelReport) -> list[float | None]:
    """The realized xi^2 over the one asked for, by orientation; None where none is realized."""
    asked = level.xi_squared
    return [
        m.xi_squared / asked if m.xi_squared and asked else None for m in level.effective_metric
    ]


def largest_errors(levels: Sequence[LevelReport]) -> dict[str, float]:
    """The largest |P'LP - L| of each symmetry over the levels that have it."""
    worst: dict[str, float] = {}
    for level in levels:
        for name, error in level.equivariance.items():
            worst[name] = max(error, worst.get(name, 0.0))
    return worst


def _grid(level: LevelReport, by: str) -> str:
    """The grid as a size: width x height x orientations."""
    orientations, *base = level.grid
    fiber = [] if level.xi is None else [orientations]
    return by.join(map(str, [*reversed(base), *fiber]))


def _inside(level: LevelReport) -> str:
    return words.percent(level.inside or 0.0)


def _in_plane(level: LevelReport) -> str:
    return f"{level.in_plane_fraction:.3f}"


def _along(level: LevelReport) -> list[float | None]:
    """The realized eps^2 by orientation."""
    return [metric.eps_squared for metric in level.effective_metric]


def _drift(level: LevelReport) -> list[float]:
    """First moments by orientation."""
    return [metric.first_moment for metric in level.effective_metric]


def _span(values: Sequence[float | None], digits: int, between: str) -> str:
    """'0.0036..0.005', the least and the largest over the orientations, or one number."""
    known = [value for value in values if value is not None]
    return words.Interval(min(known), max(known)).written(digits, between) if known else UNKNOWN


def _short(number: float) -> str:
    """Two digits, or all before the point: 0.12, 9.3, 140; from a million on as 1.4e+06."""
    return f"{number:,.0f}" if 99.5 <= number < 1e6 else f"{number:.2g}"


def _known(number: float | None, written: Callable[[float], str]) -> str:
    return UNKNOWN if number is None else written(number)
