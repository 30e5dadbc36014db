"""Figure: heat from an impulse on a graph, or on several beside each other."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.plot.figure import SEQUENTIAL, SERIES, Asked, Figure
from cheblienet_graphs.plot.heat import OTHER_AXES, Diffusion, Heat, exact_density, heat_of
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.panels import (
    bare,
    color_bar,
    name_axes,
    picture,
    row_label,
)
from cheblienet_graphs.plot.views import View, around
from cheblienet_graphs.spec.fibres import counted, title, word
from cheblienet_graphs.spec.units import visible_unit

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

DECADES = 3
"""Colors go from the most heat down to this many powers of ten below."""
REACH = 3.2
"""Half of the pictures' sides, in spreads."""
MARKS = 500
"""More marks than this are drawn as an image."""
WIDEST = 2.4
"""Inches of a row of pictures at most,"""
LEAST = 2.2
"""and of the figure, which the color bar's name takes."""
BAR = "heat per vertex (all heat = 1)"


def draw_heat(canvas: "matplotlib.figure.Figure", data: Heat) -> None:
    """Draw heat on an empty figure: a row for each graph, a column for each orientation.

    Where there are no orientations, heat against distance with the exact kernel beside; where they
    are axes in space, slices, and a row of other axes.

    Args:
        canvas: the figure.
        data: the heat.
    """
    from matplotlib.colors import LogNorm

    reach = max(1.0, math.ceil(REACH * data.spread))
    most = max(float(graph.together.max()) for graph in data.graphs)
    norm = LogNorm(most * 10.0**-DECADES, most, clip=True)
    if data.widest.oriented:
        _draw_oriented(canvas, data, reach, norm)
    else:
        _draw_unoriented(canvas, data, reach, norm)


def _draw_oriented(canvas: "matplotlib.figure.Figure", data: Heat, reach: float, norm: Any) -> None:
    """All orientations together, then those that are shown, in one view or in slices."""
    views = [around(graph.places, graph.point, reach) for graph in data.graphs]
    each, rows = len(views[0]), len(data.graphs) + bool(len(data.other_axes))
    grid = canvas.subplots(rows, each * (1 + len(data.shown)), squeeze=False)
    untitled = ["all together", *_headings(data)]
    for cells, graph, of_graph in zip(grid, data.graphs, views, strict=False):
        last = graph is data.graphs[-1]
        shown = [graph.together, *graph.density[data.shown]] if graph.oriented else [graph.together]
        for part, values in enumerate(shown):
            group = cells[part * each : (part + 1) * each]
            for axes, view in zip(group, of_graph, strict=True):
                image = picture(axes, view, values, norm, SEQUENTIAL, ticks=last and not part)
            if untitled[part]:
                _write_titles(group, of_graph, untitled[part])
                untitled[part] = ""
        for axes in cells[len(shown) * each :]:
            bare(axes)
        if len(data.graphs) > 1:
            row_label(cells[0], graph.name)
        if last:
            name_axes(cells[0], of_graph[0], graph.places)
    if len(data.other_axes):
        _draw_other_axes(grid[-1], data, views[data.graphs.index(data.widest)][0], norm)
    if data.graphs[0].oriented:
        color_bar(canvas, image, list(grid.ravel()), BAR)
    else:
        place = grid[0, each].inset_axes((0.15, 0.55, min(2.0, 0.6 * (len(grid[0]) - each)), 0.12))
        color_bar(canvas, image, None, BAR, cax=place, orientation="horizontal")


def _headings(data: Heat) -> list[str]:
    """Of the orientations that are shown."""
    graph = data.widest
    names = [(k, title(graph.places.samples, int(k), " ")) for k in data.shown]
    return [f"{name}, start" if k == graph.orientation else name for k, name in names]


def _write_titles(group: Any, views: list[View], heading: str) -> None:
    """A heading over a group of pictures, and what slice each is."""
    for place, (axes, view) in enumerate(zip(group, views, strict=True)):
        axes.set_title(
            f"{heading}\n{view.plane}".strip() if place == len(views) // 2 else view.plane
        )


def _draw_other_axes(cells: Any, data: Heat, view: View, norm: Any) -> None:
    graph = data.widest
    for axes in cells[len(data.other_axes) :]:
        bare(axes)
    for axes, k in zip(cells, data.other_axes, strict=False):
        picture(axes, view, graph.density[k], norm, SEQUENTIAL)
        axes.set_title(title(graph.places.samples, int(k)), fontsize="small")
    row_label(cells[0], "other axes")


