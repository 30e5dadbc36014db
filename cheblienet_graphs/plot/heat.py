"""Figure: heat from an impulse at one vertex, on a graph or on several beside each other."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legval

from cheblienet_graphs.errors import NotDrawnError, listed
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.plot import pictures
from cheblienet_graphs.plot.figure import SERIES, Asked, Axes, Canvas, Figure, sentences
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibers import counting_sentence, sample_noun, sample_nouns, title
from cheblienet_graphs.typing import Floats, Indices

TOLERANCE = 1e-10
"""Largest error of heat, in units of the impulse."""
SPREAD = 3.0
"""Standard deviation sqrt(2 t) of the heat along a direction of length 1, in spacings."""
LARGEST_SHARE = 1 / 8
"""Largest spread as a share of a domain's shortest side, or of half a great circle."""
NEGLIGIBLE = 40.0
"""Exponents beyond which terms of the sphere's series are left out."""
OTHER_AXES = 6
"""Axes beside that of the start that are shown."""
DECADES = 3
"""Heat against distance goes from the most down to this many powers of ten below."""
CONTOURS = (0.03, 0.1, 0.3)
"""Shares of the largest heat at which lines of equal heat are drawn."""
REACH = 3.2
"""Half of the pictures' sides, in spreads."""
MARKS = 500
"""More marks than this are drawn as an image."""
WIDEST = 3.2
"""Largest side of a picture, in inches."""
AROUND = 1.2
"""Height of titles and captions around the rows, in inches."""


@dataclass(frozen=True, eq=False)
class Diffusion:
    """Heat on one graph.

    Args:
        name: of the graph, with its version.
        places: its points.
        point: over which the heat started.
        orientation: at which it started.
        density: (n_o, points) heat per vertex of mean mass: 1 at the start, at the vertex alone.
        time: t, in units of the operator: squared widths, or squared radians; in units of Delta
            where its scale is not known.
        operator: whether t is in units of the operator.
    """

    name: str
    places: Places
    point: int
    orientation: int
    density: Floats
    time: float
    operator: bool

    @property
    def oriented(self) -> bool:
        """True if the graph has orientations over its points."""
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

    def most(self, *, alone: bool) -> float:
        """The most heat per vertex at one orientation alone, or over a point all together."""
        if alone:
            return max(float(g.density.max()) for g in self.graphs if g.oriented)
        return max(float(g.together.max()) for g in self.graphs)

    @property
    def reach(self) -> float:
        """Half of the pictures' sides, in spacings."""
        return max(1.0, math.ceil(REACH * self.spread))

    @property
    def shown(self) -> Indices:
        """Orientations that are shown alone; of axes in space that of the start, in slices."""
        graph = self.widest
        if graph.places.of_axes or not graph.oriented:
            return np.array([graph.orientation])[: graph.oriented]
        return pictures.shown_orientations(len(graph.density), through=graph.orientation)

    @property
    def other_axes(self) -> Indices:
        """Some axes in space beside that of the start, evenly spread, or all."""
        graph = self.widest
        if not graph.places.of_axes:
            return np.empty(0, np.int64)
        others = np.delete(np.arange(len(graph.density)), graph.orientation)
        return others[pictures.shown_orientations(len(others), most=OTHER_AXES)]


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
    first = _diffusion(graph, level, vertex, spread)
    others = [_diffusion(g, level, _same(g, level, first), spread) for g in beside]
    heat = (first, *others)
    if beside and not all(diffusion.operator for diffusion in heat):
        raise NotDrawnError("The unit of eigenvalues can't be measured on all of these graphs.")
    return Heat(level, vertex, spread, heat)


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
    points = other.level(level).sampling
    known = first.places.points
    orientation, point = divmod(chosen_vertex(other, level, None), points.num_points)
    if points.num_points == known.num_points:
        point = first.point
    if points.orientations == known.orientations:
        orientation = first.orientation
    return orientation * points.num_points + point


def _diffusion(graph: OpenedGraph, level: int, vertex: int, spread: float) -> Diffusion:
    arrays = graph.level(level)
    places = places_of(graph, level)
    scale = arrays.scale
    operator = scale is not None
    time = (spread * places.spacing) ** 2 / 2
    if scale is None:
        time = spread**2 / 2 / arrays.of_level.lambda_max
        scale = 1.0
    orientation, point = divmod(vertex, places.points.num_points)
    density = heat_on(graph, level, vertex, time * scale).reshape(places.points.orientations, -1)
    return Diffusion(graph.name, places, point, orientation, density, time, operator)


def heat_on(graph: OpenedGraph, level: int, vertex: int, time: float) -> Floats:
    """(V,) N^-1/2 exp(-t Delta) N^1/2 of an impulse, as heat per vertex of mean mass.

    The sum over vertices of this times N / mean(N), N the masses, is 1 at all times.

    Args:
        graph: published.
        level: of its pyramid.
        vertex: that of the impulse.
        time: t, in units of 1 / Delta.

    Raises:
        NotDrawnError: the vertex has no mass, as it has no neighbors; or t is too long.
    """
    import torch  # slow to import, other figures do without

    from cheblienet_models import open_store

    mass = graph.level(level).mass.astype(np.float64)
    if mass[vertex] <= 0:
        raise NotDrawnError(f"vertex {vertex} has no neighbors, so no heat leaves it.")
    start = torch.zeros(1, 1, len(mass), dtype=torch.float64)
    start[0, 0, vertex] = mass.mean() / mass[vertex]
    module = open_store(str(graph.version.parent.parent))[graph.name].levels[level].double()
    try:
        with warnings.catch_warnings(action="ignore"):  # of kernel weights, which the page judges
            heat = module.diffuse(start, time, tolerance=TOLERANCE, density=True)
    except ValueError as error:
        raise NotDrawnError(
            "Heat takes more products with the Laplacian than can be taken: some edges are far "
            "heavier than most, as those along a fiber with a small xi or between points very near."
        ) from error
    density: Floats = heat[0, 0].numpy()
    return density


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
    degree = np.arange(int(np.sqrt(NEGLIGIBLE / time)) + 2)
    sizes = (2 * degree + 1) * np.exp(-degree * (degree + 1) * time)
    summed: Floats = legval(np.cos(distance / places.radius), sizes)
    return summed / (4 * np.pi * places.radius**2)


