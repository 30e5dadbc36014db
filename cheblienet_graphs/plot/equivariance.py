"""Figure: a random layer on a turned input, against its turned output, at any angle."""

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.chebyshev import random_weights
from cheblienet_graphs.plot.figure import FAINT, SEQUENTIAL, SERIES, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.panels import (
    SHOWN,
    color_bar,
    picture,
    row_label,
    shown_orientations,
)
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.plot.symmetric import Symmetry, symmetries_of
from cheblienet_graphs.plot.turning import Turning, rotation
from cheblienet_graphs.plot.views import around
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibres import counted, title, words
from cheblienet_graphs.spec.words import percent
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

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


LEAST = 1e-17
"""Smaller errors are drawn here: they are 0."""
NAMED = 14
"""Most symmetries that are drawn."""
SYMMETRIC = "symmetries"
ROUNDING = 1e-6
SAME_ANGLE = 1e-3
AXES = 4
"""Most axes in space that are shown."""
BAR = "share of the largest"


def draw_equivariance(canvas: "matplotlib.figure.Figure", data: Equivariance) -> None:
    """Draw errors by angle and by symmetry, and activations, on an empty figure.

    Args:
        canvas: the figure.
        data: what turning does.
    """
    if data.pictures is None:
        draw_symmetries(canvas.subplots(), data.symmetries)
        return
    [top], [bottom] = canvas.subfigures(2, 1, squeeze=False, height_ratios=(1, 1.15))
    _draw_errors(top, data)
    _draw_pictures(bottom, data, data.pictures)


def _draw_errors(canvas: "matplotlib.figure.SubFigure", data: Equivariance) -> None:
    widths = (2.2, 1) if data.symmetries else (1,)
    cells = canvas.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    draw_curves(cells[0], data)
    canvas.legend(loc="outside upper left", ncols=4)
    if data.symmetries:
        draw_symmetries(cells[1], data.symmetries)


def draw_curves(axes: "matplotlib.axes.Axes", data: Equivariance) -> None:
    """Draw errors against the angle, with the sampling's own rotations as marks.

    Args:
        axes: to draw on.
        data: what turning does.
    """
    for angle in steps_of(data.places):
        axes.axvline(angle, color=FAINT, lw=0.6, ls=":")
    for number, curve in enumerate(data.curves):
        exact = [s for s in data.symmetries if s.axis == number]
        own = [s.angle for s in exact]
        kept = np.array([all(abs(a - b) > SAME_ANGLE for b in own) for a in curve.angles])
        angles, color = curve.angles[kept], SERIES[(0, 5)[number]]
        looks: tuple[tuple[Floats, dict[str, Any], str], ...] = (
            (curve.errors, {"ls": "-", "marker": "o", "ms": 3}, f"about {curve.about}"),
            (curve.interpolation, {"ls": "--", "lw": 1}, "" if number else "interpolation alone"),
        )
        for errors, look, label in looks:
            axes.plot(angles, 100 * errors[kept], color=color, label=label, **look)
        if exact:
            at_angles = [100 * s.error for s in exact]
            axes.plot(own, at_angles, "D", ms=5, color=color, label="" if number else SYMMETRIC)
    most = max(float(curve.errors.max()) for curve in data.curves)
    axes.set(xlabel="angle turned by [°]", ylabel="error [%]", xlim=(0, 184))
    axes.set(ylim=(-4 * most, 108 * most), xticks=range(0, 181, 30))


def draw_symmetries(axes: "matplotlib.axes.Axes", symmetries: tuple[Symmetry, ...]) -> None:
    """Draw the errors of symmetries, by name.

    Args:
        axes: to draw on.
        symmetries: measured.
    """
    names = [in_words(symmetry) for symmetry in symmetries][:NAMED]
    errors = [max(symmetry.error, LEAST) for symmetry in symmetries][:NAMED]
    axes.semilogx(errors, range(len(names)), "D", ms=4, color=SERIES[2])
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.4, -0.6), xlim=(LEAST / 3, 5), xlabel="error, random signals")
    axes.set_xticks([1e-15, 1e-8, 1])
    axes.grid(axis="y")


def in_words(symmetry: Symmetry) -> str:
    """'rotation_90_z' -> 'rotation 90° z'."""
    return (
        re.sub(r"(?<=_)\d+", r"\g<0>°", symmetry.name)
        .replace("_", " ")
        .replace("approximate", "approx.")
    )


