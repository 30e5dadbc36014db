"""A part of a graph, half of its edges, and half of its vertices."""

from typing import Any

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.subgraphs import Subgraphs, subgraphs_of
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.style import FAINT, INK, SERIES
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibres import named

WIDTHS = (0.5, 1.0, 1.5, 2.0)
"""Points of lines, by quarters of the largest weight."""


def draw_subgraph(data: Subgraphs, edges: Any, vertices: Any, ax: Axes) -> None:
    """Draw a sub-graph; what is left out stays in the background.

    Args:
        data: of `subgraphs_of`.
        edges: (E,) bool, those that are kept.
        vertices: (N,) bool, those that are kept.
        ax: axes to draw on.
    """
    kept = np.asarray(edges)
    _draw_lines(data, ~kept, ax, color=FAINT, linewidth=0.3)
    share = data.weights / data.weights.max()
    quarter = np.minimum((share * len(WIDTHS)).astype(int), len(WIDTHS) - 1)
    for number, width in enumerate(WIDTHS):
        _draw_lines(data, kept & (quarter == number), ax, color=SERIES[0], linewidth=width)
    inside = np.asarray(vertices)
    ax.plot(*data.places[~inside].T, ".", color=FAINT, markersize=2)
    ax.plot(*data.places[inside].T, ".", color=INK, markersize=4)
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set_xlabel(f"{data.axes[0]} ({data.unit})")
    if data.axes[1] == "y":
        ax.invert_yaxis()  # as rows of an image


def _draw_lines(data: Subgraphs, chosen: Any, ax: Axes, **how: Any) -> None:
    """Edges as one line with gaps, which takes less room in a file than many lines."""
    ends = data.places[data.edges[chosen]]
    gaps = np.full((len(ends), 1, 2), np.nan)
    ax.plot(*np.concatenate([ends, gaps], axis=1).reshape(-1, 2).T, **how)


def _draw(graph: OpenedGraph, asked: Asked, figure: matplotlib.figure.Figure) -> str:
    data = subgraphs_of(graph, asked.level, asked.vertex, seed=asked.seed)
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    every_edge, every_vertex = np.ones(len(data.edges), bool), np.ones(len(data.vertices), bool)
    draw_subgraph(data, every_edge, every_vertex, axes[0])
    draw_subgraph(data, data.kept_edges, every_vertex, axes[1])
    draw_subgraph(data, data.edges_of_kept_vertices, data.kept_vertices, axes[2])
    for ax, title in zip(axes, ("whole", "half of the edges", "half of the vertices"), strict=True):
        ax.set_title(title)
    axes[0].set_ylabel(f"{data.axes[1]} ({data.unit})")
    return _caption(graph, data, asked.level)


def _caption(graph: OpenedGraph, data: Subgraphs, level: int) -> str:
    edges, vertices = len(data.edges), len(data.vertices)
    part = f"The {vertices:,} vertices around vertex {data.vertices[0]:,}"
    if graph.spec.geometry.oriented:
        part += f" of {named(graph.spec, data.vertices[0] // graph.spec.base_points(level))}"
    if graph.spec.geometry.base.dimension == 3:
        part += ", in its plane of x and y,"
    weight = float(data.weights[data.kept_edges].sum() / data.weights.sum())
    among = int(data.edges_of_kept_vertices.sum())
    kept_edges, kept_vertices = int(data.kept_edges.sum()), int(data.kept_vertices.sum())
    return (
        f"{part} and the {edges:,} edges among them; two sub-graphs of this part, drawn by the "
        f"rules of training. Middle: {kept_edges:,} edges, the heavier the likelier "
        f"({words.percent(weight)} of the weight). Right: {kept_vertices:,} vertices, all as "
        f"likely, and the {among:,} edges among them ({words.percent(among / edges)}). Training "
        "draws from the whole graph, anew each time."
    )


FIGURE = Figure("subgraphs", TITLES["subgraphs"], (6.75, 2.9), _draw, takes=("vertex", "seed"))
