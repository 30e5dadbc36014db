"""The edges of a vertex as text for a terminal."""

import numpy as np

from cheblienet_graphs.report.edges_of import Neighbors, axis_frame
from cheblienet_graphs.spec import units
from cheblienet_graphs.spec.fibres import vector_in_words
from cheblienet_graphs.typing import Floats


def edges_text(found: Neighbors) -> str:
    """The vertex, how far it is from what was asked, and a line for each edge.

    Args:
        found: the edges.
    """
    spec = found.spec
    columns = spec.geometry.columns
    named = zip(_names(columns), _cells(columns, found.coordinates[None])[0], strict=True)
    lines = [
        f"{found.name}, level {found.level}: vertex {found.vertex:,} at "
        + ", ".join(f"{name} {cell}" for name, cell in named)
    ]
    if found.asked is not None:
        lines.append(f"  {_how_far(found)}")
    if not len(found.vertices):
        return "\n".join([*lines, "  no neighbours"])
    if spec.axes is not None:
        _, first, second = map(vector_in_words, axis_frame(found.coordinates[3:]).tolist())
        lines.append(f"  across 1 is {first}, across 2 is {second}; tilts are to these")
    pixel = units.visible(spec, found.level, 1.0)
    several = "neighbours" if len(found.vertices) > 1 else "neighbour"
    lines += [
        (
            f"  {len(found.vertices)} {several}; lengths in {units.unit(spec)}, of which one is "
            f"{pixel:.4g} {units.visible_unit(spec)}"
        ),
        "",
    ]
    rows = [["vertex", *_names(columns), *_names(found.directions), "distance", "weight"]]
    rows += [
        [f"{vertex:,}", *places, *steps, f"{distance:.4g}", f"{weight:.4g}"]
        for vertex, places, steps, distance, weight in zip(
            found.vertices.tolist(),
            _cells(columns, found.ends),
            _cells(found.directions, found.components),
            found.distances.tolist(),
            found.weights.tolist(),
            strict=True,
        )
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        [
            *lines,
            *(
                "  " + "  ".join(f"{c:>{width}}" for c, width in zip(row, widths, strict=True))
                for row in rows
            ),
        ]
    )


ANGLES = {"theta", "alpha", "beta", "gamma", "rotation", "tilt_1", "tilt_2"}
"""Columns that are stored in radians and shown in degrees,"""
SHOWN = {"beta": "lat", "gamma": "lon"}
"""and what they are called then: the sphere's places are shown as they are asked for."""


def _names(columns: tuple[str, ...]) -> list[str]:
    shown = [SHOWN.get(name, name.replace("_", " ")) for name in columns]
    return [
        f"{title} (deg)" if name in ANGLES else title
        for name, title in zip(columns, shown, strict=True)
    ]


def _cells(columns: tuple[str, ...], values: Floats) -> list[list[str]]:
    """Lengths with five digits, angles in degrees."""
    shown = values.copy()
    for number, name in enumerate(columns):
        if name in ANGLES:
            shown[:, number] = np.degrees(values[:, number])
        if name == "beta":
            shown[:, number] = 90 - shown[:, number]
    scale = abs(values).max(axis=0, initial=0.0)
    shown[abs(values) < scale * 1e-12] = 0.0
    return [
        [
            f"{value:.2f}" if name in ANGLES else f"{value:.5g}"
            for name, value in zip(columns, row, strict=True)
        ]
        for row in shown.tolist()
    ]


def _how_far(found: Neighbors) -> str:
    """The nearest vertex's distance in the metric's unit and in one that can be seen."""
    spec, asked = found.spec, found.asked
    if asked is None:
        raise ValueError("no place was asked for")
    away = units.visible(spec, found.level, asked.distance)
    nearest = f"the nearest to what was asked: {asked.distance:.3g} {units.unit(spec)} "
    nearest += f"({away:.3g} {units.visible_unit(spec)})"
    if asked.turn is not None:
        turned = "rotation" if spec.axes is None else "tilt"
        nearest += f" and {np.degrees(asked.turn):.3g} degrees of {turned}"
    return f"{nearest} away"
