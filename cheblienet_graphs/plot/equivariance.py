"""Figure: a random layer on a turned input, against its turned output."""

import math
import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Canvas
from matplotlib.figure import SubFigure

from cheblienet_graphs.figures.equivariance import Equivariance, Pictures, equivariance_of, steps_of
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.symmetric import Symmetry
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.figures.views import around
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.panels import (
    SHOWN,
    colour_bar,
    picture,
    row_label,
    shown_orientations,
)
from cheblienet_graphs.plot.style import FAINT, SEQUENTIAL, SERIES
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibres import counted, title, words
from cheblienet_graphs.spec.words import percent
from cheblienet_graphs.typing import Floats

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


def draw_equivariance(canvas: Canvas, data: Equivariance) -> None:
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


def _draw_errors(canvas: SubFigure, data: Equivariance) -> None:
    widths = (2.2, 1) if data.symmetries else (1,)
    cells = canvas.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    draw_curves(cells[0], data)
    canvas.legend(loc="outside upper left", ncols=4)
    if data.symmetries:
        draw_symmetries(cells[1], data.symmetries)


def draw_curves(axes: Axes, data: Equivariance) -> None:
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
        angles, colour = curve.angles[kept], SERIES[(0, 5)[number]]
        looks: tuple[tuple[Floats, dict[str, Any], str], ...] = (
            (curve.errors, {"ls": "-", "marker": "o", "ms": 3}, f"about {curve.about}"),
            (curve.interpolation, {"ls": "--", "lw": 1}, "" if number else "interpolation alone"),
        )
        for errors, look, label in looks:
            axes.plot(angles, 100 * errors[kept], color=colour, label=label, **look)
        if exact:
            at_angles = [100 * s.error for s in exact]
            axes.plot(own, at_angles, "D", ms=5, color=colour, label="" if number else SYMMETRIC)
    most = max(float(curve.errors.max()) for curve in data.curves)
    axes.set(xlabel="angle turned by [°]", ylabel="error [%]", xlim=(0, 184))
    axes.set(ylim=(-4 * most, 108 * most), xticks=range(0, 181, 30))


def draw_symmetries(axes: Axes, symmetries: tuple[Symmetry, ...]) -> None:
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


def _draw_pictures(canvas: SubFigure, data: Equivariance, pictures: Pictures) -> None:
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
    colour_bar(canvas, image, list(grid.ravel()), BAR)


def _most(data: Equivariance) -> int:
    """Orientations that are shown; fewer of axes, whose titles are wide."""
    return SHOWN if len(data.places.samples[0]) < 3 else AXES


def _of_largest(values: Floats) -> Floats:
    """Values in units of the largest."""
    largest = float(np.nanmax(values))
    return values / largest if largest > 0 else values


def _draw(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
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


FIGURE = Figure("equivariance", TITLES["equivariance"], (8.0, 5.4), _draw, takes=("vertex", "seed"))
