"""Figure: the neighbourhood of a vertex, a picture for each orientation, and one across them."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Figure
from cheblienet_graphs.plot.neighbourhood import Neighbourhood, View, neighbourhood_of
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.spec import words
from cheblienet_graphs.spec.fibres import angle_in_words, named, vector_in_words
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

COLUMNS = 3
EQUAL = 0.995
"""Ratio of an ellipse's axes above which it is a circle."""
SIDE = 2.25
"""Inches of a panel."""
WITHIN, ACROSS, REALISED = SERIES[0], SERIES[5], SERIES[2]
THINNEST, THICKEST = 0.5, 3.0
"""Points of lines of weight 0 and of the largest weight."""
MARGIN = 1.12
GLYPH = 0.13
"""Half the length of an orientation's stroke, in units of the largest coordinate."""
FLAT = 1e-6
"""Distance from a plane up to which a point lies in it."""
PLANES = ((0, 1), (0, 2), (1, 2))
"""Pairs of directions of the pictures of a volume;"""
SIDES = ("from one side", "from the other", "along the axis")
"""what they are called where the first direction is that of an axis,"""
NAMES = ("along", "across 1", "across 2", "tilt to 1", "tilt to 2")
"""and all directions there."""
NEAR = 0.5
"""Voxels whose middles are this many voxels from a picture's plane are marked on it."""
TICKS = ((1.0, (-90, 0, 90)), (0.6, (-30, 0, 30)), (0.0, (-30, -15, 0, 15, 30)))
"""Degrees of tilts, by the sine that an axis reaches at least."""
DOT: dict[str, Any] = {"marker": "o", "markersize": 4}
RING: dict[str, Any] = {"marker": "o", "markersize": 8, "mfc": "none"}


def draw_neighbourhood(data: Neighbourhood, view: View, ax: "matplotlib.axes.Axes") -> None:
    """Draw the edges of one orientation, seen on the base, to scale.

    Args:
        data: of `neighbourhood_of`.
        view: one of its views.
        ax: axes to draw on.
    """
    _draw_plane(data, view, ax, (0, 1))
    if view.sample:
        strokes = GLYPH * data.reach, [0, 1]
        _draw_strokes(ax, view.places[view.rotating], view.headings[view.rotating], *strokes)
        _draw_strokes(ax, np.zeros((1, 2)), view.frame[:1], *strokes, color=INK)
        ax.set_title(f"orientation {angle_in_words(view.sample[0])}")


def draw_planes(data: Neighbourhood, axes: Any) -> None:
    """Draw the edges of a vertex of a volume on three planes through it.

    Args:
        data: of `neighbourhood_of`.
        axes: three axes to draw on.
    """
    for ax, pair in zip(axes, PLANES, strict=True):
        _draw_plane(data, data.views[0], ax, pair)
        ax.set_title(f"{data.axes[pair[0]]}{data.axes[pair[1]]} plane")


def draw_rotation(data: Neighbourhood, view: View, ax: "matplotlib.axes.Axes") -> None:
    """Draw the edges of one orientation along forward and rotation, to the metric's scale.

    Args:
        data: of `neighbourhood_of`.
        view: one of its views.
        ax: axes to draw on.
    """
    reach = _draw_components(data, view, ax, (0, 2))
    most = math.degrees(reach * MARGIN / data.xi)
    step = 180 / data.orientations
    step *= max(1, math.ceil(most / step / 4))
    turns = np.arange(-int(most / step), int(most / step) + 1) * step
    ax.set_yticks(np.radians(turns) * data.xi, [angle_in_words(math.radians(t)) for t in turns])
    ax.set_xlabel(f"forward ({data.unit})")
    ax.set_ylabel("rotation")
    ax.set_title(f"{angle_in_words(view.sample[0])}, with rotation")


