"""The report as one page, and the file that it is written to."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from cheblienet_graphs import __version__
from cheblienet_graphs.errors import NotDrawnError, Remedy, Spell
from cheblienet_graphs.page.html import Markup, element, joined, prose, scrolling, section
from cheblienet_graphs.page.measured import certificate, glance, levels_table
from cheblienet_graphs.page.provenance import advice, provenance
from cheblienet_graphs.plot import FIGURES
from cheblienet_graphs.plot.figure import Asked, Figure, check_file, svg_of
from cheblienet_graphs.report.inspect import Report
from cheblienet_graphs.report.opened import OpenedGraph
from cheblienet_graphs.spec.words import sentences
from cheblienet_graphs.store.durable import save_whole
from cheblienet_graphs.typing import Progress

STYLE = "page.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What browsers let the page do: no script, no network, pictures within figures."""
CONTENTS = ("Consistency", "Levels", "Figures", "Certificate", "Provenance")
MOST_BYTES = 1_500_000
"""All figures together; the rest of the page takes less than 500 kB."""
READABLE = 0.8
"""Of its width a figure keeps so much on narrow screens, where it scrolls within its box."""
PIXELS = 96 / 72
"""Pixels of a style sheet in a point."""


def page(
    report: Report,
    graph: OpenedGraph,
    *,
    option: Spell,
    progress: Progress | None = None,
    figures: Sequence[Figure] = FIGURES,
) -> str:
    """An HTML document that needs no network and no script.

    It has no time of its own, so equal reports give equal pages.

    Args:
        report: on the graph; its first level is the one that is drawn.
        graph: the same one.
        option: writes a parameter as an option of the command line.
        progress: called with the name of a stage, its steps done and how many there are.
        figures: to draw, in order of worth; later ones are left out where there are too many bytes.

    Raises:
        StoreError: the graph can't be read.
    """
    name, refs = f"{report.name}@{report.version}", ", ".join(report.refs)

    def spell(remedy: Remedy) -> str:
        return f"`{option(remedy)}`"

    first, *more = sentences(report.spec, spell)
    about = element("ul", *(element("li", prose(sentence)) for sentence in more))
    links = [element("li", element("a", title, href=f"#{title.lower()}")) for title in CONTENTS]
    made = f"{name}{f' ({refs})' if refs else ''}, reported on by cheblienet {__version__}. "
    level, drawing = report.levels[0].level, progress or (lambda *_: None)
    body = element(
        "body",
        element("header", element("h1", name), element("p", prose(first), class_="faint")),
        element(
            "main",
            glance(report, spell),
            element("nav", element("ul", *links), aria_label="Contents"),
            advice(report, spell, option),
            section("levels", "Levels", about, levels_table(report.spec, report.levels)),
            _figures(figures, graph, level, spell, drawing),
            certificate(report.spec, report.levels),
            provenance(report, graph.facts, option),
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
    figures: Sequence[Figure], graph: OpenedGraph, level: int, spell: Spell, progress: Progress
) -> Markup:
    """The figures of a level with their captions; why the others are not drawn."""
    shown, left_out, room = [], [], MOST_BYTES
    for figure in figures:
        progress(f"level {level}: drawing {figure.name}", 0, 0)
        try:
            svg, caption = svg_of(figure, graph, Asked(level))
        except NotDrawnError as error:
            why = error.spelled(spell)
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