def draw_heat(canvas: Canvas, data: Heat) -> None:
    """Draw heat on an empty figure: a row for each graph, a column for each orientation.

    Where there are no orientations, heat against distance with the exact kernel beside; where they
    are axes in space, slices, and a row of other axes.

    Args:
        canvas: the figure.
        data: the heat.
    """
    graph = data.widest
    rows = [_panels(data, graph) for graph in data.graphs]
    if len(data.other_axes):
        view = rows[data.graphs.index(graph)][0].view
        named = [title(graph.places.samples, k) for k in data.other_axes.tolist()]
        heat = graph.density[data.other_axes] / data.most(alone=True)
        rows.append(pictures.row_of(view, heat, named))
    labels = [*(graph.name for graph in data.graphs), "other axes"] if len(rows) > 1 else []
    where: dict[str, Any] = {} if len(rows) > 1 else {"location": "bottom"}
    if where and graph.oriented:
        where |= {"fraction": 0.05, "aspect": 40}
    profiles = pictures.draw_panels(
        canvas,
        rows,
        labels,
        "heat, share of the largest",
        levels=CONTOURS,
        further=not graph.oriented,
        small=graph.places.of_axes,
        **where,
    )
    for axes, each in zip(profiles, data.graphs, strict=False):
        _draw_profile(axes, each, data.spread, data.reach)


def _panels(data: Heat, graph: Diffusion) -> list[pictures.Panel]:
    """All heat over the points, and that of orientations alone: titles above the middle slice."""
    views = pictures.around(graph.places, graph.point, data.reach)
    panels = []
    shown = [None, *(data.shown.tolist() if graph.oriented else ())]
    for k in shown:
        above = "all together" if graph.oriented else ""
        if k is not None:
            above = title(graph.places.samples, k, " ") + ", start" * (k == graph.orientation)
        heat = graph.together if k is None else graph.density[k]
        values = heat / data.most(alone=k is not None)
        for view in views:
            over = above if view is views[len(views) // 2] else ""
            above_it = f"{over}\n{view.plane}".strip()
            panels.append(pictures.Panel(above_it, view, values, ticks=k is None))
    return panels


def _draw_profile(axes: Axes, graph: Diffusion, spread: float, reach: float) -> None:
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
        look = {"color": SERIES[1], "lw": 1.2, "label": "exact, without boundary"}
        axes.semilogy(at[kept] * visible, exact[kept], **look)
    axes.set(xlabel=f"distance ({places.unit})", ylabel="heat per vertex")
    axes.set_xlim(0, reach * visible)
    axes.legend(loc="lower left")


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    data = heat_of(graph, *asked.beside, level=asked.level, vertex=asked.vertex)
    rows = [len(_panels(data, shown)) for shown in data.graphs]
    side = min(WIDEST, FIGURE.size[0] / (max(rows) + (not data.widest.oriented)))
    height = side * (len(rows) + bool(len(data.other_axes)))
    canvas.set_size_inches(FIGURE.size[0], AROUND + height)
    draw_heat(canvas, data)
    widest = (graph, *asked.beside)[data.graphs.index(data.widest)]
    return _caption(widest.spec, data)


def _caption(spec: GraphSpec, data: Heat) -> str:
    """The caption of the figure of some heat, with what it leaves out."""
    first, shown, oriented = data.graphs[0], len(data.shown), data.widest.oriented
    shares = listed(f"{100 * share:g} %" for share in CONTOURS)
    unit, width = "units of 1 / Delta", f"{data.spread * first.places.visible:.3g}"
    if first.operator:
        unit = f"squared {spec.geometry.base.unit}, sqrt(2 t) = {width} {first.places.unit}"
    return sentences(
        f"Heat that started at vertex {data.vertex} of level {data.level}, after t = "
        f"{first.time:.3g} {unit}. Lines are at {shares} of the largest value: "
        f"{data.most(alone=False):.2g} of all heat"
        + (
            f" with {sample_nouns(spec)} summed, {data.most(alone=True):.2g} at one "
            f"{sample_noun(spec)}."
            if oriented
            else "."
        ),
        oriented
        and f"Heat runs along its {sample_noun(spec)}, unless eps = 1. {counting_sentence(spec)}",
        first.operator and not oriented and "The line is the exact heat kernel without boundary.",
        spec.axes is not None
        and f"The last row is {len(data.other_axes)} of {spec.orientations - 1} other axes.",
        1 < shown < spec.orientations and f"Shown are {shown} of {spec.orientations} orientations.",
    )


FIGURE = Figure(
    "heat", "Heat from an impulse at one vertex", (8.0, 3.7), _draw, takes=("vertex", "beside")
)
