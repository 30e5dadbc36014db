"""Figures as SVG elements for a page: they take its colour of text, and are sized by its style."""

import io
import re

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.style import INK, style

_NAMED = re.compile(r"""(\bid="|href="\#|url\(\#)""", re.VERBOSE)
"""What precedes an element's name, where it is given and where it is meant."""
_NAME = re.compile(r' id="([^"]*)"')
_MEANT = re.compile(r'(?:href="|url\()#([^")]*)')
_SIZE = re.compile(r' (?:width|height)="[^"]*pt"')
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"\s*<style[^>]*>\*\{(.*?)\}</style>", re.DOTALL)
"""Of all elements, those of the page around it too."""


def svg_of(figure: Figure, graph: OpenedGraph, asked: Asked) -> tuple[str, str]:
    """A figure as an svg element, and its caption.

    The element has a viewBox and no size; what is drawn in ink has the colour `currentColor`; the
    ground is transparent; names of elements begin with that of the figure and its level, so that a
    page can hold several figures. Elements that nothing refers to have none: matplotlib names equal
    images alike.

    Raises:
        SpecError: what is asked for is out of range.
        NotDrawnError: the graph has nothing of the kind.
        StoreError: the graph can't be read.
    """
    drawn, caption = figure.drawn(graph, asked)
    contents = io.StringIO()
    with style():
        drawn.savefig(contents, format="svg", transparent=True, metadata={"Date": None})
    prefix = f"{figure.name}-{asked.level}-"
    return _for_a_page(contents.getvalue(), prefix), caption


def _for_a_page(document: str, prefix: str) -> str:
    """The svg element of a document of matplotlib's."""
    element = _METADATA.sub("", document[document.index("<svg") :].strip(), count=1)
    styles = "; ".join(_STYLE.findall(element))
    opening, rest = _STYLE.sub("", element).split(">", 1)
    opening = f'{_SIZE.sub("", opening)} style="{styles}">'
    meant = set(_MEANT.findall(rest))
    rest = _NAME.sub(lambda found: found[0] if found[1] in meant else "", rest)
    named = _NAMED.sub(lambda found: found[0] + prefix, rest)
    return f"{opening}{named}".replace(INK, "currentColor")
