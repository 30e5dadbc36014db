"""Figure: heat from an impulse at one vertex, on a graph or on several beside each other."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import eval_legendre

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.chebyshev import heat_on
from cheblienet_graphs.plot.figure import SERIES, Asked, Figure, sentences
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.pictures import (
    View,
    around,
    bare,
    color_bar,
    picture,
    row_label,
    shown_orientations,
)
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.spec.fibers import counted, title, word
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

SPREAD = 3.0
"""Standard deviation sqrt(2 t) of the heat along a direction of length 1, in spacings."""
LARGEST_SHARE = 1 / 8
"""Of a domain's shortest side, or of half a great circle, that the spread takes at most."""
NEGLIGIBLE = 40.0
"""Exponents beyond which terms of the sphere's series are left out."""
OTHER_AXES = 6
"""Axes beside that of the start that are shown."""
DECADES = 3
"""Colors go from the most heat down to this many powers of ten below."""
REACH = 3.2
"""Half of the pictures' sides, in spreads."""
MARKS = 500
"""More marks than this are drawn as an image."""
WIDEST = 2.4
"""Inches of a row of pictures at most,"""
LEAST = 2.2
"""and of the figure, which the color bar's name takes."""


@dataclass(frozen=True, eq=False)
class Diffusion:
    """Heat on one graph.

    Args:
        name: of the graph, with its version where another one has the same.
        places: its points.
        point: over which the heat started.
        orientation: at which it started.
        density: (n_o, points) heat per vertex of mean mass: 1 at the start, at the vertex alone.
        time: t, in units of the operator: squared widths, or squared radians; those of Delta where
            its scale is not known.
        operator: whether t is in units of the operator.
        anisotropic: whether eps < 1.
    """

    name: str
    places: Places
    point: int
    orientation: int
    density: Floats
    time: float
    operator: bool
    anisotropic: bool

    @property
    def oriented(self) -> bool:
        """Whether the graph has orientations over its points."""
        return len(self.places.samples[0]) > 0

    @property
    def together(self) -> Floats:
        """(points,) heat over each point; axes that have more of the fiber count for more."""
        areas = self.places.points.areas().reshape(self.density.shape)
        total: Floats = (areas / areas.mean(axis=0) * self.density).sum(axis=0)
        return total


@dataclass(frozen=True, eq=False)
class Heat:
    """The same heat on one graph or on several.

    Args:
        level: of the pyramids.
        vertex: of the first graph, where it started.
        spread: sqrt(2 t) in spacings.
        graphs: in the order in which they are drawn.
    """

    level: int
    vertex: int
    spread: float
    graphs: tuple[Diffusion, ...]

    @property
    def widest(self) -> Diffusion:
        """The first graph with the most orientations."""
        return max(self.graphs, key=lambda graph: len(graph.density))

    @property
    def shown(self) -> Indices:
        """Orientations that are shown alone; of axes in space that of the start, in slices."""
        graph = self.widest
        if graph.places.of_axes or not graph.oriented:
            return np.array([graph.orientation])[: graph.oriented]
        return shown_orientations(len(graph.density), through=graph.orientation)

    @property
    def other_axes(self) -> Indices:
        """Some axes in space beside that of the start, evenly spread, or all."""
        graph = self.widest
        if not graph.places.of_axes:
            return np.empty(0, np.int64)
        others = np.delete(np.arange(len(graph.density)), graph.orientation)
        return others[shown_orientations(len(others), most=OTHER_AXES)]


def heat_of(
    graph: OpenedGraph, *beside: OpenedGraph, level: int = 0, vertex: int | None = None
) -> Heat:
    """Heat from an impulse on a graph, and on others to draw beside it.

    It spreads by as many spacings on each. On graphs with as many points it starts over the same
    point, on others over their own middle; at the same orientation where there are as many.

    Args:
        graph: published.
        beside: others over the same base, with as many orientations as the most of them, or one.
        level: of the pyramids.
        vertex: where the heat starts; default one in the middle, of orientation 0 if there is one.

    Raises:
        SpecError: the level or the vertex is out of range.
        NotDrawnError: the vertex has no neighbors, or the graphs can't be drawn together.
    """
    graphs = (graph, *beside)
    _check_together(graphs)
    vertex = chosen_vertex(graph, level, vertex)
    places = places_of(graph, level)
    shortest = math.pi * places.radius if places.size is None else float(places.size.min())
    spread = min(SPREAD, LARGEST_SHARE * shortest)
    short = [known.version.parent.name for known in graphs]
    names = short if len(set(short)) == len(short) else [known.name for known in graphs]
    heat = [_diffusion(names[0], graph, level, vertex, spread)]
    for name, other in zip(names[1:], beside, strict=True):
        heat.append(_diffusion(name, other, level, _same(other, level, heat[0]), spread))
    if beside and not all(diffusion.operator for diffusion in heat):
        raise NotDrawnError("The unit of eigenvalues can't be measured on all of these graphs.")
    return Heat(level, vertex, spread, tuple(heat))


