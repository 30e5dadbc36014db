"""The report as one page, and the file that it is written to."""

import uuid
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from cheblienet_graphs import __version__
from cheblienet_graphs.errors import SpecError, StoreError, another
from cheblienet_graphs.page.drawn import figures_section
from cheblienet_graphs.page.html import Markup, element, joined, prose, section
from cheblienet_graphs.page.measured import certificate, glance, levels_table
from cheblienet_graphs.page.texts import advice, provenance
from cheblienet_graphs.plot import FIGURES
from cheblienet_graphs.plot.figure import Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.report.findings import Spell
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.spec.words import sentences
from cheblienet_graphs.store.durable import replace, write_errors
from cheblienet_graphs.store.export import check_output
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
    option: Spell | None = None,
    progress: Progress | None = None,
    figures: Sequence[Figure] = FIGURES,
) -> str:
    """An HTML document that needs no network and no script.

    It has no time of its own, so equal reports give equal pages.

    Args:
        report: on the graph; its first level is the one that is drawn.
        graph: the same one.
        option: writes a parameter as an option of the command line; without it the page speaks
            Python.
        progress: called with the name of a stage, its steps done and how many there are.
        figures: to draw, in order of worth.

    Raises:
        StoreError: the graph can't be read.
    """
    name = f"{report.name}@{report.version}"
    first, *more = sentences(report.spec, spell := _in_code(option))
    about = element("ul", *(element("li", prose(sentence)) for sentence in more))
    level = report.levels[0].level
    body = element(
        "body",
        element("header", element("h1", name), element("p", prose(first), class_="faint")),
        element(
            "main",
            glance(report),
            _contents(),
            advice(report, spell, option),
            section("levels", "Levels", about, levels_table(report.spec, report.levels)),
            figures_section(figures, graph, level, spell, progress or _silent),
            certificate(report.spec, report.levels),
            provenance(report, graph.facts, spell, option),
        ),
        _footer(report),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(name), body, lang='en')}\n"


def _in_code(option: Spell | None) -> Spell:
    """Writes a parameter within a sentence."""
    return str if option is None else lambda remedy: f"`{option(remedy)}`"


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


def _contents() -> Markup:
    links = [
        element("li", element("a", title, href=f"#{name}")) for name, title in CONTENTS.items()
    ]
    return element("nav", element("ul", *links), aria_label="Contents")


def _footer(report: Report) -> Markup:
    refs = f" ({', '.join(report.refs)})" if report.refs else ""
    made = f"{report.name}@{report.version}{refs}, reported on by cheblienet {__version__}. "
    return element("footer", joined([made, "This page needs no network and no script."]))


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


def check_file(file: Path) -> None:
    """Check that a page can be written to a file, before there is one.

    Raises:
        SpecError: it is a folder.
        StoreError: its folder is missing, or part of a store.
    """
    if file.is_dir():
        raise SpecError("html", "a file", f"{file}, a folder")
    if not file.parent.is_dir():
        raise StoreError(
            f"{file} can't be written: there is no folder {file.parent}; make it or ",
            another("html"),
        )
    check_output(file, "html")


def write_page(document: str, file: Path) -> None:
    """Write a page, or replace a file by it, whole or not at all.

    Raises:
        SpecError: the file is a folder.
        StoreError: it can't be written.
    """
    check_file(file)
    with write_errors(file, "No report was written"):
        replace(file, document.encode(), file.with_name(f".{uuid.uuid4().hex}.html"))
