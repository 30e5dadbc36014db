"""The neighbourhood of a position and an axis: from two sides, along the axis, and its tilts."""

import math
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection

from cheblienet_graphs.figures.neighbourhood import Neighbourhood
from cheblienet_graphs.plot.marks import (
    ACROSS,
    GLYPH,
    MARGIN,
    draw_edges,
    draw_ellipses,
    limits,
    outermost,
)
from cheblienet_graphs.plot.style import FAINT, INK
from cheblienet_graphs.typing import Floats

NAMES = ("along", "across 1", "across 2", "tilt to 1", "tilt to 2")
SIDES = ((0, 1), (0, 2), (1, 2))
"""Directions of the pictures of positions,"""
TITLES = ("from one side", "from the other", "along the axis")
"""and what they are called."""
NEAR = 0.5
"""Voxels whose middles are this many voxels from a picture's plane are marked on it."""
TICKS = ((1.0, (-90, 0, 90)), (0.6, (-30, 0, 30)), (0.0, (-30, -15, 0, 15, 30)))
"""Degrees of tilts, by the sine that an axis reaches at least."""


def draw_sides(data: Neighbourhood, axes: Any) -> None:
    """Draw the edges of a vertex along and across its axis, projected, to scale.

    Args:
        data: of `neighbourhood_of`.
        axes: three axes to draw on.
    """
    view = data.views[0]
    places, others = view.places @ view.frame.T, data.others @ view.frame.T
    headings = view.headings @ view.frame.T
    reach = outermost(places, [_cut(shape, (0, 1, 2)) for shape in (view.ball, view.filled)])
    for ax, pair, title in zip(axes, SIDES, TITLES, strict=True):
        [rest] = {0, 1, 2}.difference(pair)
        near = (abs(others) <= reach * MARGIN).all(axis=1) & (abs(others[:, rest]) <= NEAR)
        ax.plot(*others[near][:, pair].T, ".", color=FAINT, markersize=2, zorder=1)
        draw_edges(data, view.weights, places[:, pair], view.rotating, ax)
        own = np.eye(3)[:1, pair]
        length = GLYPH * reach
        for colour, middles, along in (
            (ACROSS, places[view.rotating][:, pair], headings[view.rotating][:, pair]),
            (INK, np.zeros((1, 2)), own),
        ):
            strokes = np.stack([middles - length * along, middles + length * along], axis=1)
            ax.add_collection(LineCollection(list(strokes), colors=colour, linewidths=1.8))
        ax.plot(*places[view.rotating][:, pair].T, ".", color=ACROSS, markersize=4, zorder=3)
        draw_ellipses(_cut(view.ball, pair), _cut(view.filled, pair), ax)
        limits(ax, reach)
        ax.set_xlabel(f"{NAMES[pair[0]]} ({data.unit})")
        ax.set_ylabel(f"{NAMES[pair[1]]} ({data.unit})")
        ax.set_title(title)


def draw_tilts(data: Neighbourhood, axes: Any) -> None:
    """Draw the edges of a vertex along its axis and its tilt, and along both tilts.

    Tilts are to the metric's scale by their sine, as they count in second moments.

    Args:
        data: of `neighbourhood_of`.
        axes: two axes to draw on.
    """
    view = data.views[0]
    lengths = np.array([1.0, 1.0, 1.0, data.xi, data.xi])
    ends, rotating = view.components * lengths, view.rotating[view.edges]
    shapes = [
        None if shape is None else shape * np.outer(lengths, lengths)
        for shape in (view.ball, view.filled)
    ]
    for ax, pair, title in zip(axes, ((0, 3), (3, 4)), ("along and tilt", "tilts"), strict=True):
        balls = [_cut(shape, pair) for shape in shapes]
        draw_edges(data, view.weights[view.edges], ends[:, pair], rotating, ax)
        ax.plot(*ends[rotating][:, pair].T, "o", color=ACROSS, markersize=4, zorder=3)
        draw_ellipses(balls[0], balls[1], ax)
        reach = outermost(ends[:, pair], balls)
        limits(ax, reach)
        ticks = _ticks(reach * MARGIN / data.xi)
        at = np.sin(np.radians(ticks)) * data.xi
        labels = [f"{tick}°".replace("-", "\N{MINUS SIGN}") for tick in ticks]
        ax.set_yticks(at, labels)
        ax.set_ylabel(NAMES[pair[1]])
        ax.set_xlabel(NAMES[pair[0]])
        if pair[0] == 0:
            ax.set_xlabel(f"{NAMES[0]} ({data.unit})")
        else:
            ax.set_xticks(at, labels)
        ax.set_title(title)


def _ticks(most: float) -> list[int]:
    """Degrees at the numbers of an axis, whose sines are within limits."""
    chosen = next(degrees for least, degrees in TICKS if most >= least)
    return [degree for degree in chosen if abs(math.sin(math.radians(degree))) <= most]


def _cut(shape: Floats | None, chosen: tuple[int, ...]) -> Floats | None:
    """The shadow of an ellipsoid along some directions."""
    return None if shape is None else shape[np.ix_(chosen, chosen)]
