"""What was measured of a graph: four answers, the table of levels, and the certificate."""

import re
from collections.abc import Sequence
from typing import Literal

from cheblienet_graphs.page.html import (
    Group,
    Markup,
    Row,
    element,
    joined,
    powers,
    section,
    table,
)
from cheblienet_graphs.report.findings import levels_in_words
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.report.rows import (
    UNKNOWN,
    eigenvalue_rows,
    largest_errors,
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
_ABOUT = re.compile(r"\b([xyz])$")


def glance(report: Report) -> Markup:
    """Four questions with their answers."""
    levels = report.levels
    answers = [_consistent(levels), _connected(levels), _size(report), _symmetric(levels)]
    return element("dl", joined(answers), class_="glance")


def _answer(kind: str, question: str, short: str, *more: str) -> Markup:
    content = [element("dt", question), element("dd", short)]
    further = [one if isinstance(one, Markup) else powers(one) for one in more]
    return element("div", *content, *(element("dd", one) for one in further), class_=kind)


def _consistent(levels: Sequence[LevelReport]) -> Markup:
    all_of = {level.consistency for level in levels}
    worst = next(c for c in ANSWERS if c in all_of)
    question, (short, kind), more = "Consistent with its metric?", ANSWERS[worst], list[str]()
    if len(all_of) > 1:
        short = "Not on every level"
        for answer in all_of:
            having = [level.level for level in levels if level.consistency == answer]
            more.append(f"{levels_in_words(having)}: {ANSWERS[answer][0].lower()}")
        more.sort()
    errors = [level.spectral_error for level in levels if level.spectral_error is not None]
    if errors:
        more.append(f"first eigenvalues up to {percent(max(errors))} off")
    if worst != "consistent":
        what = "what to do" if worst == "inconsistent" else "why"
        more.append(element("a", what, href="#consistency"))
    return _answer(kind, question, short, *more)


def _connected(levels: Sequence[LevelReport]) -> Markup:
    question = "Connected?"
    alone = [level for level in levels if level.isolated]
    isolated = [f"level {x.level}: {x.isolated:,} vertices without neighbours" for x in alone]
    apart = [level for level in levels if level.components > 1]
    if not apart:
        return _answer("good", question, "Yes", "one component" + _each(levels))
    short = "No" if len(apart) == len(levels) else "Not on every level"
    pieces = [f"level {level.level}: {level.components:,} components" for level in apart]
    return _answer("bad", question, short, *pieces, *isolated)


def _each(levels: Sequence[LevelReport]) -> str:
    return " on each level" if len(levels) > 1 else ""


def _size(report: Report) -> Markup:
    first, made = report.levels[0], report.spec.levels
    where = f", on level {first.level}" if made > 1 else ""
    edges = f"{first.edges:,} edges, {first.degree['mean']:.1f} neighbours a vertex{where}"
    disk = f"{made} level{'s' if made > 1 else ''}, {human_bytes(report.bytes)} on disk"
    return _answer("", "How large?", f"{first.vertices:,} vertices", edges, disk)


def _symmetric(levels: Sequence[LevelReport]) -> Markup:
    question, worst = "Which symmetries?", largest_errors(levels)
    exact = [in_words(name) for name, error in worst.items() if error == 0]
    others = [f"{in_words(n)}: |P'LP - L| up to {e:.2g}" for n, e in worst.items() if e != 0]
    if not worst:
        return _answer("", question, "None", "this sampling has no symmetry that is known")
    if not exact:
        return _answer("open", question, "None exactly", *others)
    short = "1, exactly" if len(exact) == 1 else f"{len(exact)}, exactly"
    return _answer("good", question, short, ", ".join(exact), *others)


def in_words(symmetry: str) -> str:
    """'rotation_90_z' as 'rotation by 90° about z'."""
    words = symmetry.replace("_", " ")
    words = re.sub(r"^rotation (\d+)", "rotation by \\1\N{DEGREE SIGN}", words)
    relation = "along" if words.startswith(("translation", "reflection")) else "about"
    return _ABOUT.sub(f"{relation} \\1", words)


def levels_table(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The levels side by side, and what the table's words mean.

    Args:
        spec: of the build.
        levels: their reports.
    """
    columns = ["", *(f"level {level.level}" for level in levels)]
    rows = [(powers(title), cells) for title, cells in rows_of(spec, levels)]
    reading = [element("li", powers(line)) for line in _reading(spec)]
    made = table("levels-table", "The graphs of the pyramid", columns, [Group(rows)], kind="levels")
    return joined([made, element("ul", *reading, class_="faint")])


def _reading(spec: GraphSpec) -> list[str]:
    """An explanation of the table's words."""
    lines = ["Level 0 is the finest.", "Sparsity is the share of zeros."]
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


def _equivariance(levels: Sequence[LevelReport]) -> Markup:
    heading = element("h3", "Equivariance")
    names = largest_errors(levels)
    if not names:
        none = "This sampling has no symmetry that is known, so there is nothing to compare."
        return joined([heading, element("p", none)])
    explained = element(
        "p",
        "For each symmetry P of the sampling the largest entry of |P'LP - L|, over all entries of "
        "the stored Laplacian L, whose eigenvalues are in [-1, 1]. Where it is 0, filters of L "
        "commute with P.",
    )
    columns = ["symmetry", *(f"level {level.level}" for level in levels)]
    rows = [(in_words(name), [_error(level, name) for level in levels]) for name in names]
    made = table("equivariance", "Largest |P'LP - L|", columns, [Group(rows)])
    return joined([heading, explained, made])


def _error(level: LevelReport, name: str) -> str:
    error = level.equivariance.get(name)
    return UNKNOWN if error is None else f"{error:.2g}"


def _moments(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """Second moments by level and orientation or axis."""
    oriented = spec.geometry.oriented
    explained = (
        "Around a vertex the Laplacian acts through the second moments of its edges, "
        "M = sum w c c', c the components of an edge and w its weight. They are those of the "
        f"metric R where M is a multiple of R^-1: then eps^2 comes out as {spec.eps**2:.4g}"
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
        powers(f"eps^2 (asked {spec.eps**2:.4g})"),
        *([powers("xi^2 / asked")] if oriented else []),
        "mixing of directions",
        "largest deviation at a point",
    ]
    groups = [
        Group(_moment_rows(spec, level), f"level {level.level}")
        for level in levels
        if level.effective_metric
    ]
    heading = element("h3", "Second moments")
    if not groups:
        none = "No point has all its neighbours inside the mask, so nothing was measured."
        return joined([heading, element("p", none)])
    made = table("moments", "The metric that the weights realise", columns, groups)
    return joined([heading, element("p", powers(explained)), made])


def _moment_rows(spec: GraphSpec, level: LevelReport) -> list[Row]:
    rows: list[Row] = []
    samples, oriented = fibres.samples_of(spec), spec.geometry.oriented
    for metric, ratio in zip(level.effective_metric, turning(level), strict=True):
        title = fibres.title(samples, metric.orientation, " ") if oriented else "all points"
        cells = [_three(metric.eps_squared), *([_three(ratio)] if oriented else [])]
        cells += [percent(x) if x > 1e-9 else "0" for x in (metric.leakage, metric.deviation)]
        rows.append((title, cells))
    return rows


def _three(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:.3g}"


def _spectrum(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The smallest eigenvalues, a line for each distinct one."""
    exact = any(level.exact_eigenvalues for level in levels)
    explained = (
        f"Eigenvalues of the operator are those of {spec.geometry.operator_in_words}, as the "
        "graph estimates them."
    )
    columns = ["copies", "of Delta", "of the operator", *(["exact", "error"] if exact else [])]
    groups = [
        Group(eigenvalue_rows(level, exact=exact)[:MOST_EIGENVALUES], _level_title(level))
        for level in levels
        if level.eigenvalues
    ]
    made = table("eigenvalues", "The smallest eigenvalues", columns, groups)
    return joined([element("h3", "Spectrum"), element("p", powers(explained)), made])


def _level_title(level: LevelReport) -> str:
    more = len(level.multiplicities) - MOST_EIGENVALUES
    others = f"; {more:,} more are in the JSON report" if more > 0 else ""
    return f"level {level.level}{others}"
