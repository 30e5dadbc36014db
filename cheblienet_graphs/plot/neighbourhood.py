"""The neighbourhood of a vertex: one picture for each orientation, and one across them."""

import math
from typing import Any

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from cheblienet_graphs.figures.neighbourhood import Neighbourhood, View, neighbourhood_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.plot.around_an_axis import draw_sides, draw_tilts
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.marks import (
    ACROSS,
    GLYPH,
    MARGIN,
    REALISED,
    WITHIN,
    draw_edges,
    draw_ellipses,
    limits,
)
from cheblienet_graphs.plot.style import FAINT, INK
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibres import angle_in_words, named, vector_in_words

COLUMNS = 3
EQUAL = 0.995
"""Ratio of an ellipse's axes above which it is a circle."""
SIDE = 2.25
"""Inches of a panel."""


def draw_neighbourhood(data: Neighbourhood, view: View, ax: Axes) -> None:
    """Draw the edges of one orientation, seen on the base, to scale.

    Args:
        data: of `neighbourhood_of`.
        view: one of its views.
        ax: axes to draw on.
    """
    _draw_plane(data, view, ax, (0, 1))
    if view.sample:
        ax.set_title(f"orientation {angle_in_words(view.sample[0])}")


def draw_planes(data: Neighbourhood, axes: Any) -> None:
    """Draw the edges of a vertex of a volume on three planes through it.

    Args:
        data: of `neighbourhood_of`.
        axes: three axes to draw on.
    """
    for ax, pair in zip(axes, ((0, 1), (0, 2), (1, 2)), strict=True):
        _draw_plane(data, data.views[0], ax, pair)
        ax.set_title(f"{data.axes[pair[0]]}{data.axes[pair[1]]} plane")


def draw_rotation(data: Neighbourhood, view: View, ax: Axes) -> None:
    """Draw the edges of one orientation along forward and rotation, to the metric's scale.

    Args:
        data: of `neighbourhood_of`.
        view: one of its views.
        ax: axes to draw on.
    """
    lengths = np.array([1.0, data.xi])
    ends = view.components[:, [0, -1]] * lengths
    rotating = view.rotating[view.edges]
    reach = float(abs(ends).max(initial=0))
    balls = [
        None if shape is None else shape[np.ix_([0, -1], [0, -1])] * np.outer(lengths, lengths)
        for shape in (view.ball, view.filled)
    ]
    for ball in balls:
        reach = max(reach, float(np.sqrt(ball.diagonal().max()))) if ball is not None else reach
    reach = reach or data.reach
    draw_edges(data, view.weights[view.edges], ends, rotating, ax)
    ax.plot(*ends[rotating].T, "o", color=ACROSS, markersize=4, zorder=3)
    draw_ellipses(balls[0], balls[1], ax)
    limits(ax, reach)
    most = math.degrees(reach * MARGIN / data.xi)
    step = 180 / data.orientations
    step *= max(1, math.ceil(most / step / 4))
    turns = np.arange(-int(most / step), int(most / step) + 1) * step
    ax.set_yticks(np.radians(turns) * data.xi, [angle_in_words(math.radians(t)) for t in turns])
    ax.set_xlabel(f"forward ({data.unit})")
    ax.set_ylabel("rotation")
    ax.set_title(f"{angle_in_words(view.sample[0])}, with rotation")


def draw_legend(data: Neighbourhood, ax: Axes) -> None:
    """Say what lines and ellipses mean, on axes of their own."""
    ax.set_axis_off()
    volume, sample = len(data.axes) == 3, data.views[0].sample
    within, across = "edges", ""
    if len(sample) == 1:
        within, across = "edges, same orientation", "edges, other orientations"
    elif sample:
        within, across = "edges, same axis", "edges, other axes"
    elif volume:
        within, across = "edges in this plane", "edges out of it"
    others = "voxels near a plane" if volume and sample else "other points"
    handles = [Line2D([], [], color=WITHIN, marker="o", markersize=4, label=within)]
    if (volume and not sample) or any(view.rotating.any() for view in data.views):
        mark: Any = (2, 2, 30) if sample else "o"
        handles.append(
            Line2D([], [], color=ACROSS, marker=mark, markersize=9, mfc="none", label=across)
        )
    handles.append(Line2D([], [], color=INK, linestyle="--", label="metric asked for"))
    handles.append(Line2D([], [], color=REALISED, linewidth=2, label="metric realised"))
    handles.append(Line2D([], [], color=FAINT, marker=".", linestyle="", label=others))
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(0, 0.5), borderpad=0)


def _draw_plane(data: Neighbourhood, view: View, ax: Axes, pair: tuple[int, int]) -> None:
    """The edges projected on a plane of two axes of the picture, with the shadows of ellipsoids."""
    ends = view.places[:, pair]
    rest = [axis for axis in range(len(data.axes)) if axis not in pair]
    leaving = view.rotating | (abs(view.places[:, rest]) > 1e-6).any(axis=1)
    near = (abs(data.others) <= data.reach * MARGIN).all(axis=1)
    near &= (abs(data.others[:, rest]) <= 1e-6).all(axis=1)
    ax.plot(*data.others[near][:, pair].T, ".", color=FAINT, markersize=2, zorder=1)
    draw_edges(data, view.weights, ends, leaving, ax)
    if len(data.axes) == 3:
        ax.plot(*ends[leaving].T, "o", color=ACROSS, markersize=8, mfc="none", zorder=3)
    elif view.sample:
        _draw_glyphs(data, view, ax)
    balls = [
        None if shape is None else view.on_picture(shape)[np.ix_(pair, pair)]
        for shape in (view.ball, view.filled)
    ]
    draw_ellipses(balls[0], balls[1], ax)
    limits(ax, data.reach)
    ax.set_xlabel(f"{data.axes[pair[0]]} ({data.unit})")
    ax.set_ylabel(f"{data.axes[pair[1]]} ({data.unit})")
    if data.axes[pair[1]] in {"y", "z"}:
        ax.invert_yaxis()  # as rows of an image


