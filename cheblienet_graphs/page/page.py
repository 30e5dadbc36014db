"""The report as one page, and what of it was measured; the file that it is written to."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

from cheblienet_graphs import __version__
from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.measure.verdict import Consistency
from cheblienet_graphs.page.html import Markup, element, joined, prose, scrolling, section, table
from cheblienet_graphs.page.provenance import advice, provenance
from cheblienet_graphs.plot import FIGURES
from cheblienet_graphs.plot.figure import Asked, Figure, check_file, svg_of
from cheblienet_graphs.report import rows as tables
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.text import Report, connections
from cheblienet_graphs.spec import GraphSpec, fibers
from cheblienet_graphs.spec.words import percent, sentences
from cheblienet_graphs.store.durable import save_whole
from cheblienet_graphs.typing import Progress

STYLE = "page.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Rights that browsers give the page: no script, no network, pictures within figures."""
CONTENTS = ("Consistency", "Levels", "Figures", "Certificate", "Provenance")
MOST_BYTES = 1_500_000
"""All figures together; the rest of the page takes less than 500 kB."""
READABLE = 0.8
"""Share of its width that a figure keeps on narrow screens, where it scrolls within its box."""
PIXELS = 96 / 72
"""Pixels of a style sheet in a point."""
MOST_EIGENVALUES = 40
"""Distinct ones that are shown of each level."""
Kind = Literal["good", "bad", "open", ""]
ANSWERS: dict[Consistency, tuple[str, Kind]] = {
    "inconsistent": ("No", "bad"),
    "too coarse": ("No: too coarse", "open"),
    "kernel weights": ("The paper's weights", ""),
    "not compared": ("Not fully compared", "open"),
    "consistent": ("Yes", "good"),
}
"""The answer to each, the worst first."""


def page(
    report: Report,
    graph: OpenedGraph,
    *,
    progress: Progress | None = None,
    figures: Sequence[Figure] = FIGURES,
) -> str:
    """An HTML document that needs no network and no script.

    It has no time of its own, so equal reports give equal pages.

    Args:
        report: on the graph; its first level is the one that is drawn.
        graph: the same one.
        progress: called with the name of a stage, its steps done and how many there are.
        figures: to draw, in order of worth; later ones are left out where there are too many bytes.

    Raises:
        StoreError: the graph can't be read.
    """
    name, refs = f"{report.name}@{report.version}", ", ".join(report.refs)

    first, *more = sentences(report.spec)
    about = element("ul", *(element("li", prose(sentence)) for sentence in more))
    links = [element("li", element("a", title, href=f"#{title.lower()}")) for title in CONTENTS]
    made = f"{name}{f' ({refs})' if refs else ''}, reported on by cheblienet {__version__}. "
    level, drawing = report.levels[0].level, progress or (lambda *_: None)
    body = element(
        "body",
        element("header", element("h1", name), element("p", prose(first), class_="faint")),
        element(
            "main",
            glance(report),
            element("nav", element("ul", *links), aria_label="Contents"),
            advice(report),
            section("levels", "Levels", about, levels_table(report.spec, report.levels)),
            _figures(figures, graph, level, drawing),
            certificate(report.spec, report.levels),
            provenance(report, graph.facts),
        ),
        element("footer", f"{made}This page needs no network and no script."),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(name), body, lang='en')}\n"


def _head(name: str) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("meta", name_="generator", content=f"cheblienet {__version__}"),
        element("title", f"{name}: report on a graph"),
        element("style", Markup((files(__package__) / STYLE).read_text(encoding="utf-8"))),
    )


def _figures(
    figures: Sequence[Figure], graph: OpenedGraph, level: int, progress: Progress
) -> Markup:
    """The figures of a level with their captions; why the others are not drawn."""
    shown, left_out, room = [], [], MOST_BYTES
    for figure in figures:
        progress(f"level {level}: drawing {figure.name}", 0, 0)
        try:
            svg, caption = svg_of(figure, graph, Asked(level))
        except NotDrawnError as error:
            why = str(error)
        else:
            if len(svg) <= room:
                room -= len(svg)
                shown.append(_figure(figure, svg, prose(caption)))
                continue
            why = f"left out, as the page would be too large; `clg plot {figure.name}` draws it."
        left_out.append(element("li", f"{figure.title}: ", prose(why)))
    content = [element("p", f"All of level {level}.", class_="faint"), *shown]
    if left_out:
        content += [element("h3", "Not drawn"), element("ul", *left_out)]
    return section("figures", "Figures", *content)


