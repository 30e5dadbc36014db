"""Figure: heat from an impulse, on the base, on the isotropic group, and on the graph itself."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure as Canvas

from cheblienet_graphs.figures.exact_heat import exact_density
from cheblienet_graphs.figures.heat import Heat, heat_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.figures.views import around
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.heat_over_axes import BAR, ROWS, draw_over_axes, other_axes
from cheblienet_graphs.plot.panels import (
    bare,
    colour_bar,
    name_axes,
    picture,
    row_label,
    shown_orientations,
)
from cheblienet_graphs.plot.style import SEQUENTIAL, SERIES
from cheblienet_graphs.plot.units import spacing_in_words
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibres import counted, title, word
from cheblienet_graphs.spec.units import visible_unit

DECADES = 3
"""Colours go from the most heat down to this many powers of ten below."""
REACH = 3.2
"""Half of the pictures' sides, in spreads."""
MARKS = 500
"""More marks than this are drawn as an image."""


def draw_heat(canvas: Canvas, data: Heat) -> None:
    """Draw heat on an empty figure: a row for each graph, a column for each orientation.

    Where there are no orientations, one row, and heat against distance with the exact kernel.

    Args:
        canvas: the figure.
        data: the heat.
    """
    reach = max(1.0, math.ceil(REACH * data.spread))
    most = max(float(graph.together.max()) for graph in data.graphs)
    norm = LogNorm(most * 10.0**-DECADES, most, clip=True)
    if len(data.graphs[-1].places.samples[0]) > 1:
        draw_over_axes(canvas, data, reach, norm)
    elif data.oriented:
        _draw_oriented(canvas, data, reach, norm)
    else:
        _draw_unoriented(canvas, data, reach, norm)


def _draw_oriented(canvas: Canvas, data: Heat, reach: float, norm: Normalize) -> None:
    own = data.graphs[-1]
    count = own.places.points.orientations
    if count == 1:
        _draw_side_by_side(canvas, data, reach, norm)
        return
    shown = shown_orientations(count, through=own.orientation)
    grid = canvas.subplots(len(data.graphs), 1 + len(shown), squeeze=False)
    for cells, graph in zip(grid, data.graphs, strict=True):
        [view] = around(graph.places, graph.point, reach)
        last = graph is own
        image = picture(cells[0], view, graph.together, norm, SEQUENTIAL, ticks=last)
        row_label(cells[0], ROWS[graph.kind])
        if last:
            name_axes(cells[0], view, graph.places)
        if graph.kind == "base":
            for axes in cells[1:]:
                bare(axes)
            continue
        for axes, k in zip(cells[1:], shown, strict=True):
            picture(axes, view, graph.density[k], norm, SEQUENTIAL)
    titled = grid[1 if len(data.graphs) > 1 else 0, 1:]
    grid[0, 0].set_title("all together")
    for axes, k in zip(titled, shown, strict=True):
        start = ", start" if k == own.orientation else ""
        axes.set_title(title(own.places.samples, int(k)) + start)
    if data.graphs[0].kind == "base":
        place = grid[0, 1].inset_axes((0.15, 0.55, min(2.0, 0.6 * len(shown)), 0.12))
        colour_bar(canvas, image, None, BAR, cax=place, orientation="horizontal")
    else:
        colour_bar(canvas, image, list(grid.ravel()), BAR)


def _draw_side_by_side(canvas: Canvas, data: Heat, reach: float, norm: Normalize) -> None:
    """Draw graphs of one orientation."""
    grid = canvas.subplots(1, len(data.graphs), squeeze=False)[0]
    for axes, graph in zip(grid, data.graphs, strict=True):
        [view] = around(graph.places, graph.point, reach)
        name = ROWS[graph.kind]
        image = picture(axes, view, graph.density[0], norm, SEQUENTIAL, title=name, ticks=True)
        name_axes(axes, view, graph.places)
    colour_bar(canvas, image, list(grid), BAR)


