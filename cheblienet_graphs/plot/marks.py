"""Marks of pictures of a neighbourhood: its edges, and the ellipses of metrics."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon

from cheblienet_graphs.figures.neighbourhood import Neighbourhood
from cheblienet_graphs.plot.style import INK, SERIES
from cheblienet_graphs.typing import Floats

WITHIN, ACROSS, REALISED = SERIES[0], SERIES[5], SERIES[2]
THINNEST, THICKEST = 0.5, 3.0
"""Points of lines of weight 0 and of the largest weight."""
MARGIN = 1.12
GLYPH = 0.13
"""Half the length of an orientation's stroke, in units of the largest coordinate."""


def draw_edges(data: Neighbourhood, weights: Floats, ends: Floats, leaving: Any, ax: Axes) -> None:
    """Lines to the neighbours, the heavier the thicker, and marks at their ends."""
    widths = THINNEST + (THICKEST - THINNEST) * weights / (data.heaviest or 1.0)
    lines = np.stack([np.zeros_like(ends), ends], axis=1)
    for colour, chosen in ((ACROSS, leaving), (WITHIN, ~leaving)):
        ax.add_collection(
            LineCollection(list(lines[chosen]), colors=colour, linewidths=widths[chosen])
        )
    ax.plot(*ends[~leaving].T, "o", color=WITHIN, markersize=4, zorder=3)
    ax.plot([0], [0], "o", color=INK, markersize=4, zorder=4)


def outermost(places: Floats, shapes: Sequence[Floats | None]) -> float:
    """The largest coordinate of places (N, d) and of ellipsoids; 1 where there are none."""
    known = [float(np.sqrt(shape.diagonal().max())) for shape in shapes if shape is not None]
    return max([float(abs(places).max(initial=0)), *known]) or 1.0


def draw_ellipses(asked: Floats | None, realised: Floats | None, ax: Axes) -> None:
    """Outline the metric asked for and, filled, the one realised, by squared radii (2, 2)."""
    if realised is not None:
        ax.add_patch(
            Polygon(
                _outline(realised),
                facecolor=(REALISED, 0.15),
                edgecolor=REALISED,
                linewidth=2,
                zorder=0.5,
            )
        )
    if asked is not None:
        ax.plot(*_outline(asked).T, color=INK, linewidth=1.2, linestyle="--", zorder=2.5)


def _outline(squared_radii: Floats) -> Floats:
    """(N, 2) the outline of the ellipse x^T S^-1 x = 1 of a matrix S, which may be singular."""
    values, vectors = np.linalg.eigh(squared_radii)
    turn = np.linspace(0, 2 * math.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    outline: Floats = circle * np.sqrt(np.maximum(values, 0)) @ vectors.T
    return outline


def limits(ax: Axes, reach: float) -> None:
    """Make both axes as long, a little more than the largest coordinate, and to scale."""
    ax.set_aspect("equal")
    ax.set_xlim(-reach * MARGIN, reach * MARGIN)
    ax.set_ylim(-reach * MARGIN, reach * MARGIN)