def _check_together(graphs: tuple[OpenedGraph, ...]) -> None:
    most = max(graph.spec.orientations for graph in graphs)
    for graph in graphs:
        count = graph.spec.orientations
        if graph.spec.geometry.base != graphs[0].spec.geometry.base:
            raise NotDrawnError(f"{graph.name} and {graphs[0].name} are over different spaces.")
        if count not in {1, most}:
            raise NotDrawnError(
                f"{graph.name} has {count} orientations, another graph {most}: draw graphs beside "
                "each other that have as many, or one."
            )


def _same(other: OpenedGraph, level: int, first: Diffusion) -> int:
    """The vertex where heat starts that started elsewhere on the first graph."""
    points, known = other.points(level), first.places.points
    orientation, point = divmod(chosen_vertex(other, level, None), points.num_points)
    if points.num_points == known.num_points:
        point = first.point
    if points.orientations == known.orientations:
        orientation = first.orientation
    return orientation * points.num_points + point


def _diffusion(name: str, graph: OpenedGraph, level: int, vertex: int, spread: float) -> Diffusion:
    scale, arrays, places = graph.scale(level), graph.level(level), places_of(graph, level)
    operator, points = scale is not None, places.points
    time = (spread * places.spacing) ** 2 / 2
    if scale is None:
        time, scale = spread**2 / 2 / arrays.of_level.lambda_max, 1.0
    orientation, point = divmod(vertex, points.num_points)
    density = heat_on(arrays, vertex, time * scale).reshape(points.orientations, -1)
    return Diffusion(
        name, places, point, orientation, density, time, operator, anisotropic=graph.spec.eps < 1
    )


def exact_density(places: Places, distance: Floats, spread: float) -> Floats:
    """(N,) heat per point at distances from where it started, on a boundless base.

    On flat bases exp(-r^2 / (2 s^2)) / (2 pi s^2)^(d/2), s the spread; on the sphere
    sum_l (2 l + 1) / (4 pi) exp(-l (l + 1) t) P_l(cos r), t = s^2 / 2; times a point's area.

    Args:
        places: of the graph; distances are in their spacings.
        distance: (N,) r.
        spread: s, sqrt(2 t).
    """
    if places.flat:
        exact: Floats = np.exp(-(distance**2) / (2 * spread**2))
        exact /= (2 * np.pi * spread**2) ** (places.dimension / 2)
        return exact
    time = (spread / places.radius) ** 2 / 2
    most = int(np.sqrt(NEGLIGIBLE / time)) + 1
    degree = np.arange(most + 1)[:, None]
    waves = eval_legendre(degree, np.cos(distance / places.radius))
    sizes = (2 * degree + 1) * np.exp(-degree * (degree + 1) * time)
    summed: Floats = (sizes * waves).sum(axis=0) / (4 * np.pi * places.radius**2)
    return summed


def draw_heat(canvas: "matplotlib.figure.Figure", data: Heat) -> None:
    """Draw heat on an empty figure: a row for each graph, a column for each orientation.

    Where there are no orientations, heat against distance with the exact kernel beside; where they
    are axes in space, slices, and a row of other axes.

    Args:
        canvas: the figure.
        data: the heat.
    """
    from matplotlib.colors import LogNorm

    reach = max(1.0, math.ceil(REACH * data.spread))
    most = max(float(graph.together.max()) for graph in data.graphs)
    norm = LogNorm(most * 10.0**-DECADES, most, clip=True)
    views = [around(graph.places, graph.point, reach) for graph in data.graphs]
    of_widest = views[data.graphs.index(data.widest)]
    titles = _titles(data, of_widest)
    profile, rows = not data.widest.oriented, len(data.graphs) + bool(len(data.other_axes))
    grid = canvas.subplots(rows, len(titles) + profile, squeeze=False)
    pictures = grid[:, : len(titles)]
    for cells, graph, of_graph in zip(pictures, data.graphs, views, strict=False):
        last = graph is data.graphs[-1]
        values = [graph.together, *graph.density[data.shown if graph.oriented else []]]
        panels = [*itertools.product(values, of_graph)]
        for place, (axes, (signal, view)) in enumerate(zip(cells, panels, strict=False)):
            numbered = (last or profile) and place < len(of_graph)
            image = picture(axes, view, signal, norm, title=titles[place], ticks=numbered)
            titles[place] = ""
        for axes in cells[len(panels) :]:
            bare(axes)
        if len(data.graphs) > 1:
            row_label(cells[0], graph.name)
    for axes, graph in zip(grid[:, -1] if profile else (), data.graphs, strict=False):
        _draw_profile(axes, graph, data.spread, reach)
    if len(data.other_axes):
        _draw_other_axes(grid[-1], data, of_widest[0], norm)
    where = {"location": "bottom"} if profile else {}
    color_bar(canvas, image, list(pictures.ravel()), "heat per vertex (all heat = 1)", **where)


