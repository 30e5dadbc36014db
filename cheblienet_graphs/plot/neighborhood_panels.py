"""Figure: the neighborhood of a vertex, a picture for each orientation, and one across them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Figure, sentences
from cheblienet_graphs.plot.neighborhood import (
    NAMES,
    Neighborhood,
    View,
    neighborhood_of,
    outermost,
)
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.pictures import lines
from cheblienet_graphs.report.edges_of import axis_frame
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibers import angle_in_words, named, vector_in_words
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

COLUMNS = 3
EQUAL = 0.995
"""Ratio of an ellipse's axes above which it is a circle."""
SIDE = 2.25
"""Inches of a panel."""
WITHIN, ACROSS, REALIZED = SERIES[0], SERIES[5], SERIES[2]
THINNEST, THICKEST = 0.5, 3.0
"""Points of lines of weight 0 and of the largest weight."""
MARGIN = 1.12
LABELS = {
    (2, 0): ("edges", "_", "other points"),
    (2, 1): ("edges, same orientation", "edges, other orientations", "other points"),
    (3, 0): ("edges in this plane", "edges out of it", "other points"),
    (3, 3): ("edges, same axis", "edges, other axes", "voxels near a plane"),
}
"""What the legend calls edges and points, by the directions of the base and of the fiber."""
GLYPH = 0.13
"""Half the length of an orientation's stroke, in units of the largest coordinate."""
FLAT = 1e-6
"""Distance from a plane up to which a neighbor lies in it;"""
NEAR = 0.5
"""other points that are nearer are marked on it."""
PLANES = ((0, 1), (0, 2), (1, 2))
"""Pairs of directions of the pictures of a volume;"""
SIDES = ("from one side", "from the other", "along the axis")
"""what they are called where the first direction is that of an axis."""
TURNS = (math.pi / 12, math.pi / 6, math.pi / 2)
"""Tilts at the numbers of an axis, of which the largest is taken that is within its limits."""
DOT: dict[str, Any] = {"marker": "o", "markersize": 4}
RING: dict[str, Any] = {"marker": "o", "markersize": 8, "mfc": "none"}


def draw_neighborhood(data: Neighborhood, view: View, ax: "matplotlib.axes.Axes") -> None:
    """Draw the edges of one orientation, seen on the base, to scale.

    Args:
        data: of `neighborhood_of`.
        view: one of its views.
        ax: axes to draw on.
    """
    _draw_plane(data, view, ax, (0, 1))
    if view.sample:
        ax.set_title(f"orientation {angle_in_words(view.sample[0])}")


def draw_planes(data: Neighborhood, axes: Any) -> None:
    """Draw the edges of a vertex of a volume on three planes through it.

    Where it is at an axis in space, these are along and across it, and all edges are projected.

    Args:
        data: of `neighborhood_of`.
        axes: three axes to draw on.
    """
    [view] = data.views
    for ax, pair, side in zip(axes, PLANES, SIDES, strict=True):
        _draw_plane(data, view, ax, pair)
        ax.set_title(side if view.sample else f"{data.axes[pair[0]]}{data.axes[pair[1]]} plane")


def draw_rotation(data: Neighborhood, view: View, ax: "matplotlib.axes.Axes") -> None:
    """Draw the edges of one orientation along forward and rotation, to the metric's scale.

    Args:
        data: of `neighborhood_of`.
        view: one of its views.
        ax: axes to draw on.
    """
    most = math.degrees(_draw_components(data, view, ax, (0, 2)) / data.xi)
    step = 180 / data.orientations
    step *= max(1, math.ceil(most / step / 4))
    turns = np.radians(np.arange(-int(most / step), int(most / step) + 1) * step)
    ax.set_yticks(turns * data.xi, [angle_in_words(turn) for turn in turns])
    ax.set(xlabel=f"forward ({data.unit})", ylabel="rotation")
    ax.set_title(f"{angle_in_words(view.sample[0])}, with rotation")


def draw_tilts(data: Neighborhood, axes: Any) -> None:
    """Draw the edges of a vertex along its axis and its tilt, and along both tilts.

    Tilts are to the metric's scale by their sine, as they count in second moments.

    Args:
        data: of `neighborhood_of`, at an axis in space.
        axes: two axes to draw on.
    """
    for ax, pair, title in zip(axes, ((0, 3), (3, 4)), ("along and tilt", "tilts"), strict=True):
        most = _draw_components(data, data.views[0], ax, pair) / data.xi
        largest = max(turn for turn in TURNS if turn == TURNS[0] or math.sin(turn) <= most)
        turns = np.array([-largest, 0.0, largest])
        for number, axis in zip(pair, (ax.xaxis, ax.yaxis), strict=True):
            axis.set_label_text(NAMES[number] if number else f"along ({data.unit})")
            if number:
                axis.set_ticks(np.sin(turns) * data.xi, [angle_in_words(turn) for turn in turns])
        ax.set_title(title)


def _draw_plane(
    data: Neighborhood, view: View, ax: "matplotlib.axes.Axes", pair: tuple[int, int]
) -> None:
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
            lines(ax, ends, color, 1.8, 3.5)
    _draw_ellipses(ax, view.ellipsoids(), pair, data.reach)
    look: dict[str, Any] = {"color": FAINT, "markersize": 2, "zorder": 1, "label": others}
    ax.plot(*data.others[near][:, pair].T, ".", **look)
    right, down = (f"{data.axes[direction]} ({data.unit})" for direction in pair)
    ax.set(xlabel=right, ylabel=down)
    if not view.sample or not rest:
        ax.invert_yaxis()  # as rows of an image


