"""How exactly a random layer commutes with the symmetries of a graph's sampling."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.plot.chebyshev import chebyshev_sums
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.plot.places import Places
from cheblienet_graphs.sparse import mapped_product
from cheblienet_graphs.typing import Floats, Indices

LINEAR = 1e-6
"""Largest distance, in spacings, of moved points from where a rotation takes them."""
POWERS = 6
"""Most multiples of a rotation that are measured."""


@dataclass(frozen=True)
class Symmetry:
    """A symmetry of a sampling, and how a layer f commutes with it.

    Args:
        name: as the sampling calls it; of a multiple '2 x rotation_90'.
        error: |f(P x) - P f(x)| / |f(x)| for a random signal x on all vertices.
        axis: number of the axis about which it turns, among those that figures turn about; None
            where it is no rotation about one of these.
        angle: of that rotation, degrees in (0, 180].
    """

    name: str
    error: float
    axis: int | None = None
    angle: float = 0.0


def symmetries_of(
    graph: OpenedGraph, level: int, places: Places, axes: list[Floats], weights: Floats, seed: int
) -> tuple[Symmetry, ...]:
    """Measure a layer on the symmetries of a level, and on multiples of its rotations.

    Args:
        graph: published.
        level: of its pyramid.
        places: its points.
        axes: unit vectors (3,) about which figures turn.
        weights: (K, C) of the layer.
        seed: of the signal.
    """
    product = mapped_product(graph.level(level).laplacian)
    signal = np.random.default_rng(seed).standard_normal(places.points.num_vertices)
    output = chebyshev_sums(product, signal[:, None], weights)[:, 0]
    size = float(np.linalg.norm(output))
    found = []
    for name, permutation in places.points.symmetries():
        turn = None if "approximate" in name else turn_of(places, permutation, axes)
        for number, moved in _multiples(permutation, None if turn is None else turn[1]):
            image = np.empty_like(signal)
            image[moved] = signal
            difference = chebyshev_sums(product, image[:, None], weights)[moved, 0] - output
            error = float(np.linalg.norm(difference)) / size
            called = name if number == 1 else f"{number} x {name}"
            axis, angle = (None, 0.0) if turn is None else turn
            found.append(Symmetry(called, error, axis, number * angle))
    return tuple(found)


def _multiples(permutation: Indices, angle: float | None) -> Iterator[tuple[int, Indices]]:
    """Multiples of a rotation up to a half turn, some of them if many, or the permutation alone."""
    if angle is None:
        yield 1, permutation
        return
    count = math.floor(180 / angle + 1e-6)
    chosen = set(np.unique(np.linspace(1, count, min(count, POWERS)).round().astype(int)).tolist())
    moved = permutation
    for number in range(1, count + 1):
        if number in chosen:
            yield number, moved
        moved = permutation[moved]


def turn_of(places: Places, permutation: Indices, axes: list[Floats]) -> tuple[int, float] | None:
    """The axis and the angle, degrees in (0, 180], of a rotation of the points.

    Args:
        places: the points.
        permutation: (V,) under which vertex v goes to permutation[v].
        axes: (3,) unit vectors; of a plane the third one is across it.

    Returns:
        None where the points are mapped otherwise, as by translations and reflections.
    """
    count = places.points.num_points
    image = permutation[:count] % count
    positions = places.vectors - (places.vectors.mean(axis=0) if places.flat else 0.0)
    matrix, *_ = np.linalg.lstsq(positions, positions[image], rcond=None)
    if np.abs(positions @ matrix - positions[image]).max() > LINEAR * max(1.0, places.radius):
        return None
    turn = np.eye(3)
    turn[: len(matrix), : len(matrix)] = matrix.T
    orthogonal = np.allclose(turn @ turn.T, np.eye(3), atol=LINEAR)  # not where all are on a line
    if not orthogonal or np.linalg.det(turn) < 0 or np.allclose(turn, np.eye(3), atol=LINEAR):
        return None
    for number, axis in enumerate(axes):
        if np.allclose(turn @ axis, axis, atol=LINEAR):
            sine = float(np.linalg.norm(turn - turn.T)) / math.sqrt(2)
            return number, math.degrees(math.atan2(sine, float(np.trace(turn)) - 1))
    return None
