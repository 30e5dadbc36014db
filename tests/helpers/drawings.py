"""Figures that are quickly drawn, for pages whose own are not what is tested; what one shows."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.image import AxesImage

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.report.opened import OpenedGraph

HOSTILE = "</svg></figure><script>alert(1)</script> & \"'"


def line(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    canvas.subplots().plot([0, graph.level(asked.level).of_level.vertices])
    return f"A line on level {asked.level} of {graph.name}; `weights='selling'` and {HOSTILE}"


def nothing(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    raise NotDrawnError(f"there is nothing of the kind. {HOSTILE}")


LINE = Figure("line", f"A line {HOSTILE}", (5, 3), line)
OTHER = Figure("other-line", "Another line", (9, 3), line)


def twins(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    for axis in canvas.subplots(1, 2):
        axis.imshow([[0.0, 1.0], [2.0, 3.0]])
    return "The same picture, twice."


TWINS = Figure("twins", "Twins", (5, 3), twins)
NOTHING = Figure("nothing", "Nothing", (5, 3), nothing)


def pictures(canvas: Canvas) -> list[AxesImage]:
    """All images on a canvas, in the order in which they were drawn."""
    axes = canvas.findobj(Axes)
    return [image for each in axes for image in each.images]


def titles(canvas: Canvas) -> list[str]:
    """What stands over its axes."""
    return [axes.get_title() for axes in canvas.findobj(Axes) if axes.get_title()]
