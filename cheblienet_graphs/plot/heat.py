"""Heat from an impulse, on a graph or on several to draw beside each other."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import eval_legendre

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.chebyshev import heat_on
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.panels import (
    shown_orientations,
)
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.typing import Floats, Indices

SPREAD = 3.0
"""Standard deviation sqrt(2 t) of the heat along a direction of length 1, in spacings."""
LARGEST_SHARE = 1 / 8
"""Of a domain's shortest side, or of half a great circle, that the spread takes at most."""
NEGLIGIBLE = 40.0
"""Exponents beyond which terms of the sphere's series are left out."""
OTHER_AXES = 6
"""Axes beside that of the start that are shown."""


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
        """(points,) heat over each point; axes that have more of the fibre count for more."""
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
        """Orientations that are shown; of axes in space that of the start, which takes slices."""
        graph = self.widest
        if len(graph.places.samples[0]) > 1:
            return np.array([graph.orientation])
        return shown_orientations(len(graph.density), through=graph.orientation)

    @property
    def other_axes(self) -> Indices:
        """Some axes in space beside that of the start, evenly spread, or all."""
        graph = self.widest
        if len(graph.places.samples[0]) < 2:
            return np.empty(0, np.int64)
        others = np.delete(np.arange(len(graph.density)), graph.orientation)
        count = min(OTHER_AXES, len(others))
        return others[np.arange(count) * len(others) // count]


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
        NotDrawnError: the vertex has no neighbours, or the graphs can't be drawn together.
    """
    graphs = (graph, *beside)
    _check_together(graphs)
    vertex = chosen_vertex(graph, level, vertex)
    spread = min(SPREAD, LARGEST_SHARE * _size(places_of(graph, level)))
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


def _size(places: Places) -> float:
    """The shortest side, or half a great circle, in spacings."""
    extent = places.points.extent
    if extent is None:
        return math.pi * places.radius
    return float(min(extent)) / places.spacing


def _diffusion(name: str, graph: OpenedGraph, level: int, vertex: int, spread: float) -> Diffusion:
    scale, arrays, places = graph.scale(level), graph.level(level), places_of(graph, level)
    points = places.points
    if scale is None:
        time = spread**2 / 2 / arrays.of_level.lambda_max
    else:
        time = (spread * places.spacing) ** 2 / 2
    density = heat_on(arrays, vertex, time * (scale or 1.0))
    orientation, point = divmod(vertex, points.num_points)
    return Diffusion(
        name,
        places,
        point,
        orientation,
        density.reshape(points.orientations, -1),
        time,
        operator=scale is not None,
        anisotropic=graph.spec.eps < 1,
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
