"""What was measured of a graph: four answers, the table of levels, and the certificate."""

from collections.abc import Sequence
from typing import Literal

from cheblienet_graphs.page.html import Markup, element, joined, prose, section, table
from cheblienet_graphs.report.findings import levels_in_words
from cheblienet_graphs.report.inspect import Report
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.rows import (
    UNKNOWN,
    Row,
    eigenvalue_rows,
    error_rows,
    largest_errors,
    reading,
    rows_of,
    turning,
)
from cheblienet_graphs.report.verdict import Consistency
from cheblienet_graphs.spec import GraphSpec, fibres
from cheblienet_graphs.spec.words import human_bytes, percent

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


def glance(report: Report) -> Markup:
    """Four questions with their answers."""
    levels = report.levels
    answers = [_consistent(levels), _connected(levels), _size(report), _symmetric(levels)]
    return element("dl", *answers, class_="glance")


def _answer(kind: str, question: str, *answers: str) -> Markup:
    further = [element("dd", one if isinstance(one, Markup) else prose(one)) for one in answers]
    return element("div", element("dt", question), *further, class_=kind)


def _consistent(levels: Sequence[LevelReport]) -> Markup:
    having = {
        answer: [level.level for level in levels if level.consistency == answer]
        for answer in ANSWERS
        if any(level.consistency == answer for level in levels)
    }
    worst = next(iter(having))
    (short, kind), more = ANSWERS[worst], list[str]()
    if len(having) > 1:
        short = "Not on every level"
        more += sorted(
            f"{levels_in_words(which)}: {ANSWERS[answer][0].lower()}"
            for answer, which in having.items()
        )
    errors = [level.spectral_error for level in levels if level.spectral_error is not None]
    if errors:
        more.append(f"first eigenvalues up to {percent(max(errors))} off")
    if worst != "consistent":
        what = "what to do" if worst == "inconsistent" else "why"
        more.append(element("a", what, href="#consistency"))
    return _answer(kind, "Consistent with its metric?", short, *more)


def _connected(levels: Sequence[LevelReport]) -> Markup:
    apart = [level for level in levels if level.components > 1]
    if not apart:
        each = " on each level" if len(levels) > 1 else ""
        return _answer("good", "Connected?", "Yes", f"one component{each}")
    short = "No" if len(apart) == len(levels) else "Not on every level"
    pieces = [f"level {level.level}: {level.components:,} components" for level in apart]
    alone = [level for level in levels if level.isolated]
    isolated = [f"level {x.level}: {x.isolated:,} vertices without neighbours" for x in alone]
    return _answer("bad", "Connected?", short, *pieces, *isolated)


def _size(report: Report) -> Markup:
    first, made = report.levels[0], report.spec.levels
    where = f", on level {first.level}" if made > 1 else ""
    edges = f"{first.edges:,} edges, {first.degree['mean']:.1f} neighbours a vertex{where}"
    disk = f"{made} level{'s' if made > 1 else ''}, {human_bytes(report.bytes)} on disk"
    return _answer("", "How large?", f"{first.vertices:,} vertices", edges, disk)


def _symmetric(levels: Sequence[LevelReport]) -> Markup:
    question = "Which symmetries?"
    worst = {name.replace("_", " "): error for name, error in largest_errors(levels).items()}
    exact = [name for name, error in worst.items() if error == 0]
    others = [f"{name}: |P'LP - L| up to {e:.2g}" for name, e in worst.items() if e != 0]
    if not worst:
        return _answer("", question, "None", "this sampling has no symmetry that is known")
    if not exact:
        return _answer("open", question, "None exactly", *others)
    return _answer("good", question, f"{len(exact)}, exactly", ", ".join(exact), *others)


def levels_table(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The levels side by side, and what the table's words mean.

    Args:
        spec: of the build.
        levels: their reports.
    """
    rows, columns = {"": rows_of(spec, levels)}, _columns("", levels)
    made = table("levels-table", "The graphs of the pyramid", columns, rows, kind="levels")
    lines = [element("li", prose(line)) for line in reading(spec)]
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
    if not (rows := error_rows(levels)):
        return _part(title, "This sampling has no symmetry that is known: nothing is compared.")
    explained = (
        "For each symmetry P of the sampling the largest entry of |P'LP - L|, over all entries of "
        "the stored Laplacian L, whose eigenvalues are in [-1, 1]. Where it is 0, filters of L "
        "commute with P."
    )
    columns = _columns("symmetry", levels)
    made = table("equivariance", "Largest |P'LP - L|", columns, {"": rows})
    return _part(title, explained, made)


def _moments(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """Second moments by level and orientation or axis."""
    title, asked, oriented = "Second moments", f"{spec.eps**2:.4g}", spec.geometry.oriented
    groups = {
        f"level {level.level}": _moment_rows(spec, level)
        for level in levels
        if level.effective_metric
    }
    if not groups:
        none = "No point has all its neighbours inside the mask, so nothing was measured."
        return _part(title, none)
    explained = (
        "Around a vertex the Laplacian acts through the second moments of its edges, "
        "M = sum w c c', c the components of an edge and w its weight. They are those of the "
        f"metric R where M is a multiple of R^-1: then eps^2 comes out as {asked}"
        + (", xi^2 as asked," if oriented else "")
        + " and nothing mixes."
    )
    if spec.weights == "selling" and spec.geometry.fibre.cyclic and spec.orientations > 1:
        explained += (
            " Selling's edges across orientations are made for the first mode along the fibre, "
            "which shows here as a smaller xi^2."
        )
    columns = [
        fibres.word(spec) if oriented else "",
        f"eps^2 (asked {asked})",
        *(["xi^2 / asked"] if oriented else []),
        "mixing of directions",
        "largest deviation at a point",
    ]
    made = table("moments", "The metric that the weights realise", columns, groups)
    return _part(title, explained, made)


def _moment_rows(spec: GraphSpec, level: LevelReport) -> list[Row]:
    rows: list[Row] = []
    samples, oriented = fibres.samples_of(spec), spec.geometry.oriented
    for metric, ratio in zip(level.effective_metric, turning(level), strict=True):
        title = fibres.title(samples, metric.orientation, " ") if oriented else "all points"
        realised = [metric.eps_squared, *([ratio] if oriented else [])]
        cells = [UNKNOWN if number is None else f"{number:.3g}" for number in realised]
        cells += [percent(x) if x > 1e-9 else "0" for x in (metric.leakage, metric.deviation)]
        rows.append((title, cells))
    return rows


def _spectrum(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The smallest eigenvalues, a line for each distinct one."""
    exact = any(level.exact_eigenvalues for level in levels)
    explained = (
        f"Eigenvalues of the operator are those of {spec.geometry.operator_in_words}, as the "
        "graph estimates them."
    )
    columns = ["copies", "of Delta", "of the operator", *(["exact", "error"] if exact else [])]
    groups = {
        _level_title(level): eigenvalue_rows(level, exact=exact)[:MOST_EIGENVALUES]
        for level in levels
        if level.eigenvalues
    }
    made = table("eigenvalues", "The smallest eigenvalues", columns, groups)
    return _part("Spectrum", explained, made)


def _level_title(level: LevelReport) -> str:
    more = len(level.multiplicities) - MOST_EIGENVALUES
    others = f"; {more:,} more are in the JSON report" if more > 0 else ""
    return f"level {level.level}{others}"
