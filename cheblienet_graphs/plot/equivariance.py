"""Figure: a random layer on a turned input, against its turned output, at any angle."""

import math
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.plot import pictures
from cheblienet_graphs.plot.figure import (
    FAINT,
    SERIES,
    Asked,
    Axes,
    Canvas,
    Figure,
    Part,
    sentences,
)
from cheblienet_graphs.plot.filters import Turning, random_weights, symmetries_of
from cheblienet_graphs.plot.places import Places, chosen_vertex, places_of
from cheblienet_graphs.samplings.points import rotation
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibers import counting_sentence, sample_nouns, title
from cheblienet_graphs.spec.words import percent
from cheblienet_graphs.typing import Floats

LARGEST = {2: 16.0, 3: 7.0}
"""Radius of the part that is turned, in spacings, by dimension, where there is room."""
SMALLEST = 3.0
"""Less room is too little to turn anything in."""
SHARE = 0.6
"""Share of the room around the middle that is turned; the rest keeps ends of the graph away."""
STEP = 7.5
"""Degrees between angles, with which the orientations' own come together."""
TURN = 30.0
"""Rotation of the pictures without orientations, in degrees."""
TURN_OF_AXES = 90.0
"""Rotation of the pictures with axes in space, in degrees: it maps the cube's sets to
themselves."""
LEAST = 1e-17
"""Smaller errors are drawn here: they are 0."""
NAMED = 14
"""Most symmetries that are drawn."""
LOWER = 4.6
"""Inches of a figure with one row of pictures."""
AXES = 4
"""Most axes in space that are shown."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors by angle.

    Args:
        about: what is turned about, in words.
        angles: (N,) degrees in (0, 180].
        errors: (N,) |f(T x) - T f(x)| / |f(x)|.
        interpolation: (N,) error of interpolation on the input itself, where the truth is known.
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
    """The effect of rotations on a random layer on a graph.

    Args:
        level: of the pyramid.
        places: its points.
        point: in the middle.
        radius: of what is turned, in spacings.
        seed: of the layer.
        symmetries: errors for symmetries of the sampling, by name.
        curves: by the axis that is turned about; none where there is no room.
        pictures: None where there is no room.
    """

    level: int
    places: Places
    point: int
    radius: float
    seed: int
    symmetries: dict[str, float]
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
    places, weights = places_of(graph, level), random_weights(seed)
    point = chosen_vertex(graph, level, vertex) % places.points.num_points
    room = places.room(point)
    radius = min(LARGEST[places.dimension], SHARE * room)
    axes = _axes(places, point, room)
    symmetries = symmetries_of(graph, level, places, weights, seed)
    curves, turned = tuple[Curve, ...](), None
    if radius >= SMALLEST:
        turning = Turning(graph.level(level).laplacian, places, point, radius, weights)
        curves = tuple(_curve(turning, about, axis) for about, axis in axes.items())
        turned = _turned(turning, [*axes.values()][-1])
    elif not symmetries:
        raise NotDrawnError(
            f"Nothing of {graph.name} can be turned: it has no symmetries of its sampling, and "
            f"room of {room:.2g} spacings around vertex {point}; it takes {SMALLEST / SHARE:.2g}."
        )
    return Equivariance(level, places, point, radius, seed, symmetries, curves, turned)


def _axes(places: Places, point: int, room: float) -> dict[str, Floats]:
    """Axes of rotation of the figures, as unit vectors; the last one is through the middle."""
    z = np.array([0.0, 0.0, 1.0])
    if places.dimension == 3:
        return {"the diagonal": np.ones(3) / math.sqrt(3), "the z axis": z}
    if places.flat:
        return {"the vertex": z}
    polar = {"the polar axis": z} if room >= places.radius * math.pi / 2 else {}
    return polar | {"the vertex": places.vectors[point] / places.radius}


def _curve(turning: Turning, about: str, axis: Floats) -> Curve:
    """Errors about an axis."""
    own = steps_of(turning.places)
    angles = np.unique(np.round(np.concatenate([np.arange(STEP, 181, STEP), own]), 9))
    still = turning.pooled(np.eye(3))
    errors = []
    for angle in angles.tolist():
        both = zip(turning.pooled(rotation(axis, math.radians(angle))), still, strict=True)
        errors.append([np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in both])
    return Curve(about, angles, *np.array(errors).T)


def steps_of(places: Places) -> Floats:
    """(N,) degrees of whole steps between orientations, up to 180; none where there are no two."""
    count = len(places.samples)
    if count == 1 or places.of_axes:
        return np.empty(0)
    steps: Floats = np.arange(1, count + 1) * math.degrees(places.points.fiber.step(1)) / count
    return steps[steps <= 180]


def _turned(turning: Turning, axis: Floats) -> Pictures:
    """The input and the activations, still and turned by a step between orientations."""
    other = TURN_OF_AXES if turning.places.of_axes else TURN
    angle = float([*steps_of(turning.places), other][0])
    shown = [turning.shown(rotation(axis, math.radians(degrees))) for degrees in (0.0, angle)]
    inputs, activations = (np.stack(parts) for parts in zip(*shown, strict=True))
    return Pictures(angle, inputs, activations)


def draw_equivariance(canvas: Part, data: Equivariance) -> None:
    """Draw errors by angle and by symmetry, and activations, on an empty figure.

    Args:
        canvas: the figure.
        data: what turning does.
    """
    if data.pictures is None:
        _draw_symmetries(canvas.subplots(), data.symmetries)
        return
    [top], [bottom] = canvas.subfigures(2, 1, squeeze=False, height_ratios=(1, 1.15))
    widths = (2.2, 1) if data.symmetries else (1,)
    cells = top.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    _draw_curves(cells[0], data)
    top.legend(loc="outside upper left", ncols=2)
    if data.symmetries:
        _draw_symmetries(cells[1], data.symmetries)
    _draw_pictures(bottom, data, data.pictures)


def _draw_curves(axes: Axes, data: Equivariance) -> None:
    """Errors against the angle, with whole steps between orientations as lines."""
    for number, (curve, color) in enumerate(zip(data.curves, SERIES[::5], strict=False)):
        layer = f"layer f: |f(T x) - T f(x)| / |f(x)|, T a turn about {curve.about}"
        dashed = f"{'_' * number}interpolation alone: what T does to the input"
        axes.plot(curve.angles, 100 * curve.errors, "-o", c=color, ms=3, label=layer)
        axes.plot(curve.angles, 100 * curve.interpolation, "--", c=color, lw=1, label=dashed)
    for number, angle in enumerate(steps_of(data.places)):
        step = f"{'_' * (number > 0)}whole steps between orientations"
        axes.axvline(angle, color=FAINT, lw=0.6, ls=":", label=step)
    most = max(float(curve.errors.max()) for curve in data.curves)
    axes.set(xlabel="angle turned by (°)", ylabel="error (%)", xlim=(0, 184))
    axes.set(ylim=(-4 * most, 108 * most), xticks=range(0, 181, 30))


def _draw_symmetries(axes: Axes, symmetries: dict[str, float]) -> None:
    """The errors of symmetries, by name."""
    names = [name.replace("_", " ") for name in symmetries][:NAMED]
    errors = [max(error, LEAST) for error in symmetries.values()][:NAMED]
    axes.semilogx(errors, range(len(names)), "D", ms=4, color=SERIES[2])
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.4, -0.6), xlim=(LEAST / 3, 5), xlabel="error of symmetries")
    axes.set_xticks([1e-15, 1e-8, 1])
    axes.grid(axis="y")


def _draw_pictures(canvas: Part, data: Equivariance, turned: Pictures) -> None:
    """The input and the activations, a row as they are and one turned.

    Both are one row where there are no orientations.
    """
    samples, of_axes = data.places.samples, data.places.of_axes
    shown = pictures.shown_orientations(len(samples), most=AXES if of_axes else pictures.SHOWN)
    named = [title(samples, int(k)) for k in shown] if len(samples) > 1 else ["activation"]
    [view, *_] = pictures.around(data.places, data.point, math.ceil(data.radius))
    inputs, activations = (x / (np.nanmax(x) or 1.0) for x in (turned.inputs, turned.activations))
    still, moved = ([inputs[row], *activations[row, shown]] for row in (0, 1))
    rows = [pictures.row_of(view, still, ["input", *named]), pictures.row_of(view, moved)]
    labels = ["as it is", f"turned by {turned.angle:.4g}°"]
    if len(samples) == 1:
        rows = [[*rows[0], *pictures.row_of(view, moved, labels[1:] * 2)]]
    pictures.draw_panels(canvas, rows, labels, "share of the largest", small=of_axes)


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    data = equivariance_of(graph, level=asked.level, vertex=asked.vertex, seed=asked.seed)
    if len(data.places.samples) <= 1:  # pictures stand in one row
        canvas.set_size_inches(FIGURE.size[0], LOWER)
    draw_equivariance(canvas, data)
    return caption(graph.spec, data)


def caption(spec: GraphSpec, data: Equivariance) -> str:
    """The caption of the figure."""
    exact = [error for name, error in data.symmetries.items() if "approximate" not in name]
    errors, floor = (
        percent(max(getattr(curve, part).max() for curve in data.curves)) if data.curves else ""
        for part in ("errors", "interpolation")
    )
    return sentences(
        f"|f(T x) - T f(x)| / |f(x)| of a Chebyshev layer f with random weights (seed {data.seed}) "
        f"on level {data.level}, T the sampling's own symmetries (diamonds, random signals): at "
        f"most {max(exact, default=0.0):.1g}.",
        data.curves
        and f"By other angles, of smooth bars within {data.radius:.3g} spacings and the maximum of "
        f"outputs over {sample_nouns(spec)}: up to {errors}; interpolation alone (dashed) makes "
        f"{floor}.",
        data.curves and spec.orientations > 1 and counting_sentence(spec),
    )


FIGURE = Figure(
    "equivariance", "A random layer on a turned input", (8.0, 5.4), _draw, takes=("vertex", "seed")
)
