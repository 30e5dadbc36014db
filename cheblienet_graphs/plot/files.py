"""Figures in files: the same graph gives the same bytes with the same matplotlib."""

import io
import uuid
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.style import style
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
            f"{file} can't be written: there is no folder {file.parent}; make it or choose another "
            "`output`."
        )
    check_output(file)
    return ending