def _titles(data: Heat, views: list[View]) -> list[str]:
    """Of the pictures in a row: what is over the point, and which slices they are."""
    graph = data.widest
    headings = ["all together"] if graph.oriented else [""]
    for k in data.shown.tolist():
        start = ", start" if k == graph.orientation else ""
        headings.append(title(graph.places.samples, k, " ") + start)
    middle = views[len(views) // 2]
    return [
        f"{heading if view is middle else ''}\n{view.plane}".strip()
        for heading in headings
        for view in views
    ]


def _draw_other_axes(cells: Any, data: Heat, view: View, norm: Any) -> None:
    graph = data.widest
    for axes, k in itertools.zip_longest(cells, data.other_axes.tolist()):
        bare(axes)
        if k is not None:
            picture(axes, view, graph.density[k], norm)
            axes.set_title(title(graph.places.samples, k), fontsize="small")
    row_label(cells[0], "other axes")


def _draw_profile(
    axes: "matplotlib.axes.Axes", graph: Diffusion, spread: float, reach: float
) -> None:
    """Draw the heat of a graph without orientations against distance, and the exact kernel."""
    places = graph.places
    offsets = places.offsets(places.vectors[graph.point], places.vectors)
    distance = np.linalg.norm(offsets, axis=1)
    least = float(graph.density.max()) * 10.0**-DECADES
    seen = (distance <= reach) & (graph.density[0] >= least)
    look = {"color": SERIES[0], "ms": 3, "rasterized": bool(seen.sum() > MARKS)}
    visible = places.visible
    axes.semilogy(distance[seen] * visible, graph.density[0, seen], ".", label="graph", **look)
    if graph.operator:
        at = np.linspace(0, reach, 200)
        exact = exact_density(places, at, spread)
        kept = exact >= least
        look = {"color": SERIES[1], "lw": 1.2, "label": "exact, boundless"}
        axes.semilogy(at[kept] * visible, exact[kept], **look)
    axes.set(xlabel=f"distance [{places.unit}]", ylabel="heat per vertex")
    axes.set_xlim(0, reach * visible)
    axes.legend(loc="lower left")


def _draw(graph: OpenedGraph, asked: Asked, canvas: "matplotlib.figure.Figure") -> str:
    data = heat_of(graph, *asked.beside, level=asked.level, vertex=asked.vertex)
    canvas.set_size_inches(FIGURE.size[0], _height(data))
    draw_heat(canvas, data)
    return _caption((graph, *asked.beside), data)


def _height(data: Heat) -> float:
    """Inches that rows of pictures as wide as the figure take."""
    if not data.widest.oriented:
        return FIGURE.size[1] * len(data.graphs)
    if len(data.other_axes):
        return 0.5 + FIGURE.size[0] / OTHER_AXES * (len(data.graphs) + 1)
    side = min(WIDEST, FIGURE.size[0] / (1 + len(data.shown)))
    return max(LEAST, 0.5 + side * len(data.graphs))


def _caption(graphs: tuple[OpenedGraph, ...], data: Heat) -> str:
    """What to see in the figure of some heat, and what it leaves out."""
    spec, first = graphs[data.graphs.index(data.widest)].spec, data.graphs[0]
    unit, after = "units of 1 / Delta", ""
    if first.operator:
        unit = f"squared {spec.geometry.base.unit}"
        width = f"{data.spread * first.places.visible:.3g} {first.places.unit}"
        after = f", sqrt(2 t) = {width}"
    called = [graph.name if len(graphs) > 1 else "this graph" for graph in data.graphs]
    ways = [f"on {n} it {_way(g, word(spec))}" for n, g in zip(called, data.graphs, strict=True)]
    shown, count, oriented = len(data.shown), spec.orientations, data.widest.oriented
    spacings = {graph.places.spacing for graph in data.graphs}
    return sentences(
        f"Heat that started at vertex {data.vertex} of level {data.level}, after t = "
        f"{first.time:.3g} {unit}{after}; colors are logarithmic.",
        len(spacings) > 1
        and "Elsewhere t is such that it spreads by as many of the graph's own spacings.",
        oriented and f"{'; '.join(ways)}. {counted(spec)}".replace("on", "On", 1),
        first.operator
        and not oriented
        and "Dots on the line are heat as on the manifold itself without an end.",
        spec.axes is not None
        and "Left three slices through the start, all axes together, right the axis of the start "
        f"alone in the same; in the last row, {len(data.other_axes)} of the {count - 1} others in "
        "the first slice.",
        oriented and 1 < shown < count and f"Shown are {shown} of {count} orientations.",
    )


def _way(graph: Diffusion, fiber: str) -> str:
    """How heat goes on a graph."""
    if not graph.oriented:
        return "spreads evenly"
    if not graph.anisotropic:
        return f"spreads evenly at every {fiber}, as eps = 1"
    return f"runs along the {fiber} that it is at, and bends where that changes"


FIGURE = Figure(
    "heat",
    "Heat from an impulse at one vertex",
    (8.0, 3.7),
    _draw,
    takes=("vertex", "beside"),
)
