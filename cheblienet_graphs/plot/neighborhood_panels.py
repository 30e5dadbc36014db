"""Figure: the neighborhood of a vertex, a picture for each orientation, and one across them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Axes, Canvas, Figure, sentences
from cheblienet_graphs.plot.neighborhood import (
    NAMES,
    Neighborhood,
    View,
    neighborhood_of,
    outermost,
)
from cheblienet_graphs.plot.pictures import lines
from cheblienet_graphs.spec import fibers, words
from cheblienet_graphs.spec.fibers import angle_in_words, sample_phrase
from cheblienet_graphs.typing import Floats

COLUMNS = 3
SIDE = 2.25
"""Inches of a panel."""
WITHIN, ACROSS, REALIZED = SERIES[0], SERIES[5], SERIES[2]
THINNEST, THICKEST = 0.5, 3.0
"""Points of the lines of weight 0 and of the largest weight."""
MARGIN = 1.12
LABELS = {
    (2, 0): ("edges", "_", "other points"),
    (2, 1): ("edges, same orientation", "edges, other orientations", "other points"),
    (3, 0): ("edges in this plane", "edges out of it", "other points"),
    (3, 3): ("edges, same axis", "edges, other axes", "voxels near a plane"),
}
"""Names of edges and points in the legend, by the directions of the base and of the fiber."""
GLYPH = 0.13
"""Half the length of an orientation's stroke, in units of the largest coordinate."""
FLAT = 1e-6
"""Distance from a plane up to which a neighbor lies in it."""
NEAR = 0.5
"""Distance from a plane up to which other points are marked on it."""
PLANES = ((0, 1), (0, 2), (1, 2))
"""Pairs of directions of the pictures of a volume."""
OF_AXES = {
    **dict(zip(PLANES, ("from one side", "from the other", "along the axis"), strict=True)),
    (0, 3): "along and tilt",
    (3, 4): "tilts",
}
"""The pairs of the pictures at an axis in space, and what they are called."""
TILT = math.pi / 12
"""Tilts at the numbers of an axis are multiples."""
DOT: dict[str, Any] = {"marker": "o", "markersize": 4}
RING: dict[str, Any] = {"marker": "o", "markersize": 8, "mfc": "none"}


def draw_neighborhood(
    data: Neighborhood, view: View, ax: Axes, pair: tuple[int, int] = (0, 1)
) -> None:
    """Draw the edges of one orientation or axis along two directions, to the metric's scale.

    Args:
        data: of `neighborhood_of`.
        view: one of its views.
        ax: axes to draw on.
        pair: directions of the base, 0 the first one, or of the frame, as in `View.components`,
            where one of them is a rotation or a tilt. Tilts count by their sine.
    """
    draw = _draw_plane if max(pair) < len(data.axes) else _draw_components
    draw(data, view, ax, pair)
    across = "".join(data.axes[k] for k in pair if k < len(data.axes))
    title = f"{across} plane" if len(data.axes) == 3 else ""
    if len(view.sample) == 1:
        angle = angle_in_words(view.sample[0])
        title = f"orientation {angle}" if pair == (0, 1) else f"{angle}, with rotation"
    ax.set_title(OF_AXES[pair] if len(view.sample) == 3 else title)


def _draw_plane(data: Neighborhood, view: View, ax: Axes, pair: tuple[int, int]) -> None:
    """The edges projected on a plane of two directions of the picture, with ellipsoids' shadows."""
    rest = [axis for axis in range(len(data.axes)) if axis not in pair]
    near = (abs(data.others) <= data.reach * MARGIN).all(axis=1)
    near &= (abs(data.others[:, rest]) <= NEAR).all(axis=1)
    *labels, others = LABELS[len(data.axes), len(view.sample)]
    leaving: npt.NDArray[np.bool_] = view.rotating
    if rest and not view.sample:
        leaving = np.any(abs(view.places[:, rest]) > FLAT, axis=1)
        ax.plot(*view.places[leaving][:, pair].T, color=ACROSS, linestyle="", **RING)
    _draw_edges(data, ax, view.places[:, pair], view.weights, leaving, labels)
    if view.sample:
        for color, middles, headings in (
            (ACROSS, view.places[leaving], view.headings[leaving]),
            (INK, np.zeros_like(view.frame[:1]), view.frame[:1]),
        ):
            strokes = GLYPH * data.reach * headings
            ends = np.stack([middles - strokes, middles + strokes], axis=1)[:, :, pair]
            lines(ax, ends, color, 1.8, zorder=3.5)
    _draw_ellipses(ax, view.ellipsoids(), pair, data.reach)
    look: dict[str, Any] = {"color": FAINT, "markersize": 2, "zorder": 1, "label": others}
    ax.plot(*data.others[near][:, pair].T, ".", **look)
    right, down = (f"{data.axes[direction]} ({data.unit})" for direction in pair)
    ax.set(xlabel=right, ylabel=down)
    if not view.sample or not rest:
        ax.invert_yaxis()  # as rows of an image