def draw_sides(data: Neighbourhood, axes: Any) -> None:
    """Draw the edges of a vertex along and across its axis, projected, to scale.

    Args:
        data: of `neighbourhood_of`, at an axis in space.
        axes: three axes to draw on.
    """
    view = data.views[0]
    places, others = view.places @ view.frame.T, data.others @ view.frame.T
    headings = view.headings @ view.frame.T
    cut = [None if shape is None else shape[:3, :3] for shape in (view.ball, view.filled)]
    reach = _outermost(places, cut)
    for ax, pair, title in zip(axes, PLANES, SIDES, strict=True):
        [rest] = {0, 1, 2}.difference(pair)
        near = (abs(others) <= reach * MARGIN).all(axis=1) & (abs(others[:, rest]) <= NEAR)
        ax.plot(*others[near][:, pair].T, ".", color=FAINT, markersize=2, zorder=1)
        ends = places[:, pair]
        _draw_edges(data, ax, ends, view.weights, view.rotating, marker=".", markersize=4)
        strokes = GLYPH * reach, pair
        _draw_strokes(ax, places[view.rotating], headings[view.rotating], *strokes)
        _draw_strokes(ax, np.zeros((1, 3)), np.eye(3)[:1], *strokes, color=INK)
        _draw_metrics(ax, [_shadow(shape, pair) for shape in cut])
        _limit(ax, reach)
        ax.set_xlabel(f"{NAMES[pair[0]]} ({data.unit})")
        ax.set_ylabel(f"{NAMES[pair[1]]} ({data.unit})")
        ax.set_title(title)


def draw_tilts(data: Neighbourhood, axes: Any) -> None:
    """Draw the edges of a vertex along its axis and its tilt, and along both tilts.

    Tilts are to the metric's scale by their sine, as they count in second moments.

    Args:
        data: of `neighbourhood_of`, at an axis in space.
        axes: two axes to draw on.
    """
    for ax, pair, title in zip(axes, ((0, 3), (3, 4)), ("along and tilt", "tilts"), strict=True):
        reach = _draw_components(data, data.views[0], ax, pair)
        ticks = _ticks(reach * MARGIN / data.xi)
        at = np.sin(np.radians(ticks)) * data.xi
        labels = [f"{tick}°".replace("-", "\N{MINUS SIGN}") for tick in ticks]
        ax.set_yticks(at, labels)
        ax.set_ylabel(NAMES[pair[1]])
        if pair[0] == 0:
            ax.set_xlabel(f"{NAMES[0]} ({data.unit})")
        else:
            ax.set_xlabel(NAMES[pair[0]])
            ax.set_xticks(at, labels)
        ax.set_title(title)


def _ticks(most: float) -> list[int]:
    """Degrees at the numbers of an axis, whose sines are within limits."""
    chosen = next(degrees for least, degrees in TICKS if most >= least)
    return [degree for degree in chosen if abs(math.sin(math.radians(degree))) <= most]


def _draw_plane(
    data: Neighbourhood, view: View, ax: "matplotlib.axes.Axes", pair: tuple[int, int]
) -> None:
    """The edges projected on a plane of two axes of the picture, with the shadows of ellipsoids."""
    rest = [axis for axis in range(len(data.axes)) if axis not in pair]
    leaving = view.rotating | (abs(view.places[:, rest]) > FLAT).any(axis=1)
    near = (abs(data.others) <= data.reach * MARGIN).all(axis=1)
    near &= (abs(data.others[:, rest]) <= FLAT).all(axis=1)
    ax.plot(*data.others[near][:, pair].T, ".", color=FAINT, markersize=2, zorder=1)
    mark = RING if rest else {}
    _draw_edges(data, ax, view.places[:, pair], view.weights, leaving, **mark)
    shapes = (view.ball, view.filled)
    shadows = [None if shape is None else view.on_picture(shape) for shape in shapes]
    _draw_metrics(ax, [_shadow(shape, pair) for shape in shadows])
    _limit(ax, data.reach)
    ax.set_xlabel(f"{data.axes[pair[0]]} ({data.unit})")
    ax.set_ylabel(f"{data.axes[pair[1]]} ({data.unit})")
    if data.axes[pair[1]] in {"y", "z"}:
        ax.invert_yaxis()  # as rows of an image


def _draw_components(
    data: Neighbourhood, view: View, ax: "matplotlib.axes.Axes", pair: tuple[int, int]
) -> float:
    """The edges along two directions of the frame, radians as long as xi; the farthest."""
    lengths = np.where(np.arange(len(view.moment)) < len(view.frame), 1.0, data.xi)
    ends = (view.components * lengths)[:, pair]
    shapes = [
        _shadow(None if shape is None else shape * np.outer(lengths, lengths), pair)
        for shape in (view.ball, view.filled)
    ]
    _draw_edges(data, ax, ends, view.weights[view.edges], view.rotating[view.edges], **DOT)
    _draw_metrics(ax, shapes)
    reach = _outermost(ends, shapes)
    _limit(ax, reach)
    return reach