def _draw_glyphs(data: Neighbourhood, view: View, ax: Axes) -> None:
    """A short stroke at each neighbour of another orientation, along its own, and at the vertex."""
    turned, length = view.rotating, GLYPH * data.reach
    for colour, middles, headings in (
        (ACROSS, view.places[turned], view.headings[turned]),
        (INK, np.zeros((1, 2)), view.frame[:1]),
    ):
        strokes = np.stack([middles - length * headings, middles + length * headings], axis=1)
        ax.add_collection(LineCollection(list(strokes), colors=colour, linewidths=1.8, zorder=3.5))


def _draw(graph: OpenedGraph, asked: Asked, figure: matplotlib.figure.Figure) -> str:
    data = neighbourhood_of(graph, asked.level, asked.vertex)
    volume, axis = len(data.axes) == 3, len(data.views[0].sample) == 3
    turning = bool(data.xi) and data.orientations > 1 and not axis
    panels = 5 if axis else 3 if volume else len(data.views) + turning
    columns = 2 if panels in {1, 3} else COLUMNS  # the legend takes a place, too
    rows = -(-(panels + 1) // columns)
    figure.set_size_inches(columns * SIDE, rows * SIDE)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    if axis:
        draw_sides(data, axes[:3])
        draw_tilts(data, axes[3:5])
    elif volume:
        draw_planes(data, axes[:3])
    else:
        for place, (view, ax) in enumerate(zip(data.views, axes, strict=False)):
            draw_neighbourhood(data, view, ax)
            if place + columns < len(data.views):
                ax.set_xlabel("")
            if place % columns:
                ax.set_ylabel("")
    if turning:
        draw_rotation(data, data.views[data.middle], axes[panels - 1])
    draw_legend(data, axes[panels])
    for ax in axes[panels + 1 :]:
        ax.set_axis_off()
    return _caption(graph, asked, data)


def _caption(graph: OpenedGraph, asked: Asked, data: Neighbourhood) -> str:
    view = data.views[data.middle]
    columns = graph.spec.geometry.columns
    place = zip(columns, graph.level(asked.level).coordinates[view.vertex].tolist(), strict=True)
    at = ", ".join(f"{name} = {value:.4g}" for name, value in place)
    sentences = [f"Vertex {view.vertex:,} ({at}): {_finding(graph, data)}."]
    if len(view.sample) == 3:
        sentences.append(_axis_in_words(graph, data, asked.level))
    elif len(data.axes) == 3:
        sentences.append("Rings are neighbours in front of a plane or behind it.")
    elif data.orientations > 1:
        number = f"{len(data.views)} of {data.orientations}"
        every = len(data.views) == data.orientations
        sentences.append(
            f"Its point of the base is seen in {'each' if every else number} orientation"
            f"{'' if every else 's'}; strokes stand at neighbours of other orientations, along "
            "these."
        )
    as_large = "reaches as far forward" if view.sample else "is as large"
    if data.heaviest:
        sentences.append(
            f"Edges are the thicker the heavier, up to {data.heaviest:.3g}. Evenly filled, the "
            "ellipse of the metric realised has the second moments of the edges"
            + (" in space" if len(data.axes) == 3 else "")
            + f"; that of the metric asked for {as_large}."
        )
    return " ".join(sentences)


def _axis_in_words(graph: OpenedGraph, data: Neighbourhood, level: int) -> str:
    """Which axis it is, and what the pictures show of it."""
    view = data.views[0]
    _, first, second = map(vector_in_words, view.frame.tolist())
    number = view.vertex // graph.spec.base_points(level)
    return (
        f"It is at {named(graph.spec, number)}, of {data.orientations}; directions across it are "
        f"{first} and {second}, and all neighbours are projected on these. Strokes stand at "
        "neighbours of other axes, along these. Tilts count by their sine."
    )


def _finding(graph: OpenedGraph, data: Neighbourhood) -> str:
    """How the metric realised compares with the one asked for."""
    if not data.heaviest:
        return "it has no neighbours, in any orientation" if data.xi else "it has no neighbours"
    filled = data.views[0].filled
    if not data.views[0].sample and filled is not None:
        radii = np.linalg.eigvalsh(filled)
        ratio = math.sqrt(max(radii[0], 0.0) / radii[-1])
        if ratio > EQUAL:
            return "its edges act alike in all directions, as asked for"
        return f"its edges act alike in all directions up to a ratio of {ratio:.2g}, asked for 1"
    known = [view.eps_squared for view in data.views if view.eps_squared is not None]
    if not known:
        return "no neighbour lies forward, so no eps^2 is realised"
    realised = words.interval(min(known), max(known))
    return f"its edges realise eps^2 = {realised}, asked for {graph.spec.eps**2:.3g}"


FIGURE = Figure("neighbourhood", TITLES["neighbourhood"], (6.75, 6.75), _draw, takes=("vertex",))
