"""Tables of levels, and of eigenvalues: a row for each quantity, a cell for each level."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.spec import GraphSpec, fibers, words

UNKNOWN = "-"
DEGREES = "{min:.0f} / {max:.0f}"
MASSES = "{least:.3g} / {most:.3g}"


class Row(NamedTuple):
    """A quantity.

    Args:
        title: its name.
        cells: one for each level.
        heading: two lines above its column in the short table; empty where it has none there.
    """

    title: str
    cells: list[str]
    heading: str = ""


class Quantity(NamedTuple):
    """A quantity of a level.

    Args:
        title: its name.
        cell: its text.
        heading: as in `Row`.
    """

    title: str
    cell: Callable[[LevelReport], str]
    heading: str = ""


def rows_of(spec: GraphSpec, levels: Sequence[LevelReport]) -> list[Row]:
    """The quantities that this manifold, boundary and mask have, level by level.

    Args:
        spec: of the build.
        levels: their reports.
    """
    compared = any(level.spectral_error is not None for level in levels)
    quantities = [*_sizes(spec), *_lengths(spec), *_realized(spec, compared=compared)]
    if spec.gradients:
        quantities += _gradients(spec)
    return [Row(q.title, [q.cell(level) for level in levels], q.heading) for q in quantities]


def _sizes(spec: GraphSpec) -> Iterator[Quantity]:
    """Numbers of vertices and edges, and their weights."""
    if spec.mask is not None:
        part = "mask" if spec.region is None else "region"
        yield Quantity(f"inside the {part}", lambda x: words.percent(x.inside or 0.0), "\ninside")
    if spec.cuts_pixels:
        yield Quantity("points whose pixel is cut", lambda x: words.percent((x.cut or {})["share"]))
        yield Quantity("mass of a point, pixels, min / max", lambda x: MASSES.format(**x.cut or {}))
    yield Quantity("grid", _grid, "\ngrid")
    yield Quantity("vertices", lambda x: f"{x.vertices:,}", "\nvertices")
    yield Quantity("edges", lambda x: f"{x.edges:,}", "\nedges")
    yield Quantity("stored entries", lambda x: f"{x.nnz:,}")
    yield Quantity("sparsity (paper: >= 98.5 %)", lambda x: words.two_places(x.sparsity))
    yield Quantity("degree, mean", lambda x: f"{x.degree['mean']:.1f}", "mean\ndegree")
    yield Quantity("degree, min / max", lambda x: DEGREES.format(**x.degree))
    heading = "in\nplane" if spec.geometry.oriented else ""
    yield Quantity("in-plane fraction", lambda x: f"{x.in_plane_fraction:.3f}", heading)
    yield Quantity(
        "weights, min / median / max", lambda x: " / ".join(map(_short, x.weights.values()))
    )
    yield Quantity("lambda_max", lambda x: f"{x.lambda_max:.7g}")
    yield Quantity("isolated vertices", lambda x: f"{x.isolated:,}")
    yield Quantity("components", lambda x: f"{x.components:,}")


def _lengths(spec: GraphSpec) -> Iterator[Quantity]:
    """Lengths in the metric's unit, and in one that can be seen."""
    lengths: dict[str, Callable[[LevelReport], float | None]] = {}
    if spec.geometry.oriented:
        lengths["xi, {} per radian"] = lambda x: x.xi
    if spec.kernel is not None:
        lengths["sqrt t, {}"] = lambda x: math.sqrt(x.bandwidth or 0.0)
    for title, length in lengths.items():
        yield Quantity(title.format(spec.geometry.base.unit), partial(_length, length))
        yield Quantity(title.format(fibers.visible_unit(spec)), partial(_seen, spec, length))


def _length(length: Callable[[LevelReport], float | None], level: LevelReport) -> str:
    return f"{length(level) or 0.0:.4g}"


def _seen(
    spec: GraphSpec, length: Callable[[LevelReport], float | None], level: LevelReport
) -> str:
    return f"{fibers.visible_length(spec, level.level, length(level) or 0.0):.3g}"


def _realized(spec: GraphSpec, *, compared: bool) -> Iterator[Quantity]:
    """The metric that the weights realize, and the errors of the spectrum."""
    yield Quantity(
        f"realized eps^2 (asked {spec.eps**2:.4g})",
        lambda x: words.span((m.eps_squared for m in x.effective_metric), ".."),
        "realized\neps^2",
    )
    if not spec.sampling_kind.regular:
        yield Quantity(
            "first moments, 0 to 1",
            lambda x: words.span((m.first_moment for m in x.effective_metric), ".."),
        )
    if spec.geometry.oriented:
        yield Quantity(
            "realized xi^2 / asked", lambda x: words.span(turning(x), ".."), "xi^2\n/ asked"
        )
    if compared:
        yield Quantity(
            "spectrum off by",
            lambda x: _known(x.spectral_error, words.percent),
            "spectrum\noff by",
        )


def _gradients(spec: GraphSpec) -> Iterator[Quantity]:
    """The errors of gradients on a smooth function."""

    def quantity(title: str, name: str, write: Callable[[float], str]) -> Quantity:
        return Quantity(title, lambda x: _known(getattr(x.derivatives, name), write))

    yield quantity("gradients off by", "error", words.percent)
    if spec.geometry.oriented:
        yield quantity("rotation off by", "turning_error", words.percent)
    yield quantity("order of gradients", "order", "{:.2f}".format)
    yield quantity("largest row of gradients x spacing", "largest", "{:.3g}".format)


def error_rows(levels: Sequence[LevelReport]) -> list[Row]:
    """For each symmetry |P'LP - L|, level by level."""
    written = "{:.2g}".format
    return [
        Row(name.replace("_", " "), [_known(x.equivariance.get(name), written) for x in levels])
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
        rows.append(Row(f"{copies.stop - copies.start}{more}", cells))
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
    ends = itertools.accumulate(level.multiplicities)
    exact = level.exact_eigenvalues
    for end, count in zip(ends, level.multiplicities, strict=True):
        copies = slice(end - count, end)
        known = float(np.mean(exact[copies])) if exact else None
        yield copies, float(np.mean(level.eigenvalues[copies])), known


def reading(spec: GraphSpec) -> list[str]:
    """An explanation of the tables' words."""
    lines = ["Level 0 is the finest. Sparsity is the share of zeros."]
    if spec.geometry.oriented:
        lines += [
            f"The in-plane fraction is the share of edges within one {fibers.sample_noun(spec)}.",
            f"Realized eps^2: least .. largest over the {fibers.sample_nouns(spec)}.",
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


def _grid(level: LevelReport) -> str:
    """The grid as a size: width x height x orientations."""
    orientations, *base = level.grid
    fiber = [] if level.xi is None else [orientations]
    return "x".join(map(str, [*reversed(base), *fiber]))


def _short(number: float) -> str:
    """Two digits, or all before the point: 0.12, 9.3, 140; from a million on as 1.4e+06."""
    return f"{number:,.0f}" if 99.5 <= number < 1e6 else f"{number:.2g}"


def _known(number: float | None, written: Callable[[float], str]) -> str:
    return UNKNOWN if number is None else written(number)
