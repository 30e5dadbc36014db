"""The report as one page."""

from collections.abc import Callable, Sequence
from importlib.resources import files

from cheblienet_graphs import __version__
from cheblienet_graphs.page.advice import advice
from cheblienet_graphs.page.certificate import certificate
from cheblienet_graphs.page.drawn import figures_section
from cheblienet_graphs.page.glance import glance
from cheblienet_graphs.page.levels import levels_table
from cheblienet_graphs.page.provenance import provenance
from cheblienet_graphs.page.tags import Markup, Say, element, joined, section
from cheblienet_graphs.plot import FIGURES
from cheblienet_graphs.plot.figure import Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.spec.words import sentences
from cheblienet_graphs.typing import Progress

STYLE = "page.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What browsers let the page do: no script, no network, pictures within figures."""
CONTENTS = {
    "consistency": "Consistency",
    "levels": "Levels",
    "figures": "Figures",
    "certificate": "Certificate",
    "provenance": "Provenance",
}


def page(
    report: Report,
    graph: OpenedGraph,
    *,
    option: Callable[[str], str] | None = None,
    progress: Progress | None = None,
    figures: Sequence[Figure] = FIGURES,
) -> str:
    """An HTML document that needs no network and no script.

    It has no time of its own, so equal reports give equal pages.

    Args:
        report: on the graph; its first level is the one that is drawn.
        graph: the same one.
        option: writes a parameter, `name` or `name=value` in backticks, as an option of the command
            line; without it the page speaks Python.
        progress: called with the name of a stage, its steps done and how many there are.
        figures: to draw, in order of worth.

    Raises:
        StoreError: the graph can't be read.
    """
    say = Say(option)
    name = f"{report.name}@{report.version}"
    drawn = figures_section(figures, graph, report.levels[0].level, say, progress or _silent)
    body = element(
        "body",
        _header(report, name, say),
        element("main", glance(report), _contents(), *_main(report, graph, drawn, say)),
        _footer(report),
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


def _header(report: Report, name: str, say: Say) -> Markup:
    first, *_ = sentences(report.spec)
    title = element("h1", name)
    return element("header", title, element("p", say(first), class_="faint"))


def _contents() -> Markup:
    links = [
        element("li", element("a", title, href=f"#{name}")) for name, title in CONTENTS.items()
    ]
    return element("nav", element("ul", *links), aria_label="Contents")


def _main(report: Report, graph: OpenedGraph, drawn: Markup, say: Say) -> list[Markup]:
    _, *more = sentences(report.spec)
    said = element("ul", *(element("li", say(sentence)) for sentence in more))
    table = levels_table(report.spec, report.levels)
    return [
        advice(report, say),
        section("levels", "Levels", said, table),
        drawn,
        certificate(report.spec, report.levels),
        provenance(report, graph.facts, say),
    ]


def _footer(report: Report) -> Markup:
    refs = f" ({', '.join(report.refs)})" if report.refs else ""
    made = f"{report.name}@{report.version}{refs}, reported on by cheblienet {__version__}. "
    return element("footer", joined([made, "This page needs no network and no script."]))


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
