"""What a figure is to the command line and to the report; the colors and letters of all.

Ink is one color that stands for the text's: the report replaces it in SVG by `currentColor`, so a
figure is as readable in the dark as on paper. Grounds are transparent there for the same reason.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.values import integer

if TYPE_CHECKING:
    import matplotlib.figure

LARGEST_SEED = 2**32 - 1
INK = "#1f2328"
"""Text, axes and marks; the report makes it the color of its text."""
FAINT = "#8b949e"
"""Grids and edges behind; readable on white and on black."""
SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colors, told apart by readers of all kinds of color vision; without their
yellow, which white paper swallows."""
SEQUENTIAL = "cividis"
"""Perceptually uniform, the same to the color-blind."""
DIVERGING = "RdBu_r"
"""For signed values, 0 in its middle; always with limits symmetric about 0."""

_SETTINGS = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "cheblienet",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw within this in the colors and letters of the project; the reader's own come back.

    Raises:
        CheblienetError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise CheblienetError(
            f"Figures need matplotlib, which is not installed ({error.name}). "
            "Install it: pip install 'cheblienet[plot]', or pip install matplotlib."
        ) from error
    with mpl.rc_context(_SETTINGS):
        yield


@dataclass(frozen=True)
class Asked:
    """What a reader may ask of any figure.

    Args:
        level: of the pyramid, 0 the finest.
        vertex: around which it is drawn; None leaves the choice to the figure.
        seed: of what is drawn by chance.
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
        integer("seed", self.seed, 0, LARGEST_SEED)


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
    draw: Callable[[OpenedGraph, Asked, "matplotlib.figure.Figure"], str]
    takes: tuple[str, ...] = ()

    def drawn(self, graph: OpenedGraph, asked: Asked) -> tuple["matplotlib.figure.Figure", str]:
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

            figure = matplotlib.figure.Figure(figsize=self.size)
            return figure, self.draw(graph, asked, figure)
