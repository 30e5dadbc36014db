"""Figure: the smoothest eigenfunctions, the eigenvectors of the least eigenvalues."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.errors import NotDrawnError, Remedy
from cheblienet_graphs.plot.figure import DIVERGING, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.panels import (
    color_bar,
    mosaic,
    picture,
    shown_orientations,
)
from cheblienet_graphs.plot.places import Places, places_of
from cheblienet_graphs.plot.views import View, whole
from cheblienet_graphs.report.diagnostics import components
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.sparse import inverse_root
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibres import counted, title, words
from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs, multiplicities
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import integer

if TYPE_CHECKING:
    import matplotlib.figure

COUNT = 8
LARGEST = 100_000
"""Most vertices for which eigenvectors that are not stored are computed, but on periodic lattices,
where any number takes seconds."""
HALF = 0.5
"""Of the largest value: the first vertex with as large a one gives the sign."""


@dataclass(frozen=True, eq=False)
class Eigenmaps:
    """Eigenfunctions.

    Args:
        level: of the pyramid; a coarser one than asked for where that is too large.
        places: its points.
        values: (M,) eigenvalues, ascending, of the operator or, where its scale is not known, of
            Delta.
        operator: whether they are the operator's.
        copies: (M,) to how many equal eigenvalues each belongs, among those computed.
        cut: whether the last one may have more copies, which were not computed.
        functions: (M, n_o, points) N^-1/2 v, largest size 1; the first vertex where half of that is
            reached is positive.
        stored: whether they come from the store.
    """

    level: int
    places: Places
    values: Floats
    operator: bool
    copies: tuple[int, ...]
    cut: bool
    functions: Floats
    stored: bool


def eigenmaps_of(graph: OpenedGraph, *, level: int = 0, count: int = COUNT) -> Eigenmaps:
    """The smoothest eigenfunctions of a level, or of the first coarser one that is small enough.

    Args:
        graph: published.
        level: of its pyramid.
        count: M, at least 1; fewer where there are fewer vertices.

    Raises:
        SpecError: the level is out of range.
        NotDrawnError: no level is small enough; they are only the indicators of components; or they
            did not converge.
    """
    level = _small_enough(graph, integer("level", level, 0, graph.spec.levels - 1), count)
    arrays, places = graph.level(level), places_of(graph, level)
    facts = arrays.of_level
    count = min(count, facts.vertices)
    parts = components(arrays.laplacian)
    if parts >= count:
        raise NotDrawnError(
            f"{graph.name} has {parts:,} components on level {level}: the first {count} "
            "eigenfunctions are constants on these, of eigenvalue 0."
        )
    stored = _stored(graph, level, count)
    if stored is None:
        pairs = extreme_eigenpairs(
            arrays.laplacian, facts.lambda_max, count, sampling=places.points
        )
        if not pairs.converged:
            raise NotDrawnError(f"The eigenvectors of {graph.name} did not converge.")
        values, vectors = pairs.values, pairs.vectors
    else:
        values, vectors = stored
    scale = facts.eigenvalue_scale
    copies = [n for n in multiplicities(values, facts.lambda_max) for _ in range(n)]
    functions = _functions(vectors, arrays.mass.astype(np.float64))
    return Eigenmaps(
        level,
        places,
        values * (scale or 1.0),
        scale is not None,
        tuple(copies),
        count < facts.vertices,
        functions.reshape(count, places.points.orientations, -1),
        stored is not None,
    )


def _small_enough(graph: OpenedGraph, level: int, count: int) -> int:
    """The level, or the first coarser one whose eigenvectors are stored or can be computed."""
    for number in range(level, graph.spec.levels):
        if _stored(graph, number, count) is not None:
            return number
        points = graph.points(number)
        if points.num_vertices <= LARGEST or (isinstance(points, Lattice) and points.periodic):
            return number
    vertices = graph.facts.levels[level].vertices
    raise NotDrawnError(
        f"Level {level} of {graph.name} has {vertices:,} vertices, and eigenvectors are "
        f"computed for up to {LARGEST:,}. Build it with ",
        Remedy("eigenpairs", count),
        ", which stores them.",
    )


def _stored(graph: OpenedGraph, level: int, count: int) -> tuple[Floats, Floats] | None:
    arrays = graph.level(level)
    values, vectors = arrays.eigenvalues, arrays.eigenvectors
    if values is None or vectors is None or len(values) < min(count, len(vectors)):
        return None
    kept = min(count, len(vectors))
    return np.array(values[:kept]), vectors[:, :kept].astype(np.float64)


def _functions(vectors: Floats, mass: Floats) -> Floats:
    """(M, V) N^-1/2 v for each vector v, of largest size 1 and a sign that does not vary."""
    functions: Floats = (inverse_root(mass)[:, None] * vectors).T
    size = abs(functions).max(axis=1, keepdims=True)
    functions /= np.where(size > 0, size, 1.0)
    first = (abs(functions) >= HALF).argmax(axis=1)
    signs = np.sign(functions[np.arange(len(functions)), first])
    functions *= np.where(signs == 0, 1.0, signs)[:, None]
    return functions


BAR = "eigenfunction / its largest size"
ORIENTATIONS = 4
COLUMNS = 4
"""Of eigenfunctions without orientations."""
FINE = 64
"""Most pixels of an eigenfunction along a side."""
BELOW = {"location": "bottom", "fraction": 0.03, "aspect": 50}
ZERO = 1e-5
"""Eigenvalues below this share of the largest shown are written as 0."""


def draw_eigenmaps(canvas: "matplotlib.figure.Figure", data: Eigenmaps) -> None:
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
    color_bar(canvas, mosaic(axes, view, values, (rows, titles)), [axes], BAR, **BELOW)


def _draw_unoriented(
    canvas: "matplotlib.figure.Figure", view: View, data: Eigenmaps, titles: list[str]
) -> None:
    """Draw a picture for each eigenfunction."""
    from matplotlib.colors import Normalize

    grid = canvas.subplots(-(-len(titles) // COLUMNS), COLUMNS, squeeze=False)
    for axes in grid.ravel()[len(titles) :]:
        axes.set_axis_off()
    norm = Normalize(-1, 1)
    for axes, above, function in zip(grid.flat, titles, data.functions, strict=False):
        image = picture(axes, view, function[0], norm, DIVERGING, title=above)
    color_bar(canvas, image, list(grid.ravel()), BAR, **BELOW)


def titles_of(data: Eigenmaps) -> list[str]:
    """Eigenvalues with their multiplicities: '39.5 (4x)', '≥' where the last may have more."""
    last = len(data.values) - data.copies[-1]
    titles = []
    for number, (value, copies) in enumerate(zip(data.values, data.copies, strict=True)):
        text = "0" if value < ZERO * data.values[-1] else f"{value:.3g}"
        more = "≥" if data.cut and number >= last else ""
        titles.append(f"{text} ({more}{copies}x)" if copies > 1 else text)
    return titles


def _draw(graph: OpenedGraph, asked: Asked, canvas: "matplotlib.figure.Figure") -> str:
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


FIGURE = Figure("eigenmaps", "The smoothest eigenfunctions", (8.0, 4.5), _draw)
