"""Figures: their interface, files and pages; the colors and letters of all.

The same graph gives the same bytes with the same matplotlib. Ink is one color that stands for the
text's: on a page it becomes `currentColor`, so a figure is as readable in the dark as on paper.
Grounds are transparent there for the same reason.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cheblienet_graphs.archives.npz import check_output
from cheblienet_graphs.errors import SpecError, StoreError, needing
from cheblienet_graphs.limits import SEED, file_path, integer
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.store.durable import save_whole

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import matplotlib.image

Axes: TypeAlias = "matplotlib.axes.Axes"
Canvas: TypeAlias = "matplotlib.figure.Figure"
Part: TypeAlias = "matplotlib.figure.FigureBase"
"""A canvas, or a part of one."""
Image: TypeAlias = "matplotlib.image.AxesImage"

INK = "#1f2328"
"""Text, axes and marks; the report makes it the color of its text."""
FAINT = "#8b949e"
"""Grids and edges behind; readable on white and on black."""
SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colors, distinct for readers of all kinds of color vision; without their yellow,
which white paper swallows."""
SEQUENTIAL = "cividis"
"""Perceptually uniform, the same to the color-blind."""
DIVERGING = "RdBu_r"
"""For signed values, 0 in its middle; always with limits symmetric about 0."""

_LETTERS = ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color")
_SMALL = ("legend.fontsize", "xtick.labelsize", "ytick.labelsize")
_SETTINGS = {
    **dict.fromkeys(_LETTERS, INK),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor"), "none"),
    **dict.fromkeys(("axes.spines.right", "axes.spines.top", "legend.frameon"), False),
    **dict.fromkeys(("axes.labelsize", "axes.titlesize", "font.size"), 9),
    **dict.fromkeys(_SMALL, 8),
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.5,
    "savefig.bbox": "tight",  # no blank margins, which panels of a fixed shape leave
    "savefig.pad_inches": 0.06,
    "svg.fonttype": "path",
    "svg.hashsalt": "cheblienet",
}
_SAVED: dict[str, dict[str, Any]] = {
    ".png": {"dpi": 200, "facecolor": "white", "metadata": {"Software": None}},
    ".svg": {"transparent": True, "metadata": {"Date": None}},
    ".pdf": {"facecolor": "white", "metadata": {"CreationDate": None}},
}
"""Settings of each kind of file; without a date, and on paper but for SVG."""
_ON_A_PAGE = {"metadata": dict.fromkeys(("Creator", "Date", "Format", "Type"))}
_MEANT = re.compile(r'(?:href="|url\()#([^")]*)')
"""The name of an element that another one refers to."""
_SIZE = re.compile(r' (?:width|height)="[^"]*pt"')
_STYLE = re.compile(r"\s*<style[^>]*>\*\{(.*?)\}</style>", re.DOTALL)
"""Style of all elements, which would style the page around it, too."""


@contextmanager
def style() -> Iterator[None]:
    """Draw within this in the colors and letters of the project; the reader's own come back.

    Raises:
        CheblienetError: matplotlib is not installed.
    """
    with needing("A figure", "plot"):
        import matplotlib as mpl
    with mpl.rc_context(_SETTINGS):
        yield


@dataclass(frozen=True)
class Asked:
    """Options that a reader may give to any figure.

    Args:
        level: of the pyramid, 0 the finest.
        vertex: around which it is drawn; None leaves the choice to the figure.
        seed: random seed.
        beside: graphs to draw beside the first one.
    """

    level: int = 0
    vertex: int | None = None
    seed: int = 0
    beside: tuple[OpenedGraph, ...] = ()

    def check(self, graph: OpenedGraph) -> None:
        """Check that a graph has what is asked for.

        Raises:
            SpecError: there is no such level or vertex, or the seed is out of range.
        """
        vertices = graph.level(self.level).of_level.vertices
        if self.vertex is not None:
            integer("vertex", self.vertex, 0, vertices - 1)
        integer("seed", self.seed, *SEED)


