"""Heat that starts at a vertex: on a graph, on its base, and on its group with isotropic metric."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cheblienet_graphs.errors import CheblienetError, NotDrawnError
from cheblienet_graphs.figures.chebyshev import diffused
from cheblienet_graphs.figures.comparison import base_of, built, isotropic_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.places import Places, chosen_vertex, places_of
from cheblienet_graphs.report.scale import eigenvalue_scale
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.sparse.laplacian import inverse_root
from cheblienet_graphs.sparse.products import mapped_product
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.reader import LevelArrays, weights_of
from cheblienet_graphs.typing import Floats

Kind = Literal["base", "isotropic", "asked"]
SPREAD = 3.0
"""Standard deviation sqrt(2 t) of the heat along a direction of length 1, in spacings."""
LARGEST_SHARE = 1 / 8
"""Of a domain's shortest side, or of half a great circle, that the spread takes at most."""


@dataclass(frozen=True, eq=False)
class Diffusion:
    """Heat on one graph.

    Args:
        kind: "asked", the graph itself, or what it is compared with: "base" or "isotropic".
        places: its points.
        point: over which the heat started.
        orientation: at which it started.
        density: (n_o, points) heat per vertex of mean mass: 1 at the start, at the vertex alone.
        smaller: whether it is a smaller graph than the one it is compared with.
    """

    kind: Kind
    places: Places
    point: int
    orientation: int
    density: Floats
    smaller: bool = False

    @property
    def together(self) -> Floats:
        """(points,) heat over each point; axes that have more of the fibre count for more."""
        areas = self.places.points.areas().reshape(self.density.shape)
        total: Floats = (areas / areas.mean(axis=0) * self.density).sum(axis=0)
        return total


@dataclass(frozen=True, eq=False)
class Heat:
    """The same heat on up to three graphs.

    Args:
        level: of the pyramid.
        vertex: where it started.
        time: t, in units of the operator: squared widths, or squared radians; those of Delta where
            its scale is not known.
        spread: sqrt(2 t) in spacings.
        operator: whether t is in units of the operator.
        graphs: the base first, the graph itself last.
        left_out: why graphs to compare with are missing; empty where none is.
        oriented: whether the graph has orientations over its points.
        anisotropic: whether eps < 1.
    """

    level: int
    vertex: int
    time: float
    spread: float
    operator: bool
    graphs: tuple[Diffusion, ...]
    left_out: str
    oriented: bool
    anisotropic: bool


def heat_on(arrays: LevelArrays, vertex: int, time: float) -> Floats:
    """(V,) N^-1/2 exp(-t Delta) N^1/2 of an impulse, as heat per vertex of mean mass.

    The sum over vertices of this times N / mean(N), N the masses, is 1 at all times.

    Args:
        arrays: of the level.
        vertex: that of the impulse.
        time: t, in units of 1 / Delta.

    Raises:
        NotDrawnError: the vertex has no mass, as it has no neighbours.
    """
    mass = arrays.mass.astype(np.float64)
    if mass[vertex] <= 0:
        raise NotDrawnError(f"vertex {vertex} has no neighbours, so no heat leaves it.")
    start = np.zeros(len(mass))
    start[vertex] = mass.mean() / math.sqrt(mass[vertex])
    product = mapped_product(arrays.laplacian)
    density = diffused(product, arrays.of_level.lambda_max, time, start)
    density *= inverse_root(mass)
    return density


def scale_of(graph: OpenedGraph, level: int) -> float | None:
    """The factor from eigenvalues of Delta to the operator's; measured where not recorded."""
    arrays = graph.level(level)
    known = arrays.of_level.eigenvalue_scale
    if known is not None:
        return known
    whole = SampledManifold(graph.points(level), graph.spec.geometry, graph.metric(level))
    weights = weights_of(arrays)
    return eigenvalue_scale(graph.spec, whole, weights, arrays.coordinates, arrays.degree)


def heat_of(graph: OpenedGraph, *, level: int = 0, vertex: int | None = None) -> Heat:
    """Heat from an impulse on a graph and, over points with orientations, on two others.

    These are the graph of the base, and the graph of the same group, sampling and xi with eps = 1:
    built now, with the same kind of weights. All have the same t in units of the operator.

    Args:
        graph: published.
        level: of its pyramid.
        vertex: where the heat starts; default one in the middle, of orientation 0 if there is one.

    Raises:
        SpecError: the level or the vertex is out of range.
        NotDrawnError: the vertex has no neighbours.
    """
    places = places_of(graph, level)
    points = places.points
    vertex = chosen_vertex(graph, level, vertex)
    orientation, point = divmod(vertex, points.num_points)
    scale = scale_of(graph, level)
    spread = min(SPREAD, LARGEST_SHARE * _size(places))
    arrays = graph.level(level)
    if scale is None:
        time = spread**2 / 2 / arrays.of_level.lambda_max
    else:
        time = (spread * places.spacing) ** 2 / 2
    own = heat_on(arrays, vertex, time * (scale or 1.0))
    asked = Diffusion("asked", places, point, orientation, own.reshape(points.orientations, -1))
    others, left_out = _others(graph, level, asked, spread, known=scale is not None)
    return Heat(
        level,
        vertex,
        time,
        spread,
        operator=scale is not None,
        graphs=(*others, asked),
        left_out=left_out,
        oriented=graph.spec.geometry.oriented,
        anisotropic=graph.spec.eps < 1,
    )


def _size(places: Places) -> float:
    """The shortest side, or half a great circle, in spacings."""
    extent = places.points.extent
    if extent is None:
        return math.pi * places.radius
    return float(min(extent)) / places.spacing


def _others(
    graph: OpenedGraph, level: int, asked: Diffusion, spread: float, *, known: bool
) -> tuple[list[Diffusion], str]:
    """What the heat is compared with, and why something is missing."""
    if not graph.spec.geometry.oriented:
        return [], ""
    if not known:
        return [], "no vertex is far enough from the mask's edge to measure its eigenvalues' unit."
    kinds: dict[Kind, Callable[..., tuple[GraphSpec, bool]]] = {"base": base_of}
    if graph.spec.eps < 1:
        kinds["isotropic"] = isotropic_of
    found: list[Diffusion] = []
    try:
        for kind, spec_of in kinds.items():
            spec, smaller = spec_of(graph, level, asked.places)
            with built(spec) as other:
                found.append(_same_heat(other, kind, asked, spread, smaller=smaller))
    except CheblienetError as error:
        return found, str(error)
    return found, ""


def _same_heat(
    other: OpenedGraph, kind: Kind, asked: Diffusion, spread: float, *, smaller: bool
) -> Diffusion:
    """Heat of the same spread in spacings on another graph."""
    places = places_of(other, 0)
    points = places.points
    point = chosen_vertex(other, 0, None) % points.num_points if smaller else asked.point
    orientation = 0 if kind == "base" else asked.orientation
    scale = scale_of(other, 0)
    if scale is None:
        raise NotDrawnError("the unit of its eigenvalues could not be measured.")
    time = (spread * places.spacing) ** 2 / 2 * scale
    density = heat_on(other.level(0), orientation * points.num_points + point, time)
    shape = points.orientations, points.num_points
    return Diffusion(kind, places, point, orientation, density.reshape(shape), smaller)
