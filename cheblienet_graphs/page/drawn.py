"""The figures on the page, as many as its size allows."""

import re
from collections.abc import Callable, Sequence

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.page.html import Markup, element, joined, prose, section
from cheblienet_graphs.plot.figure import Asked, Figure, svg_of
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.typing import Progress

MOST_BYTES = 1_500_000
"""All figures together; the rest of the page takes less than 500 kB."""
READABLE = 0.8
"""Of its width a figure keeps so much on narrow screens, where it scrolls within its box."""
PIXELS = 96 / 72
"""Pixels of a style sheet in a point."""
_WIDTH = re.compile(r'<svg [^>]*?viewBox="\S+ \S+ (\S+) ')


def figures_section(
    figures: Sequence[Figure],
    graph: OpenedGraph,
    level: int,
    explained: Callable[[Exception], str],
    progress: Progress,
) -> Markup:
    """The figures of a level with their captions; those that don't apply are named with the reason.

    Args:
        figures: in order of worth; later ones are left out where there are too many bytes.
        graph: of what.
        level: which one is drawn.
        explained: says why one does not apply.
        progress: called with the title of each.

    Raises:
        StoreError: the graph can't be read.
    """
    shown, left_out, room = [], [], MOST_BYTES
    for figure in figures:
        progress(f"level {level}: drawing {figure.name}", 0, 0)
        try:
            svg, caption = svg_of(figure, graph, Asked(level))
        except NotDrawnError as error:
            left_out.append(_named(figure, prose(explained(error))))
            continue
        if len(svg) > room:
            why = prose(
                f"left out, as the page would be too large; `clg plot {figure.name}` draws it."
            )
            left_out.append(_named(figure, why))
            continue
        room -= len(svg)
        shown.append(_figure(figure, svg, prose(caption)))
    content = [element("p", f"All of level {level}.", class_="faint"), *shown]
    if left_out:
        content += [element("h3", "Not drawn"), element("ul", *left_out)]
    return section("figures", "Figures", *content)


def _named(figure: Figure, why: Markup) -> Markup:
    return element("li", f"{figure.title}: ", why)


def _figure(figure: Figure, svg: str, caption: Markup) -> Markup:
    """A figure under its title; readers who don't see it hear the caption instead."""
    name = f"figure-{figure.name}"
    width = _width(svg)
    size = f"width: {width:.0f}px; max-width: 100%; min-width: {READABLE * width:.0f}px"
    titled = f'<svg role="img" aria-labelledby="{name}-title {name}-caption" '
    drawing = Markup(svg.replace("<svg ", titled, 1))
    box = element(
        "div",
        element("div", drawing, class_="sized", style=size),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_labelledby=f"{name}-title",
    )
    below = element("figcaption", caption, id=f"{name}-caption")
    heading = element("h3", figure.title, id=f"{name}-title")
    return joined([heading, element("figure", box, below, id=name)])


def _width(svg: str) -> float:
    """The width of an svg element in pixels."""
    found = _WIDTH.match(svg)
    if found is None:
        raise ValueError(f"a figure has no viewBox: {svg[:200]}")
    return float(found[1]) * PIXELS