@dataclass(frozen=True)
class Figure:
    """A figure that can be drawn of a graph.

    Args:
        name: by which `clg plot` knows it, of lower-case letters and hyphens.
        title: one line for lists and headings.
        size: width and height in inches.
        draw: draws it on an empty figure and gives the caption, which says what to see, and what
            part was drawn if it was not all. It raises NotDrawnError where a graph has nothing of
            the kind. It may change the figure's size.
        takes: what it heeds of "vertex", "seed" and "beside".
    """

    name: str
    title: str
    size: tuple[float, float]
    draw: Callable[[OpenedGraph, Asked, Canvas], str]
    takes: tuple[str, ...] = ()

    def drawn(self, graph: OpenedGraph, asked: Asked) -> tuple[Canvas, str]:
        """The figure of a graph, and its caption.

        It has to be saved within `style`, too.

        Raises:
            SpecError: what is asked for is out of range.
            NotDrawnError: the graph has nothing of the kind.
            StoreError: it can't be read.
            CheblienetError: matplotlib is not installed.
        """
        asked.check(graph)
        with style():
            import matplotlib.figure

            figure = matplotlib.figure.Figure(figsize=self.size, layout="compressed")
            return figure, self.draw(graph, asked, figure)


def sentences(*parts: object) -> str:
    """A caption of the parts that are not empty or False."""
    return " ".join(str(part) for part in parts if part)


def write_figure(figure: Figure, graph: OpenedGraph, asked: Asked, file: str | Path) -> str:
    """Draw a figure into a file, write its caption beside it as text, and give it.

    Args:
        figure: which one.
        graph: of what.
        asked: level, vertex and seed.
        file: ends in .png, .svg or .pdf; it and its caption, the name with .txt added,
            are replaced if they exist, whole or not at all.

    Raises:
        SpecError: the file has another ending, is a folder or below no home folder, or what is
            asked for is out of range.
        NotDrawnError: the graph has nothing of the kind.
        StoreError: the graph can't be read, or the file can't be written.
    """
    file = file_path("output", file)
    ending = file.suffix.lower()
    if ending not in _SAVED:
        raise SpecError("output", "a file that ends in .png, .svg or .pdf", str(file))
    beside = file.with_name(f"{file.name}.txt")
    for each in (file, beside):
        check_file(each)
    contents, caption = _saved(figure, graph, asked, ending)
    save_whole(file, "Nothing was drawn", lambda target: target.write_bytes(contents))
    text = f"{caption}\n".encode()
    save_whole(beside, "The figure has no caption", lambda target: target.write_bytes(text))
    return caption


def check_file(file: Path, field: str = "output") -> None:
    """Check that a figure or a page can be written to a file, before there is one.

    Args:
        file: to be written.
        field: by which it was given.

    Raises:
        SpecError: it is a folder.
        StoreError: its folder is missing, or part of a store.
    """
    if file.is_dir():
        raise SpecError(field, "a file", f"{file}, a folder")
    if not file.parent.is_dir():
        missing = f"{file} can't be written: there is no folder {file.parent}; make it or "
        raise StoreError(f"{missing}choose another `{field}`.")
    check_output(file, field)


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
    contents, caption = _saved(figure, graph, asked, ".svg", **_ON_A_PAGE)
    document = contents.decode()
    opening, rest = document[document.index("<svg") :].strip().split(">", 1)
    styles = "; ".join(_STYLE.findall(rest))
    meant = set(_MEANT.findall(rest))
    prefix = f"{figure.name}-{asked.level}-"
    rest = re.sub(
        r' id="([^"]*)"',
        lambda name: f' id="{prefix}{name[1]}"' if name[1] in meant else "",
        _STYLE.sub("", rest),
    )
    rest = re.sub(r'(href="|url\()#', rf"\g<0>{prefix}", rest)
    element = f'{_SIZE.sub("", opening)} style="{styles}">{rest}'
    return element.replace(INK, "currentColor"), caption


def _saved(
    figure: Figure, graph: OpenedGraph, asked: Asked, ending: str, **given: Any
) -> tuple[bytes, str]:
    """A drawing in the format of a file's ending, and its caption."""
    drawn, caption = figure.drawn(graph, asked)
    contents = io.BytesIO()
    with style():
        drawn.savefig(contents, format=ending[1:], **(_SAVED[ending] | given))
    return contents.getvalue(), caption