def _draw_unoriented(canvas: Canvas, data: Heat, reach: float, norm: Normalize) -> None:
    [graph] = data.graphs
    views = around(graph.places, graph.point, reach)
    grid = canvas.subplots(1, len(views) + 1)
    for axes, view in zip(grid, views, strict=False):
        image = picture(
            axes, view, graph.density[0], norm, SEQUENTIAL, title=view.plane, ticks=True
        )
        name_axes(axes, view, graph.places)
    colour_bar(canvas, image, list(grid[:-1]), BAR, location="bottom")
    draw_profile(grid[-1], data, reach)


def draw_profile(axes: Axes, data: Heat, reach: float) -> None:
    """Draw the heat of a graph without orientations against distance, and the exact kernel.

    Args:
        axes: to draw on.
        data: the heat.
        reach: largest distance, in spacings.
    """
    [graph] = data.graphs
    places = graph.places
    offsets = places.offsets(places.vectors[graph.point], places.vectors)
    distance = np.linalg.norm(offsets, axis=1)
    least = float(graph.density.max()) * 10.0**-DECADES
    seen = (distance <= reach) & (graph.density[0] >= least)
    axes.semilogy(
        distance[seen],
        graph.density[0, seen],
        ".",
        color=SERIES[0],
        ms=3,
        label="graph",
        rasterized=bool(seen.sum() > MARKS),
    )
    if data.operator:
        at = np.linspace(0, reach, 200)
        exact = exact_density(places, at, data.spread)
        kept = exact >= least
        axes.semilogy(at[kept], exact[kept], color=SERIES[1], lw=1.2, label="exact, boundless")
    axes.set(
        xlabel=f"distance [{spacing_in_words(places)}]", ylabel="heat per vertex", xlim=(0, reach)
    )
    axes.legend(loc="lower left")


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    data = heat_of(graph, level=asked.level, vertex=asked.vertex)
    draw_heat(canvas, data)
    return caption(graph.spec, data)


def caption(spec: GraphSpec, data: Heat) -> str:
    """What to see in the figure of some heat, and what it leaves out."""
    length = visible_unit(spec) if spec.geometry.base.flat else "mean spacings"
    started = f"Heat that started at vertex {data.vertex} of level {data.level}"
    unit = f"squared {spec.geometry.base.unit}" if data.operator else "units of 1 / Delta"
    when = f"after t = {data.time:.3g} {unit}"
    if data.operator:
        when += f", sqrt(2 t) = {data.spread:.3g} {length}"
    lines = [f"{started}, {when}; colours are logarithmic."]
    if not data.oriented:
        if data.operator:
            lines.append("Dots on the line are heat as on the manifold itself without an end.")
        return " ".join(lines)
    lines += [_rows_in_words(spec, data), counted(spec)]
    if data.left_out:
        lines.append(f"Not compared with all others: {data.left_out}")
    count = data.graphs[-1].places.points.orientations
    shown = len(shown_orientations(count, through=data.graphs[-1].orientation))
    if spec.axes is not None:
        lines.append(_slices_in_words(data))
    elif shown < count:
        lines.append(f"Shown are {shown} of {count} orientations.")
    return " ".join(lines)


def _slices_in_words(data: Heat) -> str:
    own = data.graphs[-1]
    count = own.places.points.orientations
    others = len(other_axes(count, own.orientation))
    some = f"{others} of the {count - 1} others" if others < count - 1 else "the others"
    return (
        "Left three slices through the start, all axes together, right the axis of the start alone "
        f"in the same; in the last row, {some} in the first slice."
    )


def _rows_in_words(spec: GraphSpec, data: Heat) -> str:
    kinds = {graph.kind: graph for graph in data.graphs}
    parts = []
    if "base" in kinds:
        parts.append("on the base alone it spreads evenly")
    if "isotropic" in kinds:
        parts.append(f"on the group with eps = 1 it does at every {word(spec)}")
    own = (
        f"on this graph it runs along the {word(spec)} that it is at, and bends where that changes"
    )
    parts.append(own if data.anisotropic else "on this graph, with eps = 1, it spreads evenly")
    text = "; ".join(parts)
    text = text[0].upper() + text[1:] + "."
    if any(graph.smaller for graph in data.graphs):
        text += " The others are smaller graphs of the same kind, shown for as many spacings."
    return text


FIGURE = Figure("heat", TITLES["heat"], (8.0, 3.7), _draw, takes=("vertex",))
