"""A random layer on a turned input, compared with its turned output, at any angle."""

import math
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.layer import random_weights
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.places import Places, chosen_vertex, places_of
from cheblienet_graphs.figures.symmetric import Symmetry, symmetries_of
from cheblienet_graphs.figures.turning import Turning, rotation
from cheblienet_graphs.typing import Floats

LARGEST = {2: 16.0, 3: 7.0}
"""Radius of the part that is turned, in spacings, by dimension, where there is room."""
SMALLEST = 3.0
"""Less room is too little to turn anything in."""
SHARE = 0.6
"""Of the room around the middle, that is turned; the rest keeps ends of the graph away."""
STEP = 7.5
"""Degrees between angles, with which the orientations' own come together."""
TURN = 30.0
"""Of the pictures where there are no orientations,"""
TURN_OF_AXES = 90.0
"""and where there are axes in space: that maps the cube's sets to themselves."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors by angle.

    Args:
        about: what is turned about, in words.
        angles: (N,) degrees in (0, 180].
        errors: (N,) |f(T x) - T f(x)| / |f(x)|.
        interpolation: (N,) what interpolation does to the input itself, whose truth is known.
    """

    about: str
    angles: Floats
    errors: Floats
    interpolation: Floats


@dataclass(frozen=True, eq=False)
class Pictures:
    """The input as it is, and turned about the middle, with the layer's first channel.

    Args:
        angle: degrees.
        inputs: (2, points), NaN beyond the radius.
        activations: (2, n_o, points), not negative, NaN beyond the radius.
    """

    angle: float
    inputs: Floats
    activations: Floats


@dataclass(frozen=True, eq=False)
class Equivariance:
    """What turning does to a random layer on a graph.

    Args:
        level: of the pyramid.
        places: its points.
        point: in the middle.
        radius: of what is turned, in spacings.
        seed: of the layer.
        symmetries: those of the sampling, measured.
        curves: by the axis that is turned about; none where there is no room.
        pictures: None where there is no room.
    """

    level: int
    places: Places
    point: int
    radius: float
    seed: int
    symmetries: tuple[Symmetry, ...]
    curves: tuple[Curve, ...]
    pictures: Pictures | None


def equivariance_of(
    graph: OpenedGraph, *, level: int = 0, vertex: int | None = None, seed: int = 0
) -> Equivariance:
    """Measure how a random Chebyshev layer of a level commutes with turning its input.

    The layer takes one channel to several, by random weights. Its input at other angles than the
    symmetries' is a function of position, evaluated at turned positions and repeated for each
    orientation; its outputs are compared after the positive part and the maximum over orientations,
    at points and where these are turned to, by interpolation of the layer's outputs.

    Args:
        graph: published.
        level: of its pyramid.
        vertex: in the middle; default one with room around it.
        seed: of the layer.

    Raises:
        SpecError: the level or the vertex is out of range.
        NotDrawnError: there is neither a symmetry nor room to turn anything.
    """
    places = places_of(graph, level)
    points, weights = places.points, random_weights(seed)
    point = chosen_vertex(graph, level, vertex) % points.num_points
    dimension = places.dimension
    radius = min(LARGEST[dimension], SHARE * places.room(point))
    axes = _axes(places, point)
    symmetries = symmetries_of(graph, level, places, [a for _, a in axes], weights, seed)
    if radius < SMALLEST:
        if not symmetries:
            raise NotDrawnError(
                f"Nothing of {graph.name} can be turned: it has no symmetries of its sampling, and "
                f"room of {places.room(point):.2g} spacings around vertex {point}; it takes "
                f"{SMALLEST / SHARE:.2g}."
            )
        return Equivariance(level, places, point, radius, seed, symmetries, (), None)
    turning = Turning(graph.level(level).laplacian, places, point, radius, weights)
    curves = tuple(_curve(turning, about, axis) for about, axis in axes)
    pictures = _pictures(turning, axes[-1][1])
    return Equivariance(level, places, point, radius, seed, symmetries, curves, pictures)


def _axes(places: Places, point: int) -> list[tuple[str, Floats]]:
    """What figures turn about, in words and as unit vectors; the last one is through the middle."""
    z = np.array([0.0, 0.0, 1.0])
    if not places.flat:
        own = ("the vertex", places.vectors[point] / places.radius)
        everywhere = places.room(point) >= places.radius * math.pi / 2
        return [("the polar axis", z), own] if everywhere else [own]
    if places.dimension == 3:
        return [("the diagonal", np.ones(3) / math.sqrt(3)), ("the z axis", z)]
    return [("the vertex", z)]


def _curve(turning: Turning, about: str, axis: Floats) -> Curve:
    """Errors about an axis."""
    own = steps_of(turning.places)
    angles = np.unique(np.round(np.concatenate([np.arange(STEP, 181, STEP), own]), 9))
    still = turning.pooled(np.eye(3))
    errors = [_relative(turning.pooled(rotation(axis, angle)), still) for angle in angles.tolist()]
    by_kind = np.array(errors).reshape(-1, 2).T
    return Curve(about, angles, by_kind[0], by_kind[1])


def steps_of(places: Places) -> Floats:
    """(n_o,) degrees of whole steps between orientations; none where there are less than two."""
    count = len(places.samples)
    if count == 1 or len(places.samples[0]) > 1:
        return np.empty(0)
    return np.arange(1, count + 1) * 180 / count


def _relative(turned: tuple[Floats, Floats], still: tuple[Floats, Floats]) -> list[float]:
    """The errors of outputs and of the input."""
    pairs = zip(turned, still, strict=True)
    return [float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in pairs]


def _pictures(turning: Turning, axis: Floats) -> Pictures:
    """The input and the activations, still and turned by a step between orientations."""
    own = steps_of(turning.places)
    of_axes = len(turning.places.samples[0]) > 1
    angle = TURN_OF_AXES if of_axes else own[0] if len(own) else TURN
    shown = [turning.shown(rotation(axis, degrees)) for degrees in (0.0, angle)]
    inputs, activations = (np.stack(parts) for parts in zip(*shown, strict=True))
    return Pictures(angle, inputs, activations)
