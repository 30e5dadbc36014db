"""The table over levels."""

import math
from collections.abc import Callable, Sequence

from cheblienet_graphs.page.tables import Group, table
from cheblienet_graphs.page.tags import Markup, element, joined, powers
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.spec import GraphSpec, fibres, units, words

Cells = Callable[[LevelReport], str]


def levels_table(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The levels side by side, and what the table's words mean.

    Args:
        spec: of the build.
        levels: their reports.
    """
    columns = ["", *(f"level {level.level}" for level in levels)]
    rows = [
        [powers(title), *(cell(level) for level in levels)]
        for title, cell in [*_inside(spec), *_SIZES, *_lengths(spec), *_metric(spec)]
    ]
    reading = [element("li", powers(line)) for line in _reading(spec)]
    made = table("levels-table", "The graphs of the pyramid", columns, [Group(rows)], kind="levels")
    return joined([made, element("ul", *reading, class_="faint")])


def _inside(spec: GraphSpec) -> list[tuple[str, Cells]]:
    if spec.mask is None:
        return []
    where = "mask" if spec.region is None else "region"
    return [(f"inside the {where}", lambda x: words.percent(x.inside or 0.0))]


_SIZES: list[tuple[str, Cells]] = [
    ("grid", lambda x: _grid(x)),
    ("vertices", lambda x: f"{x.vertices:,}"),
    ("edges", lambda x: f"{x.edges:,}"),
    ("stored entries", lambda x: f"{x.nnz:,}"),
    ("sparsity", lambda x: f"{x.sparsity:.2%}".replace("%", " %")),
    (
        "neighbours, least / mean / most",
        lambda x: f"{x.degree['min']:.0f} / {x.degree['mean']:.1f} / {x.degree['max']:.0f}",
    ),
    ("in-plane fraction", lambda x: f"{x.in_plane_fraction:.3f}"),
    (
        "weights, least / median / largest",
        lambda x: " / ".join(short(x.weights[name]) for name in ("min", "median", "max")),
    ),
    ("lambda_max", lambda x: f"{x.lambda_max:.7g}"),
    ("isolated vertices", lambda x: f"{x.isolated:,}"),
    ("components", lambda x: f"{x.components:,}"),
]


def _lengths(spec: GraphSpec) -> list[tuple[str, Cells]]:
    """The metric's xi and the kernel's t, in the metric's unit and in one that can be seen."""
    unit, visible = units.unit(spec), units.visible_unit(spec)

    def root_t(level: LevelReport) -> float:
        return math.sqrt(level.bandwidth or 0.0)

    rows: list[tuple[str, Cells]] = []
    if spec.geometry.oriented:
        rows += [
            (f"xi, {unit} per radian", lambda x: f"{x.xi:.4g}"),
            (
                f"xi, {visible} per radian",
                lambda x: f"{units.visible(spec, x.level, x.xi or 0.0):.3g}",
            ),
        ]
    if spec.bandwidth is not None:
        rows += [
            (f"sqrt t, {unit}", lambda x: f"{root_t(x):.4g}"),
            (
                f"sqrt t, {visible}",
                lambda x: f"{units.visible(spec, x.level, root_t(x)):.3g}",
            ),
        ]
    return rows


def _metric(spec: GraphSpec) -> list[tuple[str, Cells]]:
    rows: list[tuple[str, Cells]] = [
        (
            f"realised eps^2 (asked {spec.eps**2:.4g})",
            lambda x: spread([m.eps_squared for m in x.effective_metric]),
        )
    ]
    if spec.geometry.oriented:
        rows.append(("realised xi^2 / asked", lambda x: spread(turning(x))))
    return rows


def turning(level: LevelReport) -> list[float | None]:
    """The realised xi^2 over the one asked for, by orientation; None where none is realised."""
    asked = level.xi_squared
    return [
        m.xi_squared / asked if m.xi_squared and asked else None for m in level.effective_metric
    ]


def spread(values: list[float | None]) -> str:
    """The least and the largest of those known; a dash where none is."""
    known = [value for value in values if value is not None]
    return words.interval(min(known), max(known)) if known else "-"


def short(number: float) -> str:
    """Two digits, or all before the point: 0.12, 9.3, 140; from a million on as 1.4e+06."""
    return f"{number:,.0f}" if 100 <= number < 1e6 else f"{number:.2g}"


def _grid(level: LevelReport) -> str:
    """The grid as a size: width x height x orientations."""
    orientations, *base = level.grid
    fibre = [] if level.xi is None else [orientations]
    return " x ".join(map(str, [*reversed(base), *fibre]))


def _reading(spec: GraphSpec) -> list[str]:
    """An explanation of the table's words."""
    lines = ["Level 0 is the finest.", "Sparsity is the share of zeros; the paper asks for 98.5 %."]
    if spec.geometry.oriented:
        lines += [
            f"The in-plane fraction is the share of edges within one {fibres.word(spec)}.",
            (
                f"Realised eps^2: least .. largest over the {fibres.words(spec)}; smaller is more "
                "anisotropic."
            ),
            "xi is the length that one radian of rotation counts for.",
        ]
    if spec.bandwidth is not None:
        lines.append(
            "Weights are a function of d^2 / (4 t), d the distance: sqrt t is the kernel's width."
        )
    return lines
