"""What a figure is to the command line and to the report."""

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.figure

from cheblienet_graphs.figures.opened import OpenedGraph


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


@dataclass(frozen=True)
class Figure:
    """A figure that can be drawn of a graph.

    Args:
        name: by which `clg plot` knows it, of lower-case letters and hyphens.
        title: one line for lists and headings.
        size: width and height in inches.
        draw: draws it on an empty figure and gives the caption, which says what to see, and what
            part was drawn if it was not all. It raises NotDrawnError where a graph has nothing of
            the kind.
    """

    name: str
    title: str
    size: tuple[float, float]
    draw: Callable[[OpenedGraph, Asked, matplotlib.figure.Figure], str]
