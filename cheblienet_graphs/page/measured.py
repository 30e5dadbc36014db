"""What was measured of a graph: four answers, the table of levels, and the certificate."""

from collections.abc import Sequence
from typing import Literal

from cheblienet_graphs.errors import Spell
from cheblienet_graphs.page.html import Markup, element, joined, prose, section, table
from cheblienet_graphs.report import rows as tables
from cheblienet_graphs.report.inspect import Report
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.text import connections, remarks, size_of, symmetries
from cheblienet_graphs.report.verdict import Consistency
from cheblienet_graphs.spec import GraphSpec, fibers
from cheblienet_graphs.spec.words import percent

MOST_EIGENVALUES = 40
"""Distinct ones that are shown of each level."""
Kind = Literal["good", "bad", "open"]

ANSWERS: dict[Consistency, tuple[str, Kind]] = {
    "inconsistent": ("No", "bad"),
    "too coarse": ("No: too coarse", "open"),
    "not compared": ("Not fully compared", "open"),
    "consistent": ("Yes", "good"),
}
"""The answer to each, the worst first."""


def glance(report: Report, spell: Spell) -> Markup:
    """Four questions with their answers, as the terminal has them.

    Args:
        report: of the graph.
        spell: writes parameters.
    """
    spec, levels = report.spec, report.levels
    having = [answer for answer in ANSWERS if any(x.consistency == answer for x in levels)]
    short, kind = ANSWERS[having[0]]
    consistent = short if len(having) == 1 else "Not on every level"
    apart = any(level.components > 1 for level in levels)
    exact = sum(error == 0 for error in tables.largest_errors(levels).values())
    more = [] if having == ["consistent"] else [element("a", "why", href="#consistency")]
    pieces = remarks(spec, levels, connections, spell=spell)
    answers = (
        (kind, "Consistent with its metric?", consistent, *more),
        ("bad" if apart else "good", "Connected?", "No" if apart else "Yes", *pieces),
        ("", "How large?", size_of(spec, levels, report.bytes)),
        ("" if exact else "open", "Which symmetries?", f"{exact} exact", *symmetries(levels)),
    )
    return element("dl", *(_answer(*answer) for answer in answers), class_="glance")


def _answer(kind: str, question: str, *answers: str) -> Markup:
    further = [element("dd", one if isinstance(one, Markup) else prose(one)) for one in answers]
    return element("div", element("dt", question), *further, class_=kind)


def levels_table(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The levels side by side, and what the table's words mean.

    Args:
        spec: of the build.
        levels: their reports.
    """
    rows, columns = {"": tables.rows_of(spec, levels)}, _columns("", levels)
    made = table("levels-table", "The graphs of the pyramid", columns, rows, kind="levels")
    lines = [element("li", prose(line)) for line in tables.reading(spec)]
    return joined([made, element("ul", *lines, class_="faint")])


def _columns(first: str, levels: Sequence[LevelReport]) -> list[str]:
    return [first, *(f"level {level.level}" for level in levels)]


def certificate(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """What was measured of equivariance, second moments and spectrum.

    Args:
        spec: of the build.
        levels: their reports.
    """
    parts = [_equivariance(levels), _moments(spec, levels)]
    if any(level.eigenvalues for level in levels):
        parts.append(_spectrum(spec, levels))
    return section("certificate", "Certificate", *parts)


def _part(title: str, explained: str, *tables: Markup) -> Markup:
    return joined([element("h3", title), element("p", prose(explained)), *tables])


def _equivariance(levels: Sequence[LevelReport]) -> Markup:
    title = "Equivariance"
    if not (rows := tables.error_rows(levels)):
        return _part(title, "This sampling has no symmetry that is known: nothing is compared.")
    explained = "Where it is 0, filters of the stored Laplacian L commute with the symmetry P."
    columns = _columns("symmetry", levels)
    made = table("equivariance", "Largest |P'LP - L|", columns, {"": rows})
    return _part(title, explained, made)


def _moments(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """Second moments by level and orientation or axis."""
    title, asked, oriented = "Second moments", f"{spec.eps**2:.4g}", spec.geometry.oriented
    measured = [level for level in levels if level.effective_metric]
    groups = {f"level {level.level}": _moment_rows(spec, level) for level in measured}
    if not groups:
        none = "No point has all its neighbors inside the mask, so nothing was measured."
        return _part(title, none)
    explained = (
        "Around a vertex the Laplacian acts through sum w c c', c the components of an edge and w "
        "its weight: those of the metric R where it is a multiple of R^-1."
    )
    if spec.weights == "selling" and spec.period == "pi" and spec.orientations > 1:
        explained += " Selling's fiber edges are made for its first mode: xi^2 is smaller here."
    columns = [
        fibers.word(spec) if oriented else "",
        f"eps^2 (asked {asked})",
        *(["xi^2 / asked"] if oriented else []),
        "mixing of directions",
        "largest deviation at a point",
    ]
    made = table("moments", "The metric that the weights realize", columns, groups)
    return _part(title, explained, made)


def _moment_rows(spec: GraphSpec, level: LevelReport) -> list[tables.Row]:
    rows: list[tables.Row] = []
    samples, oriented = fibers.samples_of(spec), spec.geometry.oriented
    for metric, ratio in zip(level.effective_metric, tables.turning(level), strict=True):
        title = fibers.title(samples, metric.orientation, " ") if oriented else "all points"
        realized = [metric.eps_squared, *([ratio] if oriented else [])]
        cells = [tables.UNKNOWN if number is None else f"{number:.3g}" for number in realized]
        cells += [percent(x) if x > 1e-9 else "0" for x in (metric.leakage, metric.deviation)]
        rows.append((title, cells))
    return rows


def _spectrum(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The smallest eigenvalues, a line for each distinct one."""
    exact = any(level.exact_eigenvalues for level in levels)
    bars = any(level.error_bars.unknown is None for level in levels)
    explained = f"The operator is {spec.geometry.operator_in_words}, as the graph estimates it."
    more = tables.eigenvalue_titles(bars=bars, exact=exact)
    columns = ["copies", "of Delta", "of the operator", *more]
    groups = {
        _level_title(level): _eigenvalues(level, bars=bars, exact=exact)
        for level in levels
        if level.eigenvalues
    }
    made = table("eigenvalues", "The smallest eigenvalues", columns, groups)
    return _part("Spectrum", explained, made)


def _eigenvalues(level: LevelReport, *, bars: bool, exact: bool) -> list[tables.Row]:
    return tables.eigenvalue_rows(level, bars=bars, exact=exact)[:MOST_EIGENVALUES]


def _level_title(level: LevelReport) -> str:
    more, unknown = len(level.multiplicities) - MOST_EIGENVALUES, level.error_bars.unknown
    others = f"; {more:,} more are in the JSON report" if more > 0 else ""
    errors = f"; errors not estimated: {unknown}" if unknown else ""
    return f"level {level.level}{others}{errors}"
