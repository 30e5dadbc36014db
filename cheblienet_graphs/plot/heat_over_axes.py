"""Heat over positions and axes: slices of a volume, all axes together and some alone."""

from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Canvas

from cheblienet_graphs.figures.heat import Diffusion, Heat
from cheblienet_graphs.figures.views import View, around
from cheblienet_graphs.plot.panels import bare, colour_bar, name_axes, picture, row_label
from cheblienet_graphs.plot.style import SEQUENTIAL
from cheblienet_graphs.spec.fibres import title
from cheblienet_graphs.typing import Indices

BAR = "heat per vertex (all heat = 1)"
ROWS = {"base": "base", "isotropic": "isotropic", "asked": "this graph"}
SLICES = 3
MOST = 6
"""Other axes than that of the start."""
INCHES = 1.4
"""Of a row."""


def draw_over_axes(canvas: Canvas, data: Heat, reach: float, norm: Normalize) -> None:
    """Draw heat on an empty figure: a row for each graph, and one for other axes of the last.

    Args:
        canvas: the figure, whose height changes.
        data: the heat.
        reach: of the pictures, in spacings.
        norm: from heat to colours.
    """
    own, rows = data.graphs[-1], len(data.graphs) + 1
    canvas.set_size_inches(canvas.get_figwidth(), 0.5 + INCHES * rows)
    grid = canvas.subplots(rows, 2 * SLICES)
    for cells, graph in zip(grid, data.graphs, strict=False):
        views = around(graph.places, graph.point, reach)
        _draw_row(cells, views, graph, norm)
        row_label(cells[0], ROWS[graph.kind])
    for place, axes in enumerate(grid[0, :SLICES]):
        above = "all together\n" if place == 1 else ""
        axes.set_title(above + views[place].plane)
    titled = grid[1 if data.graphs[0].kind == "base" and rows > 2 else 0, SLICES:]
    for place, axes in enumerate(titled):
        start = title(own.places.samples, own.orientation, " ")
        axes.set_title(
            f"start: {start}\n{views[place].plane}" if place == 1 else views[place].plane
        )
    others = other_axes(own.places.points.orientations, own.orientation)
    for axes, k in zip(grid[-1], others, strict=False):
        picture(axes, views[0], own.density[k], norm, SEQUENTIAL)
        axes.set_title(title(own.places.samples, int(k)), fontsize="small")
    for axes in grid[-1, len(others) :]:
        bare(axes)
    row_label(grid[-1, 0], "other axes")
    [image] = grid[0, 0].images
    if data.graphs[0].kind == "base":
        place = grid[0, SLICES].inset_axes((0.15, 0.55, 2.6, 0.12))
        colour_bar(canvas, image, None, BAR, cax=place, orientation="horizontal")
    else:
        colour_bar(canvas, image, list(grid.ravel()), BAR)


def _draw_row(cells: Any, views: list[View], graph: Diffusion, norm: Normalize) -> None:
    """Slices of all axes together and, but for the base, of the axis of the start."""
    for place, view in enumerate(views):
        first, second = cells[place], cells[SLICES + place]
        last = graph.kind == "asked"
        picture(first, view, graph.together, norm, SEQUENTIAL, ticks=last)
        if last and not place:
            name_axes(first, view, graph.places)
        if graph.kind == "base":
            bare(second)
        else:
            picture(second, view, graph.density[graph.orientation], norm, SEQUENTIAL)


def other_axes(count: int, start: int) -> Indices:
    """Some axes beside that of the start, evenly spread: all of a few."""
    others = np.delete(np.arange(count), start)
    shown = min(MOST, len(others))
    return others[np.arange(shown) * len(others) // shown]