def _draw_unoriented(
    canvas: "matplotlib.figure.Figure", data: Heat, reach: float, norm: Any
) -> None:
    views = [around(graph.places, graph.point, reach) for graph in data.graphs]
    grid = canvas.subplots(len(views), len(views[0]) + 1, squeeze=False)
    for cells, graph, of_graph in zip(grid, data.graphs, views, strict=True):
        for axes, view in zip(cells, of_graph, strict=False):
            values, named = graph.density[0], view.plane
            image = picture(axes, view, values, norm, SEQUENTIAL, title=named, ticks=True)
            name_axes(axes, view, graph.places)
        if len(data.graphs) > 1:
            row_label(cells[0], graph.name)
        _draw_profile(cells[-1], graph, data.spread, reach)
    color_bar(canvas, image, list(grid[:, :-1].ravel()), BAR, location="bottom")


def _draw_profile(
    axes: "matplotlib.axes.Axes", graph: Diffusion, spread: float, reach: float
) -> None:
    """Draw the heat of a graph without orientations against distance, and the exact kernel."""
    places = graph.places
    offsets = places.offsets(places.vectors[graph.point], places.vectors)
    distance = np.linalg.norm(offsets, axis=1)
    least = float(graph.density.max()) * 10.0**-DECADES
    seen = (distance <= reach) & (graph.density[0] >= least)
    look = {"color": SERIES[0], "ms": 3, "rasterized": bool(seen.sum() > MARKS)}
    axes.semilogy(distance[seen], graph.density[0, seen], ".", label="graph", **look)
    if graph.operator:
        at = np.linspace(0, reach, 200)
        exact = exact_density(places, at, spread)
        kept = exact >= least
        axes.semilogy(at[kept], exact[kept], color=SERIES[1], lw=1.2, label="exact, boundless")
    axes.set(xlabel=f"distance [{places.unit}]", ylabel="heat per vertex", xlim=(0, reach))
    axes.legend(loc="lower left")


def _draw(graph: OpenedGraph, asked: Asked, canvas: "matplotlib.figure.Figure") -> str:
    data = heat_of(graph, *asked.beside, level=asked.level, vertex=asked.vertex)
    canvas.set_size_inches(FIGURE.size[0], _height(data))
    draw_heat(canvas, data)
    return _caption((graph, *asked.beside), data)


def _height(data: Heat) -> float:
    """Inches that rows of pictures as wide as the figure take."""
    if not data.widest.oriented:
        return FIGURE.size[1] * len(data.graphs)
    if len(data.other_axes):
        return 0.5 + FIGURE.size[0] / OTHER_AXES * (len(data.graphs) + 1)
    side = min(WIDEST, FIGURE.size[0] / (1 + len(data.shown)))
    return max(LEAST, 0.5 + side * len(data.graphs))


def _caption(graphs: tuple[OpenedGraph, ...], data: Heat) -> str:
    """What to see in the figure of some heat, and what it leaves out."""
    spec, first = graphs[data.graphs.index(data.widest)].spec, data.graphs[0]
    base = spec.geometry.base
    length = visible_unit(graphs[0].spec) if base.flat else "mean spacings"
    unit = f"squared {base.unit}" if first.operator else "units of 1 / Delta"
    after = f", sqrt(2 t) = {data.spread:.3g} {length}" if first.operator else ""
    start = (
        f"Heat that started at vertex {data.vertex} of level {data.level}, after t = "
        f"{first.time:.3g} {unit}{after}; colors are logarithmic."
    )
    lines = [start]
    if any(graph.places.spacing != first.places.spacing for graph in data.graphs):
        lines.append("Elsewhere t is such that it spreads by as many of the graph's own spacings.")
    if not data.widest.oriented:
        if first.operator:
            lines.append("Dots on the line are heat as on the manifold itself without an end.")
        return " ".join(lines)
    ways = [f"on {_named(graph, data)} it {_way(graph, word(spec))}" for graph in data.graphs]
    text = "; ".join(ways)
    lines += [text[0].upper() + text[1:] + ".", counted(spec)]
    count = len(data.widest.density)
    if spec.axes is not None:
        others = len(data.other_axes)
        some = f"{others} of the {count - 1} others" if others < count - 1 else "the others"
        lines.append(
            "Left three slices through the start, all axes together, right the axis of the start "
            f"alone in the same; in the last row, {some} in the first slice."
        )
    elif len(data.shown) < count:
        lines.append(f"Shown are {len(data.shown)} of {count} orientations.")
    return " ".join(lines)


def _named(graph: Diffusion, data: Heat) -> str:
    return graph.name if len(data.graphs) > 1 else "this graph"


def _way(graph: Diffusion, fibre: str) -> str:
    """How heat goes on a graph."""
    if not graph.oriented:
        return "spreads evenly"
    if not graph.anisotropic:
        return f"spreads evenly at every {fibre}, as eps = 1"
    return f"runs along the {fibre} that it is at, and bends where that changes"


FIGURE = Figure(
    "heat",
    "Heat from an impulse at one vertex",
    (8.0, 3.7),
    _draw,
    takes=("vertex", "beside"),
)