def _figure(figure: Figure, svg: str, caption: Markup) -> Markup:
    """A figure under its title; readers who don't see it hear the caption instead."""
    name = f"figure-{figure.name}"
    width = float(svg.partition(' viewBox="')[2].split()[2]) * PIXELS
    size = f"width: {width:.0f}px; max-width: 100%; min-width: {READABLE * width:.0f}px"
    titled = f'<svg role="img" aria-labelledby="{name}-title {name}-caption" '
    drawing = Markup(svg.replace("<svg ", titled, 1))
    box = scrolling(element("div", drawing, class_="sized", style=size), f"{name}-title")
    below = element("figcaption", caption, id=f"{name}-caption")
    heading = element("h3", figure.title, id=f"{name}-title")
    return joined([heading, element("figure", box, below, id=name)])


def write_page(document: str, file: Path) -> None:
    """Write a page, or replace a file by it, whole or not at all.

    Raises:
        SpecError: the file is a folder.
        StoreError: it can't be written.
    """
    check_file(file, "html")
    contents = document.encode()
    save_whole(file, "No report was written", lambda target: target.write_bytes(contents))


def glance(report: Report) -> Markup:
    """Four questions with their answers, as the terminal has them."""
    levels = report.levels
    having = [answer for answer in ANSWERS if any(x.consistency == answer for x in levels)]
    short, kind = ANSWERS[having[0]]
    consistent = short if len(having) == 1 else "Not on every level"
    apart = any(level.components > 1 for level in levels)
    exact = sum(error == 0 for error in tables.largest_errors(levels).values())
    more = [] if having == ["consistent"] else [element("a", "why", href="#consistency")]
    pieces = report.remarks(connections)
    answers = (
        (kind, "Consistent with its metric?", consistent, *more),
        ("bad" if apart else "good", "Connected?", "No" if apart else "Yes", *pieces),
        ("", "How large?", report.size),
        ("" if exact else "open", "Which symmetries?", f"{exact} exact", *report.symmetries),
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
    rows = {"": tables.rows_of(spec, levels)}
    columns = _columns("", levels)
    made = table("levels-table", "The graphs of the pyramid", columns, rows, kind="levels")
    lines = [element("li", prose(line)) for line in tables.reading(spec)]
    return joined([made, element("ul", *lines, class_="faint")])


def _columns(first: str, levels: Sequence[LevelReport]) -> list[str]:
    return [first, *(f"level {level.level}" for level in levels)]


def certificate(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The measurements of equivariance, second moments and spectrum.

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
    unit = Metric(spec.eps, 1.0)
    if spec.weighting.expected(spec, unit) != unit:
        explained += " Selling's fiber edges are made for its first mode: xi^2 is smaller here."
    columns = [
        fibers.sample_noun(spec) if oriented else "",
        f"eps^2 (asked {asked})",
        *(["xi^2 / asked"] if oriented else []),
        "mixing of directions",
        "largest deviation at a point",
    ]
    made = table("moments", "The metric that the weights realize", columns, groups)
    return _part(title, explained, made)


def _moment_rows(spec: GraphSpec, level: LevelReport) -> list[tables.Row]:
    rows: list[tables.Row] = []
    samples = fibers.samples_of(spec)
    oriented = spec.geometry.oriented
    for metric, ratio in zip(level.effective_metric, tables.turning(level), strict=True):
        title = fibers.title(samples, metric.orientation, " ") if oriented else "all points"
        realized = [metric.eps_squared, *([ratio] if oriented else [])]
        cells = [tables.UNKNOWN if number is None else f"{number:.3g}" for number in realized]
        cells += [percent(x) if x > 1e-9 else "0" for x in (metric.leakage, metric.deviation)]
        rows.append(tables.Row(title, cells))
    return rows


def _spectrum(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The smallest eigenvalues, a line for each distinct one."""
    known = [level for level in levels if level.eigenvalues]
    explained = f"The operator is {spec.geometry.operator_in_words}, as the graph estimates it."
    titles, rows = tables.eigenvalue_table(known)
    shown = zip(known, rows, strict=True)
    groups = {_level_title(level): listed[:MOST_EIGENVALUES] for level, listed in shown}
    columns = ["copies", "of Delta", *titles]
    made = table("eigenvalues", "The smallest eigenvalues", columns, groups)
    return _part("Spectrum", explained, made)


def _level_title(level: LevelReport) -> str:
    more = len(level.multiplicities) - MOST_EIGENVALUES
    unknown = level.error_bars.unknown
    others = f"; {more:,} more are in the JSON report" if more > 0 else ""
    errors = f"; errors not estimated: {unknown}" if unknown else ""
    return f"level {level.level}{others}{errors}"
