"""Figures in files and on pages: the same graph gives the same bytes with the same matplotlib.

On a page they take its color of text, and are sized by its style.
"""

import io
import re
import uuid
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import SpecError, StoreError, another
from cheblienet_graphs.plot.figure import INK, Asked, Figure, style
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.store.durable import replace, write_errors
from cheblienet_graphs.store.export import check_output

PAPER = "white"
_SAVED: dict[str, dict[str, Any]] = {
    ".png": {"dpi": 200, "facecolor": PAPER, "metadata": {"Software": None}},
    ".svg": {"transparent": True, "metadata": {"Date": None}},
    ".pdf": {"facecolor": PAPER, "metadata": {"CreationDate": None}},
}
"""How each kind of file is saved; without a date, and on paper but for SVG."""
ENDINGS = tuple(_SAVED)
_NAMED = re.compile(r"""(\bid="|href="\#|url\(\#)""", re.VERBOSE)
"""What precedes an element's name, where it is given and where it is meant."""
_NAME = re.compile(r' id="([^"]*)"')
_MEANT = re.compile(r'(?:href="|url\()#([^")]*)')
_SIZE = re.compile(r' (?:width|height)="[^"]*pt"')
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"\s*<style[^>]*>\*\{(.*?)\}</style>", re.DOTALL)
"""Of all elements, those of the page around it too."""


def write_figure(figure: Figure, graph: OpenedGraph, asked: Asked, file: str | Path) -> str:
    """Draw a figure into a file and give its caption.

    Args:
        figure: which one.
        graph: of what.
        asked: level, vertex and seed.
        file: ends in .png, .svg or .pdf; replaced if it exists, whole or not at all.

    Raises:
        SpecError: the file has another ending or is a folder, or what is asked for is out of range.
        NotDrawnError: the graph has nothing of the kind.
        StoreError: the graph can't be read, or the file can't be written.
    """
    file = Path(file).expanduser()
    ending = check_file(file)
    drawn, caption = figure.drawn(graph, asked)
    contents = io.BytesIO()
    with style():
        drawn.savefig(contents, format=ending[1:], **_SAVED[ending])
    with write_errors(file, "Nothing was drawn"):
        replace(file, contents.getvalue(), file.with_name(f".{uuid.uuid4().hex}{ending}"))
    return caption


def check_file(file: Path) -> str:
    """The ending of a file that a figure can be drawn into.

    Raises:
        SpecError: it has another ending, or is a folder.
        StoreError: its folder is missing, or part of a store.
    """
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise SpecError("output", "a file that ends in .png, .svg or .pdf", str(file))
    if file.is_dir():
        raise SpecError("output", "a file", f"{file}, a folder")
    if not file.parent.is_dir():
        raise StoreError(
            f"{file} can't be written: there is no folder {file.parent}; make it or ",
            another("output"),
        )
    check_output(file)
    return ending


def svg_of(figure: Figure, graph: OpenedGraph, asked: Asked) -> tuple[str, str]:
    """A figure as an svg element, and its caption.

    The element has a viewBox and no size; what is drawn in ink has the color `currentColor`; the
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