def _draw_components(
    data: Neighborhood, view: View, ax: "matplotlib.axes.Axes", pair: tuple[int, int]
) -> float:
    """The edges along two directions of the frame, radians as long as xi; where the axes end."""
    lengths = np.where(np.arange(len(view.moment)) < len(view.frame), 1.0, data.xi)
    ends, shapes = (view.components * lengths)[:, pair], view.ellipsoids(lengths)
    rotating = view.rotating[view.edges]
    _draw_edges(data, ax, ends, view.weights[view.edges], rotating)
    ax.plot(*ends[rotating].T, color=ACROSS, linestyle="", zorder=3, **DOT)
    reach = outermost(ends, [shape[np.ix_(pair, pair)] for shape in shapes]) or 1.0
    _draw_ellipses(ax, shapes, pair, reach)
    return reach * MARGIN


def _draw_edges(
    data: Neighborhood,
    ax: "matplotlib.axes.Axes",
    ends: Floats,
    weights: Floats,
    leaving: Any,
    labels: Sequence[str] = ("_", "_"),
) -> None:
    """Lines to the neighbors, the heavier the thicker; dots at the ends of those that stay."""
    widths = THINNEST + (THICKEST - THINNEST) * weights / (data.heaviest or 1.0)
    pairs = np.stack([np.zeros_like(ends), ends], axis=1)
    kinds = (WITHIN, ~leaving, 2.1), (ACROSS, leaving, 2.0)
    for (color, chosen, zorder), label in zip(kinds, labels, strict=True):
        thick = widths[chosen] if chosen.any() else 1.0  # which the legend wants
        lines(ax, pairs[chosen], color, thick, zorder, label=label)
    ax.plot(*ends[~leaving].T, color=WITHIN, linestyle="", zorder=3, **DOT)
    ax.plot([0], [0], color=INK, zorder=4, **DOT)


def _draw_ellipses(
    ax: "matplotlib.axes.Axes", shapes: list[Floats], pair: tuple[int, int], reach: float
) -> None:
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


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
    data = neighborhood_of(graph, asked.level, asked.vertex)
    volume, axis = len(data.axes) == 3, graph.spec.axes is not None
    turning = data.orientations > 1 and not axis
    panels = 5 if axis else 3 if volume else len(data.views) + turning
    columns = 2 if panels in {1, 3} else COLUMNS  # the legend takes a place, too
    rows = -(-(panels + 1) // columns)
    figure.set_size_inches(columns * SIDE, rows * SIDE)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, (view, ax) in enumerate(zip(() if volume else data.views, axes, strict=False)):
        draw_neighborhood(data, view, ax)
        if place + columns < len(data.views):
            ax.set_xlabel("")
        if place % columns:
            ax.set_ylabel("")
    if turning:
        draw_rotation(data, data.views[data.middle], axes[panels - 1])
    if volume:
        draw_planes(data, axes[:3])
    if axis:
        draw_tilts(data, axes[3:5])
    for ax in axes[panels:]:
        ax.set_axis_off()
    axes[panels].legend(*axes[0].get_legend_handles_labels(), loc="center left", borderpad=0)
    return _caption(graph, asked, data)


def _caption(graph: OpenedGraph, asked: Asked, data: Neighborhood) -> str:
    view, spec, volume = data.views[data.middle], graph.spec, len(data.axes) == 3
    coordinates = graph.level(asked.level).coordinates[view.vertex].tolist()
    place = zip(spec.geometry.columns, coordinates, strict=True)
    at = ", ".join(f"{name} = {value:.4g}" for name, value in place)
    across = (
        map(vector_in_words, axis_frame(np.array(view.sample)).tolist()[1:]) if spec.axes else ()
    )
    return sentences(
        f"Vertex {view.vertex:,} ({at}): {_finding(graph, data)}.",
        spec.axes is not None
        and f"It is at {named(spec, view.vertex // spec.base_points(asked.level))}, of "
        f"{data.orientations}; directions across it are {' and '.join(across)}, and all neighbors "
        "are projected on these. Strokes stand at neighbors of other axes, along these. Tilts "
        "count by their sine.",
        volume and spec.axes is None and "Rings are neighbors in front of a plane or behind it.",
        data.orientations > 1
        and not volume
        and f"Its point of the base is seen in {len(data.views)} of {data.orientations} "
        "orientations; strokes stand at neighbors of other orientations, along these.",
        data.heaviest
        and f"Edges are the thicker the heavier, up to {data.heaviest:.3g}. Evenly filled, the "
        "ellipse of the metric realized has the second moments of the edges"
        f"{' in space' if volume else ''}; that of the metric asked for "
        f"{'reaches as far forward' if view.sample else 'is as large'}.",
    )


def _finding(graph: OpenedGraph, data: Neighborhood) -> str:
    """How the metric realized compares with the one asked for."""
    if not data.heaviest:
        return "it has no neighbors, in any orientation" if data.xi else "it has no neighbors"
    filled = data.views[0].filled
    if not data.views[0].sample and filled is not None:
        radii = np.linalg.eigvalsh(filled)
        ratio = math.sqrt(max(radii[0], 0.0) / radii[-1])
        alike = "its edges act alike in all directions"
        asked_for = (
            "as asked for" if ratio > EQUAL else f"up to a ratio of {ratio:.2g}, asked for 1"
        )
        return f"{alike}, {asked_for}"
    known = [view.eps_squared for view in data.views if view.eps_squared is not None]
    if not known:
        return "no neighbor lies forward, so no eps^2 is realized"
    realized = words.interval(min(known), max(known))
    return f"its edges realize eps^2 = {realized}, asked for {graph.spec.eps**2:.3g}"


FIGURE = Figure(
    "neighborhood",
    "The neighborhood of one vertex, to scale",
    (6.75, 6.75),
    _draw,
    takes=("vertex",),
)
