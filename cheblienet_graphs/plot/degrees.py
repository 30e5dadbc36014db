"""Histograms of numbers of neighbours and of weights."""

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from cheblienet_graphs.figures.degrees import Degrees, degrees_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.style import SERIES

WITHIN, ACROSS = SERIES[0], SERIES[5]


def draw_degrees(data: Degrees, ax: Axes) -> None:
    """Draw the shares of vertices by their number of neighbours.

    Args:
        data: of `degrees_of`.
        ax: axes to draw on.
    """
    numbers = np.flatnonzero(data.neighbours)
    shares = data.neighbours[numbers] / data.neighbours.sum()
    ax.bar(numbers, shares, width=0.8, color=WITHIN)
    ax.set_xlim(max(-0.7, min(numbers.min() - 1, numbers.max() - 4)), numbers.max() + 0.7)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    ax.set_xlabel("neighbours")
    ax.set_ylabel("share of vertices")


def draw_weights(data: Degrees, ax: Axes) -> None:
    """Draw the shares of edges by their weight, those between orientations on top.

    Args:
        data: of `degrees_of`.
        ax: axes to draw on.
    """
    total = max(1, int((data.within + data.across).sum()))
    widths, left = np.diff(data.edges), data.edges[:-1]
    if len(left) == 1:  # a bar that has a width to be seen
        widths, left = left * 0.1, left * 0.95
    turning = bool(data.across.any())
    within = data.within / total
    names = ("same axis", "other axes") if data.axes else ("same orientation", "other orientations")
    label = names[0] if turning else ""
    ax.bar(left, within, widths, align="edge", color=WITHIN, label=label)
    if turning:
        across = data.across / total
        ax.bar(left, across, widths, within, align="edge", color=ACROSS, label=names[1])
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, columnspacing=1)
    if data.logarithmic:
        ax.set_xscale("log")
    elif len(data.edges) == 2:
        ax.set_xlim(left[0] * 0.5, left[0] * 1.5)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    ax.set_xlabel("weight")
    ax.set_ylabel("share of edges")


def _draw(graph: OpenedGraph, asked: Asked, figure: matplotlib.figure.Figure) -> str:
    data = degrees_of(graph, asked.level)
    first, second = figure.subplots(1, 2)
    draw_degrees(data, first)
    draw_weights(data, second)
    return _caption(graph, data)


def _caption(graph: OpenedGraph, data: Degrees) -> str:
    numbers = np.flatnonzero(data.neighbours)
    least, most = int(numbers.min()), int(numbers.max())
    interval = f"{least} to {most} neighbours" if least < most else f"{most} neighbours each"
    mean = f", {data.mean:.3g} on average" if least < most else ""
    sentences = [f"Vertices have {interval}{mean}."]
    if isolated := int(data.neighbours[0]):
        sentences.append(f"{isolated:,} have none.")
    if least < most and (graph.spec.boundary == "open" or graph.spec.mask is not None):
        sentences.append("Fewer are to be expected at the edge of the domain.")
    if len(data.edges) == 2:
        sentences.append(f"All weights are {data.edges.mean():.3g}.")
    else:
        low, high = data.edges[0], data.edges[-1]
        sentences.append(f"Weights are from {low:.3g} to {high:.3g}.")
    if data.weightless:
        sentences.append(f"{data.weightless:,} edges have the weight 0 and are left out.")
    return " ".join(sentences)


FIGURE = Figure("degrees", TITLES["degrees"], (6.4, 2.8), _draw)
