"""A random layer's outputs for an input that is turned at any angle, by interpolation."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse
from scipy.spatial import KDTree

from cheblienet_graphs.plot.chebyshev import Part, part_around
from cheblienet_graphs.plot.places import Places
from cheblienet_graphs.typing import Floats, Indices

DEGREE = 3
NEIGHBOURS = {1: 8, 2: 24, 3: 56}
"""Points whose values are taken, by dimension: about twice as many as the polynomial has terms."""
NEAR = 0.2
"""Distance, in that of the farthest point taken, below which weights no longer grow."""
SINGULAR = 1e-3
"""Relative size of directions in which points don't determine a polynomial, as on a few lines."""
AT_ONCE = 2**12


@dataclass(frozen=True, eq=False)
class Interpolation:
    """Values at places as weighted sums of those at points.

    Args:
        points: (N, k) indices.
        weights: (N, k), summing to 1 in each row.
    """

    points: Indices
    weights: Floats

    def of(self, values: Floats) -> Floats:
        """(N, ...) values at the places, of (points, ...) at the points."""
        found: Floats = np.einsum("nk,nk...->n...", self.weights, values[self.points])
        return found


def interpolation(points: Floats, places: Floats) -> Interpolation:
    """The cubic polynomial that fits the values around each place best, evaluated there.

    Weights of the fit fall off as the fourth power of distance, so near a point the value is
    nearly that of the point. Where points are too few or on a line for a cubic, it is the smallest
    of all that fit best.

    Args:
        points: (P, d) positions.
        places: (N, d).
    """
    count = min(NEIGHBOURS[points.shape[1]], len(points))
    _, near = KDTree(points).query(places, k=[*range(1, count + 1)])
    found: Indices = near.astype(np.int64)
    weights = np.empty(found.shape)
    for start in range(0, len(places), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        weights[part] = _weights(points[found[part]] - places[part, None])
    return Interpolation(found, weights)


def _weights(offsets: Floats) -> Floats:
    """(N, k) weights of values at (N, k, d) offsets from where they are wanted."""
    squared = (offsets**2).sum(axis=2)
    farthest = np.maximum(squared.max(axis=1, keepdims=True), np.finfo(float).tiny)
    root = 1 / (squared / farthest + NEAR**2)
    unit = offsets / np.sqrt(farthest)[:, :, None]
    terms = [
        np.prod(unit[:, :, list(chosen)], axis=2)
        for degree in range(DEGREE + 1)
        for chosen in itertools.combinations_with_replacement(range(offsets.shape[2]), degree)
    ]
    scaled = np.stack(terms, axis=2) * root[:, :, None]
    # The fit's coefficients are pinv(scaled) (root values), of which the first is its value at 0.
    weights: Floats = np.linalg.pinv(scaled, rcond=SINGULAR)[:, 0] * root
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


MARGIN = 3.0
"""Spacings around what is turned, in which values for interpolation are."""
COMPARED = 800, 400
"""Most points, of a plane and of a volume, where outputs are compared."""
BARS = ((0.25, -0.2, 20.0, 1.0), (-0.3, 0.05, 75.0, 0.8), (0.1, 0.4, -40.0, 0.6))
"""x and y of the middle, in radii, angle in degrees, and height of the input's bars."""


def rotation(axis: Floats, degrees: float) -> Floats:
    """(3, 3) the rotation about a unit vector, about z from x towards y (Rodrigues)."""
    angle = math.radians(degrees)
    cross = np.cross(np.eye(3), axis)
    turn: Floats = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    return turn


def bars(offsets: Floats, radius: float) -> Floats:
    """(N,) a few smooth bars of several directions, within a radius; no symmetry maps it to itself.

    Args:
        offsets: (N, 2) or (N, 3) from the middle, in spacings.
        radius: the same.
    """
    across, along = max(1.5, radius / 9), radius / 4
    total: Floats = np.zeros(len(offsets))
    for x, y, degrees, height in BARS:
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        right, down = offsets[:, 0] - x * radius, offsets[:, 1] - y * radius
        forward, sideways = cos * right + sin * down, cos * down - sin * right
        squared = (forward / along) ** 2 + (sideways / across) ** 2
        if offsets.shape[1] > 2:
            squared = squared + (offsets[:, 2] / across) ** 2
        total += height * np.exp(-squared / 2)
    return total


@dataclass(frozen=True, eq=False)
class Turning:
    """A part of a graph around a point, in which an input is turned.

    Args:
        laplacian: (V, V) the rescaled one, possibly over mapped files.
        places: the points.
        point: in the middle.
        radius: of what is turned, in spacings.
        weights: (K, C) of the layer.
    """

    laplacian: scipy.sparse.csr_array
    places: Places
    point: int
    radius: float
    weights: Floats
    _parts: dict[bytes, Part] = field(default_factory=dict, repr=False)

    @property
    def middle(self) -> Floats:
        """Position of the point."""
        here: Floats = self.places.vectors[self.point]
        return here

    def pooled(self, turn: Floats) -> tuple[Floats, Floats]:
        """Outputs (N, C) for the turned input, where points are turned to; the input (N,) there.

        The maximum over orientations of the positive part of interpolated outputs.

        Args:
            turn: (3, 3) rotation.
        """
        _, offsets, outputs, signal = self._outputs(turn)
        positions = self.places.vectors[self._compared()]
        there = self.places.offsets(
            self._turned(self.middle[None], turn)[0], self._turned(positions, turn)
        )
        between = interpolation(offsets, there)
        values = between.of(outputs.transpose(1, 0, 2))
        return np.maximum(values, 0).max(axis=1), between.of(signal)

    def shown(self, turn: Floats) -> tuple[Floats, Floats]:
        """The input (points,), and positive parts of the first channel (n_o, points); NaN far away.

        Args:
            turn: (3, 3) rotation about an axis through the middle.
        """
        near, offsets, outputs, signal = self._outputs(turn)
        inside = (offsets**2).sum(axis=1) < self.radius**2
        points = self.places.points
        values = np.full((points.orientations + 1, points.num_points), np.nan)
        values[0, near[inside]] = signal[inside]
        values[1:, near[inside]] = np.maximum(outputs[:, inside, 0], 0)
        return values[0], values[1:]

    def _compared(self) -> Indices:
        """Points where outputs are compared: those within the radius, or some of them."""
        offsets = self.places.offsets(self.middle, self.places.vectors)
        inside = np.flatnonzero((offsets**2).sum(axis=1) <= self.radius**2)
        step = -(-len(inside) // COMPARED[self.places.dimension - 2])
        return inside[::step]

    def _turned(self, positions: Floats, turn: Floats) -> Floats:
        """Positions turned: on flat bases about the middle, on the sphere about its centre."""
        if not self.places.flat:
            return positions @ turn.T
        steps = self.places.offsets(self.middle, positions)
        size = steps.shape[1]
        return self.middle + steps @ turn[:size, :size].T

    def _outputs(self, turn: Floats) -> tuple[Indices, Floats, Floats, Floats]:
        """Points near the turned middle, their offsets, outputs (n_o, N, C), and the input (N,)."""
        places = self.places
        middle = self._turned(self.middle[None], turn)[0]
        offsets = places.offsets(middle, places.vectors)
        near = np.flatnonzero((offsets**2).sum(axis=1) <= (self.radius + MARGIN) ** 2)
        part, own = self._part(near)
        signal = self._input(places.vectors[part.vertices % places.points.num_points], turn)
        outputs = part.outputs(signal[:, None], self.weights)[own, 0]
        shape = places.points.orientations, len(near), -1
        return near, offsets[near], outputs.reshape(shape), signal[own[: len(near)]]

    def _input(self, positions: Floats, turn: Floats) -> Floats:
        """(N,) the turned bars at positions."""
        back = self._turned(positions, turn.T)
        return bars(self.places.offsets(self.middle, back), self.radius)

    def _part(self, near: Indices) -> tuple[Part, Indices]:
        """The part of the graph over some points, and where their vertices are in it."""
        points = self.places.points
        orientations = np.arange(points.orientations)
        vertices = (orientations[:, None] * points.num_points + near).ravel()
        key = near.tobytes()
        if key not in self._parts:
            self._parts.clear()
            self._parts[key] = part_around(self.laplacian, vertices, len(self.weights) - 1)
        part = self._parts[key]
        return part, np.searchsorted(part.vertices, vertices)