def _draw_edges(
    data: Neighbourhood,
    ax: "matplotlib.axes.Axes",
    ends: Floats,
    weights: Floats,
    leaving: Any,
    **mark: Any,
) -> None:
    """Lines to the neighbours, the heavier the thicker; marks at the ends of those that leave."""
    from matplotlib.collections import LineCollection

    widths = THINNEST + (THICKEST - THINNEST) * weights / (data.heaviest or 1.0)
    lines = np.stack([np.zeros_like(ends), ends], axis=1)
    for color, chosen in ((ACROSS, leaving), (WITHIN, ~leaving)):
        ax.add_collection(
            LineCollection(list(lines[chosen]), colors=color, linewidths=widths[chosen])
        )
    ax.plot(*ends[~leaving].T, color=WITHIN, linestyle="", zorder=3, **DOT)
    ax.plot([0], [0], color=INK, zorder=4, **DOT)
    if mark:
        ax.plot(*ends[leaving].T, color=ACROSS, linestyle="", zorder=3, **mark)


def _draw_strokes(
    ax: "matplotlib.axes.Axes",
    middles: Floats,
    headings: Floats,
    length: float,
    pair: Any,
    color: str = ACROSS,
) -> None:
    """A short stroke at each place, along its own direction."""
    from matplotlib.collections import LineCollection

    strokes = np.stack([middles - length * headings, middles + length * headings], axis=1)
    ax.add_collection(
        LineCollection(list(strokes[:, :, pair]), colors=color, linewidths=1.8, zorder=3.5)
    )


def _draw_metrics(ax: "matplotlib.axes.Axes", shapes: list[Floats | None]) -> None:
    """Outline the metric asked for and, filled, the one realised, by squared radii (2, 2)."""
    asked, realised = shapes
    if realised is not None:
        look = {"facecolor": (REALISED, 0.15), "edgecolor": REALISED, "linewidth": 2}
        ax.fill(*_outline(realised).T, zorder=0.5, **look)
    if asked is not None:
        ax.plot(*_outline(asked).T, color=INK, linewidth=1.2, linestyle="--", zorder=2.5)


def _outline(squared_radii: Floats) -> Floats:
    """(N, 2) the outline of the ellipse x^T S^-1 x = 1 of a matrix S, which may be singular."""
    values, vectors = np.linalg.eigh(squared_radii)
    turn = np.linspace(0, 2 * math.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    outline: Floats = circle * np.sqrt(np.maximum(values, 0)) @ vectors.T
    return outline


def _shadow(shape: Floats | None, pair: tuple[int, int]) -> Floats | None:
    """The shadow of an ellipsoid along two directions."""
    return None if shape is None else shape[np.ix_(pair, pair)]


def _outermost(places: Floats, shapes: list[Floats | None]) -> float:
    """The largest coordinate of places (N, d) and of ellipsoids; 1 where there are none."""
    known = [float(np.sqrt(shape.diagonal().max())) for shape in shapes if shape is not None]
    return max([float(abs(places).max(initial=0)), *known]) or 1.0


def _limit(ax: "matplotlib.axes.Axes", reach: float) -> None:
    """Make both axes as long, a little more than the largest coordinate, and to scale."""
    ax.set_aspect("equal")
    ax.set_xlim(-reach * MARGIN, reach * MARGIN)
    ax.set_ylim(-reach * MARGIN, reach * MARGIN)


def _draw_legend(data: Neighbourhood, ax: "matplotlib.axes.Axes") -> None:
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
    ax.plot([], [], color=WITHIN, label=within, **DOT)
    if (volume and not sample) or any(view.rotating.any() for view in data.views):
        mark: Any = (2, 2, 30) if sample else "o"
        ax.plot([], [], color=ACROSS, marker=mark, markersize=9, mfc="none", label=across)
    ax.plot([], [], color=INK, linestyle="--", label="metric asked for")
    ax.plot([], [], color=REALISED, linewidth=2, label="metric realised")
    ax.plot([], [], color=FAINT, marker=".", linestyle="", label=others)
    ax.legend(loc="center left", bbox_to_anchor=(0, 0.5), borderpad=0)


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
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
    _draw_legend(data, axes[panels])
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


FIGURE = Figure(
    "neighbourhood",
    "The neighbourhood of one vertex, to scale",
    (6.75, 6.75),
    _draw,
    takes=("vertex",),
)
