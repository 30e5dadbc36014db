"""Figure: the smoothest eigenfunctions of a graph."""

from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Canvas

from cheblienet_graphs.figures.eigenmaps import Eigenmaps, eigenmaps_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.figures.views import View, whole
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.panels import (
    colour_bar,
    mosaic,
    picture,
    shown_orientations,
)
from cheblienet_graphs.plot.style import DIVERGING
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibres import counted, title, words

BAR = "eigenfunction / its largest size"
ORIENTATIONS = 4
COLUMNS = 4
"""Of eigenfunctions without orientations."""
FINE = 64
"""Most pixels of an eigenfunction along a side."""
BELOW = {"location": "bottom", "fraction": 0.03, "aspect": 50}
ZERO = 1e-5
"""Eigenvalues below this share of the largest shown are written as 0."""


def draw_eigenmaps(canvas: Canvas, data: Eigenmaps) -> None:
    """Draw eigenfunctions on an empty figure, a column for each, a row for each orientation.

    Args:
        canvas: the figure.
        data: the eigenfunctions.
    """
    count = data.places.points.orientations
    [view, *_] = whole(data.places, FINE)
    titles = titles_of(data)
    if count == 1:
        _draw_unoriented(canvas, view, data, titles)
        return
    shown = shown_orientations(count, most=ORIENTATIONS)
    rows = [title(data.places.samples, int(k)) for k in shown]
    axes = canvas.subplots()
    values = data.functions[:, shown].transpose(1, 0, 2)
    colour_bar(canvas, mosaic(axes, view, values, (rows, titles)), [axes], BAR, **BELOW)


def _draw_unoriented(canvas: Canvas, view: View, data: Eigenmaps, titles: list[str]) -> None:
    """Draw a picture for each eigenfunction."""
    grid = canvas.subplots(-(-len(titles) // COLUMNS), COLUMNS, squeeze=False)
    for axes in grid.ravel()[len(titles) :]:
        axes.set_axis_off()
    norm = Normalize(-1, 1)
    for axes, above, function in zip(grid.flat, titles, data.functions, strict=False):
        image = picture(axes, view, function[0], norm, DIVERGING, title=above)
    colour_bar(canvas, image, list(grid.ravel()), BAR, **BELOW)


def titles_of(data: Eigenmaps) -> list[str]:
    """Eigenvalues with their multiplicities: '39.5 (4x)', '≥' where the last may have more."""
    last = len(data.values) - data.copies[-1]
    titles = []
    for number, (value, copies) in enumerate(zip(data.values, data.copies, strict=True)):
        text = "0" if value < ZERO * data.values[-1] else f"{value:.3g}"
        more = "≥" if data.cut and number >= last else ""
        titles.append(f"{text} ({more}{copies}x)" if copies > 1 else text)
    return titles


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    data = eigenmaps_of(graph, level=asked.level)
    canvas.set_size_inches(FIGURE.size[0], _height(data))
    draw_eigenmaps(canvas, data)
    return caption(graph.spec, data, asked.level)


def _height(data: Eigenmaps) -> float:
    """Inches that pictures as wide as the figure take."""
    [view, *_] = whole(data.places, FINE)
    left, right, bottom, top = view.extent
    count = data.places.points.orientations
    columns = COLUMNS if count == 1 else len(data.values)
    rows = -(-len(data.values) // COLUMNS)
    rows = rows if count == 1 else len(shown_orientations(count, most=ORIENTATIONS))
    side = FIGURE.size[0] / columns * abs((bottom - top) / (right - left))
    return min(12.0, 1.2 + rows * (side + (0.3 if count == 1 else 0.0)))


def caption(spec: GraphSpec, data: Eigenmaps, level: int) -> str:
    """What to see in the figure, and what part of the graph it shows."""
    per = "per width^2" if spec.geometry.base.flat else "on the unit sphere"
    unit = f"of the operator, {per}" if data.operator else "of Delta"
    start = (
        f"The {len(data.values)} smoothest eigenfunctions of level {data.level}, N^-1/2 v, each in "
        f"units of its largest size; above them their eigenvalues {unit}."
    )
    parts = [start]
    if data.level != level:
        parts.append(f"Level {level} is too large to compute them, so this is a coarser one.")
    if max(data.copies) > 1:
        parts.append(
            "(2x) and the like: equal eigenvalues, whose functions may be mixed at will; shown is "
            "one basis of many."
        )
    count = data.places.points.orientations
    if count > 1:
        parts.append(f"Rows are {words(spec)}. {counted(spec)}")
        if len(shown_orientations(count, most=ORIENTATIONS)) < count:
            parts.append(f"Shown are some of {count} {words(spec)}.")
    if data.places.dimension == 3:
        parts.append("Pictures are the slice through the middle across z.")
    if not spec.geometry.base.flat:
        parts.append("Mollweide's map of the sphere, north up, longitude 0 in the middle.")
    return " ".join(parts)


FIGURE = Figure("eigenmaps", TITLES["eigenmaps"], (8.0, 4.5), _draw)
