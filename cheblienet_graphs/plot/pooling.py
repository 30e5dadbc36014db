"""Figure: what pooling keeps of a signal, and which points become one."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Canvas

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.places import Places
from cheblienet_graphs.figures.pooling import REACH, Cells, Pooling, pooling_of
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.figures.views import View, whole
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.panels import colour_bar, picture, row_label
from cheblienet_graphs.plot.style import DIVERGING, FAINT, INK, SERIES
from cheblienet_graphs.plot.units import spacing_in_words
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibres import word
from cheblienet_graphs.spec.words import percent

SHOWN = 4
"""Most levels that are drawn."""
IN_THE_SLICE = 0.75
"""Of a volume's cells, points within this distance of the slice are drawn."""


def draw_pooling(canvas: Canvas, data: Pooling) -> None:
    """Draw a signal pooled and unpooled on an empty figure, with cells around one point.

    Args:
        canvas: the figure.
        data: the signal on all levels.
    """
    count = min(SHOWN, len(data.places))
    left, right = canvas.subfigures(1, 2, squeeze=False, width_ratios=(count + 0.6, 2.1))[0]
    grid = left.subplots(2, count, squeeze=False)
    norm = Normalize(-1, 1)
    [first, *_] = whole(data.places[0])
    for column in range(count):
        view: View = whole(data.places[column])[0]
        signal = data.pooled[column]
        level = data.level + column
        image = picture(grid[0, column], view, signal, norm, DIVERGING, title=f"level {level}")
        if column:
            title = f"error {percent(data.lost[column])}"
            picture(grid[1, column], first, data.back[column], norm, DIVERGING, title=title)
    grid[1, 0].set_axis_off()
    row_label(grid[0, 0], "pooled")
    row_label(grid[1, 1], f"back on level {data.level}")
    colour_bar(left, image, None, "signal", cax=grid[1, 0].inset_axes((0.2, 0.1, 0.08, 0.8)))
    draw_cells(right.subplots(), data.cells, data.places[0])


def draw_cells(axes: Axes, cells: Cells, places: Places) -> None:
    """Draw which fine points become one coarse point, wider lines for larger weights.

    Args:
        axes: to draw on.
        cells: around one point.
        places: of the fine level.
    """
    seen = np.ones(len(cells.fine), bool)
    if cells.fine.shape[1] > 2:
        seen = abs(cells.fine[:, 2]) < IN_THE_SLICE
    links = seen[cells.links[:, 0]]
    ends = np.stack(
        [cells.fine[cells.links[links, 0]], cells.coarse[cells.links[links, 1]]], axis=1
    )
    own = cells.own[cells.links[links, 1]]
    widths = 0.5 + 6 * cells.weights[links]
    for chosen, colour in ((~own, FAINT), (own, SERIES[5])):
        segments = list(ends[chosen][:, :, :2])
        lines = LineCollection(segments, colors=colour, linewidths=widths[chosen].tolist())
        axes.add_collection(lines)
    used = np.unique(cells.links[links, 1])
    middles, mine = cells.coarse[used], cells.own[used]
    axes.plot(*cells.fine[seen, :2].T, ".", color=INK, ms=4, label="fine", zorder=3)
    axes.plot(*middles[~mine, :2].T, "s", color=FAINT, ms=6, zorder=4)
    axes.plot(*middles[mine, :2].T, "s", color=SERIES[5], ms=7, label="coarse", zorder=4)
    across, down = ("x", "y") if places.flat else ("east", "south")
    axes.set(aspect="equal", xlim=(-REACH, REACH), ylim=(REACH, -REACH))
    axes.set(xlabel=f"{across} [{spacing_in_words(places)}]", ylabel=down)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    data = pooling_of(graph, level=asked.level, vertex=asked.vertex)
    draw_pooling(canvas, data)
    return caption(graph.spec, data)


def caption(spec: GraphSpec, data: Pooling) -> str:
    """What to see in the figure, and what part of the pyramid it shows."""
    members = int(data.cells.own[data.cells.links[:, 1]].sum())
    rings = (
        f"Rings that narrow outward, pooled level by level (above), and unpooled to level "
        f"{data.level} again (below): a level keeps what is wider than a few of its points. Errors "
        "are relative, by area."
    )
    cells = (
        f"Right: {members} points of level {data.level} become the coarse one in the middle; lines "
        "are as wide as their weights."
    )
    parts = [rings, cells]
    if spec.geometry.oriented:
        parts.append(f"Each {word(spec)} is pooled alone, all in the same way.")
    if len(data.places) > SHOWN:
        parts.append(f"Shown are the first {SHOWN} of {len(data.places)} levels.")
    if data.places[0].dimension == 3:
        parts.append("Pictures are slices through the middle across z.")
    if not spec.geometry.base.flat:
        parts.append("Mollweide's map of the sphere, north up, longitude 0 in the middle.")
    return " ".join(parts)


FIGURE = Figure("pooling", TITLES["pooling"], (8.0, 3.6), _draw, takes=("vertex",))
