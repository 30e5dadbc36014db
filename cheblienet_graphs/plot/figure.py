"""What a figure is to the command line and to the report."""

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.figure

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.plot.style import style
from cheblienet_graphs.values import integer

LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Asked:
    """What a reader may ask of any figure.

    Args:
        level: of the pyramid, 0 the finest.
        vertex: around which it is drawn; None leaves the choice to the figure.
        seed: of what is drawn by chance.
    """

    level: int = 0
    vertex: int | None = None
    seed: int = 0

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
        takes: what it heeds of "vertex" and "seed".
    """

    name: str
    title: str
    size: tuple[float, float]
    draw: Callable[[OpenedGraph, Asked, matplotlib.figure.Figure], str]
    takes: tuple[str, ...] = ()

    def drawn(self, graph: OpenedGraph, asked: Asked) -> tuple[matplotlib.figure.Figure, str]:
        """The figure of a graph, and its caption.

        It has to be saved within `style`, too.

        Raises:
            SpecError: what is asked for is out of range.
            NotDrawnError: the graph has nothing of the kind.
            StoreError: it can't be read.
        """
        asked.check(graph)
        with style():
            figure = matplotlib.figure.Figure(figsize=self.size)
            return figure, self.draw(graph, asked, figure)