def _draw_components(data: Neighborhood, view: View, ax: Axes, pair: tuple[int, int]) -> None:
    """The edges along two directions of the frame, radians as long as xi."""
    lengths = np.where(np.arange(len(view.moment)) < len(view.frame), 1.0, data.xi)
    ends, shapes = (view.components * lengths)[:, pair], view.ellipsoids(np.diag(lengths))
    rotating, of_axes = view.rotating[view.edges], len(view.sample) == 3
    _draw_edges(data, ax, ends, view.weights[view.edges], rotating)
    ax.plot(*ends[rotating].T, color=ACROSS, linestyle="", zorder=3, **DOT)
    reach = outermost(ends, [shape[np.ix_(pair, pair)] for shape in shapes]) or 1.0
    _draw_ellipses(ax, shapes, pair, reach)
    names = NAMES if of_axes else ("forward", "sideways", "rotation")
    step, most = TILT if of_axes else data.step, reach * MARGIN / data.xi
    largest = step * max(1, int((math.asin(min(most, 1.0)) if of_axes else most) / step))
    turns = np.array([-largest, 0.0, largest])
    places = data.xi * (np.sin(turns) if of_axes else turns)
    for number, axis in zip(pair, (ax.xaxis, ax.yaxis), strict=True):
        turning = number >= len(view.frame)
        axis.set_label_text(names[number] if turning else f"{names[number]} ({data.unit})")
        if turning:
            axis.set_ticks(places, list(map(angle_in_words, turns)))


def _draw_edges(
    data: Neighborhood,
    ax: Axes,
    ends: Floats,
    weights: Floats,
    leaving: Any,
    labels: Sequence[str] = ("_", "_"),
) -> None:
    """Lines to the neighbors, the heavier the thicker; dots at ends that are not `leaving`."""
    widths = THINNEST + (THICKEST - THINNEST) * weights / (data.heaviest or 1.0)
    pairs = np.stack([np.zeros_like(ends), ends], axis=1)
    kinds = (WITHIN, ~leaving, 2.1), (ACROSS, leaving, 2.0)
    for (color, chosen, zorder), label in zip(kinds, labels, strict=True):
        thick = widths[chosen] if chosen.any() else 1.0  # which the legend wants
        lines(ax, pairs[chosen], color, thick, zorder=zorder, label=label)
    ax.plot(*ends[~leaving].T, color=WITHIN, linestyle="", zorder=3, **DOT)
    ax.plot([0], [0], color=INK, zorder=4, **DOT)


def _draw_ellipses(ax: Axes, shapes: list[Floats], pair: tuple[int, int], reach: float) -> None:
    """Shadows of the metric realized, filled, and of the one asked for; axes to scale."""
    circle = np.exp(1j * np.linspace(0, 2 * math.pi, 73))[:, None].view(float)
    realized = {"facecolor": (REALIZED, 0.15), "edgecolor": REALIZED, "linewidth": 2, "zorder": 0.5}
    asked = {"fill": False, "edgecolor": INK, "linewidth": 1.2, "linestyle": "--", "zorder": 2.5}
    looks = (realized | {"label": "metric realized"}, asked | {"label": "metric asked for"})
    for shape, look in zip(shapes, looks, strict=False):
        values, vectors = np.linalg.eigh(shape[np.ix_(pair, pair)])
        outline = circle * np.sqrt(np.maximum(values, 0)) @ vectors.T
        ax.fill(*outline.T, **look)
    limits = -reach * MARGIN, reach * MARGIN
    ax.set(aspect="equal", xlim=limits, ylim=limits)


def _draw(graph: OpenedGraph, asked: Asked, figure: Canvas) -> str:
    data = neighborhood_of(graph, asked.level, asked.vertex)
    panels = [(view, (0, 1)) for view in data.views]
    if len(data.axes) == 3:
        panels = [(data.views[0], pair) for pair in (OF_AXES if graph.spec.axes else PLANES)]
    elif data.orientations > 1:
        panels.append((data.views[data.middle], (0, 2)))
    columns = 2 if len(panels) in {1, 3} else COLUMNS  # the legend takes a place, too
    rows = -(-(len(panels) + 1) // columns)
    figure.set_size_inches(columns * SIDE, rows * SIDE)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for (view, pair), ax in zip(panels, axes, strict=False):
        draw_neighborhood(data, view, ax, pair)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    legend = axes[0].get_legend_handles_labels()
    axes[len(panels)].legend(*legend, loc="center left", borderpad=0)
    return _caption(graph, asked, data)


def _caption(graph: OpenedGraph, asked: Asked, data: Neighborhood) -> str:
    view, spec = data.views[data.middle], graph.spec
    coordinates = graph.level(asked.level).coordinates[view.vertex].tolist()
    place = zip(spec.geometry.columns, coordinates, strict=True)
    at = ", ".join(f"{name} = {value:.4g}" for name, value in place)
    realized = [each.eps_squared for each in data.views if each.eps_squared is not None]
    edges = "no eps^2 is realized" if data.heaviest else "it has no neighbors"
    if realized:
        edges = f"its edges realize eps^2 = {words.span(realized)}, asked for {spec.eps**2:.3g}"
    return sentences(
        f"Vertex {view.vertex:,} ({at}): {edges}.",
        view.sample
        and f"It is at {sample_phrase(spec, view.vertex // spec.base_points(asked.level))}, of "
        f"{data.orientations}; strokes are along other {fibers.sample_nouns(spec)}.",
        len(data.axes) == 3 and not view.sample and "Rings are neighbors out of a plane.",
        data.heaviest
        and f"Edges are the thicker the heavier, up to {data.heaviest:.3g}. The ellipse of the "
        "metric realized, evenly filled, has the second moments of the edges.",
    )


FIGURE = Figure(
    "neighborhood", "The neighborhood of one vertex, to scale", (6.75, 6.75), _draw, ("vertex",)
)