def _draw_pictures(
    canvas: "matplotlib.figure.SubFigure", data: Equivariance, pictures: Pictures
) -> None:
    from matplotlib.colors import Normalize

    count = data.places.points.orientations
    shown = shown_orientations(count, most=_most(data))
    [view, *_] = around(data.places, data.point, math.ceil(data.radius))
    columns = 1 + len(shown)
    grid = canvas.subplots(*((2, columns) if count > 1 else (1, 4)), squeeze=False)
    cells = grid.reshape(2, columns)
    norm = Normalize(0, 1)
    inputs, activations = (_of_largest(x) for x in (pictures.inputs, pictures.activations))
    for row, label in enumerate(("as it is", f"turned by {pictures.angle:.4g}°")):
        image = picture(cells[row, 0], view, inputs[row], norm, SEQUENTIAL)
        row_label(cells[row, 0], label)
        for axes, k in zip(cells[row, 1:], shown, strict=True):
            picture(axes, view, activations[row, k], norm, SEQUENTIAL)
    for titled in cells if count == 1 else cells[:1]:
        titled[0].set_title("input")
        for axes, k in zip(titled[1:], shown, strict=True):
            axes.set_title(title(data.places.samples, int(k)) if count > 1 else "activation")
    color_bar(canvas, image, list(grid.ravel()), BAR)


def _most(data: Equivariance) -> int:
    """Orientations that are shown; fewer of axes, whose titles are wide."""
    return SHOWN if len(data.places.samples[0]) < 3 else AXES


def _of_largest(values: Floats) -> Floats:
    """Values in units of the largest."""
    largest = float(np.nanmax(values))
    return values / largest if largest > 0 else values


def _draw(graph: OpenedGraph, asked: Asked, canvas: "matplotlib.figure.Figure") -> str:
    data = equivariance_of(graph, level=asked.level, vertex=asked.vertex, seed=asked.seed)
    draw_equivariance(canvas, data)
    return caption(graph.spec, data)


def caption(spec: GraphSpec, data: Equivariance) -> str:
    """What to see in the figure."""
    start = (
        f"How a Chebyshev layer with random weights (seed {data.seed}) on level {data.level} "
        "commutes with turning its input: |f(T x) - T f(x)| / |f(x)|."
    )
    parts = [start, _symmetries_in_words(data)]
    if data.pictures is None:
        parts.append("The graph is too small to turn an input by other angles.")
        return " ".join(parts)
    parts.append(_curves_in_words(spec, data))
    count = data.places.points.orientations
    if spec.axes is not None:
        parts.append(
            "Below are the input and the activations at some of the axes, turned about z by "
            f"{data.pictures.angle:.4g} degrees. {counted(spec)}"
        )
    elif count > 1:
        parts.append(f"Dotted lines are whole steps between the {count} orientations.")
        some = len(shown_orientations(count)) < count
        parts.append(
            "Below are the input and the activations at some of the orientations, turned by a step."
            if some
            else "Below, turning the input by a step turns the activations, and moves them on by a "
            "panel, from the last to the first."
        )
        parts.append(counted(spec))
    if data.places.dimension == 3:
        parts.append("Pictures are the slice through the middle across z.")
    return " ".join(parts)


def _symmetries_in_words(data: Equivariance) -> str:
    exact = [s for s in data.symmetries if "approximate" not in s.name]
    if not exact:
        return "The sampling has no symmetries of its own."
    worst = max(exact, key=lambda symmetry: symmetry.error)
    judged = "which is rounding" if worst.error < ROUNDING else "more than rounding"
    return (
        "Under the sampling's own symmetries (diamonds, for random signals) the largest error is "
        f"{worst.error:.1g}, at {in_words(worst)}, {judged}."
    )


def _curves_in_words(spec: GraphSpec, data: Equivariance) -> str:
    largest = max(float(curve.errors.max()) for curve in data.curves)
    floor = max(float(curve.interpolation.max()) for curve in data.curves)
    much = ", so it is much of the error here" if floor > largest / 2 else ""
    return (
        f"Other angles: smooth bars within {data.radius:.3g} spacings, turned exactly; outputs are "
        f"compared after the positive part and the maximum over {words(spec)}, where points are "
        f"turned to, by interpolation. The error is up to {percent(largest)}; interpolation alone, "
        f"as measured on the input (dashed), makes up to {percent(floor)}{much}."
    )


FIGURE = Figure(
    "equivariance", "A random layer on a turned input", (8.0, 5.4), _draw, takes=("vertex", "seed")
)
