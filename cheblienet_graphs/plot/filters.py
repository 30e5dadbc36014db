"""A random layer of a stored Laplacian, on an input that is turned by a symmetry or any angle."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse
from scipy.spatial import KDTree

from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.plot.places import Places
from cheblienet_graphs.typing import Floats, Indices

DEGREE = 3
NEIGHBORS = {1: 8, 2: 24, 3: 56}
"""Number of points for a value, by dimension: about twice as many as the polynomial has terms."""
NEAR = 0.2
"""Distance, in that of the farthest point taken, below which weights no longer grow."""
SINGULAR = 1e-3
"""Relative size of directions in which points don't determine a polynomial, as on a few lines."""
MARGIN = 3.0
"""Spacings around what is turned, in which values for interpolation are."""
COMPARED = 800, 400
"""Most points, of a plane and of a volume, where outputs are compared."""
BARS = ((0.25, -0.2, 20.0, 1.0), (-0.3, 0.05, 75.0, 0.8), (0.1, 0.4, -40.0, 0.6))
"""Bars of the input: x and y of the middle, in radii, angle in degrees, and height."""
TERMS = 5
"""Chebyshev polynomials of the layer, of degrees 0 .. 4."""
CHANNELS = 4


def symmetries_of(
    graph: OpenedGraph, level: int, places: Places, weights: Floats, seed: int
) -> dict[str, float]:
    """The error |f(P x) - P f(x)| / |f(x)| of a layer f for each symmetry P of a level, by name.

    Args:
        graph: published.
        level: of its pyramid.
        places: its points.
        weights: (K, C) of the layer.
        seed: of x, a random signal on all vertices.
    """
    laplacian = graph.level(level).laplacian
    signal = np.random.default_rng(seed).standard_normal((places.points.num_vertices, 1))
    output = chebyshev_sums(laplacian, signal, weights)
    errors = {}
    for name, permutation in places.points.symmetries():
        image = np.empty_like(signal)
        image[permutation] = signal
        difference = chebyshev_sums(laplacian, image, weights)[permutation] - output
        errors[name] = float(np.linalg.norm(difference) / np.linalg.norm(output))
    return errors


def interpolation(points: Floats, places: Floats) -> scipy.sparse.csr_array:
    """(N, P) from values at points to values of the cubic polynomials that fit best around places.

    Weights of the fit fall off as the fourth power of distance, so near a point the value is
    nearly that of the point. Where points are too few or on a line for a cubic, it is the smallest
    of all that fit best. Rows sum to 1.

    Args:
        points: (P, d) positions.
        places: (N, d).
    """
    count = min(NEIGHBORS[points.shape[1]], len(points))
    _, near = KDTree(points).query(places, k=[*range(1, count + 1)])
    offsets = points[near] - places[:, None]
    squared = (offsets**2).sum(axis=2)
    farthest = np.maximum(squared.max(axis=1, keepdims=True), np.finfo(float).tiny)
    root = 1 / (squared / farthest + NEAR**2)
    unit = offsets / np.sqrt(farthest)[:, :, None]
    terms = [
        np.prod(unit[:, :, list(chosen)], axis=2)
        for degree in range(DEGREE + 1)
        for chosen in itertools.combinations_with_replacement(range(points.shape[1]), degree)
    ]
    scaled = np.stack(terms, axis=2) * root[:, :, None]
    # The fit's coefficients are pinv(scaled) (root values), of which the first is its value at 0.
    weights: Floats = np.linalg.pinv(scaled, rcond=SINGULAR)[:, 0] * root
    weights /= weights.sum(axis=1, keepdims=True)
    ends = np.arange(len(places) + 1) * count
    shape = len(places), len(points)
    return scipy.sparse.csr_array((weights.ravel(), near.ravel(), ends), shape=shape)


def bars(offsets: Floats, radius: float) -> Floats:
    """(N,) a few smooth bars of several directions, within a radius; no symmetry maps it to itself.

    Args:
        offsets: (N, 2) or (N, 3) from the middle, in spacings.
        radius: the same.
    """
    across = max(1.5, radius / 9)
    along = radius / 4
    total: Floats = np.zeros(len(offsets))
    for x, y, degrees, height in BARS:
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        right, down = offsets[:, 0] - x * radius, offsets[:, 1] - y * radius
        forward = cos * right + sin * down
        sideways = cos * down - sin * right
        squared = (forward / along) ** 2 + (sideways / across) ** 2
        squared += (offsets[:, 2:] ** 2).sum(axis=1) / across**2
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
    _parts: dict[bytes, tuple[Indices, scipy.sparse.csr_array]] = field(
        default_factory=dict, repr=False
    )

    def pooled(self, turn: Floats) -> tuple[Floats, Floats]:
        """Outputs (N, C) for the turned input, where points are turned to; the input (N,) there.

        The maximum over orientations of the positive part of interpolated outputs. Points are the
        ones within the radius, or some of them.

        Args:
            turn: (3, 3) rotation.
        """
        places = self.places
        middle = self.places.vectors[self.point]
        own = places.offsets(middle, places.vectors)
        inside = np.flatnonzero((own**2).sum(axis=1) <= self.radius**2)
        inside = inside[:: -(-len(inside) // COMPARED[places.dimension - 2])]
        _, offsets, outputs, signal = self._outputs(turn)
        there = self._turned(places.vectors[inside], turn)
        there = places.offsets(self._turned(middle[None], turn)[0], there)
        between = interpolation(offsets, there)
        values = np.stack([between @ part for part in outputs])
        return np.maximum(values, 0).max(axis=0), between @ signal

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

    def _turned(self, positions: Floats, turn: Floats) -> Floats:
        """Positions turned: on flat bases about the middle, on the sphere about its center."""
        if not self.places.flat:
            return positions @ turn.T
        middle: Floats = self.places.vectors[self.point]
        size = len(middle)
        return middle + self.places.offsets(middle, positions) @ turn[:size, :size].T

    def _outputs(self, turn: Floats) -> tuple[Indices, Floats, Floats, Floats]:
        """Points near the turned middle, their offsets, outputs (n_o, N, C), and the input (N,)."""
        places = self.places
        middle = self.places.vectors[self.point]
        orientations, count = places.points.orientations, places.points.num_points
        offsets = places.offsets(self._turned(middle[None], turn)[0], places.vectors)
        near = np.flatnonzero((offsets**2).sum(axis=1) <= (self.radius + MARGIN) ** 2)
        vertices = (np.arange(orientations)[:, None] * count + near).ravel()
        part, laplacian = self._part(vertices)
        back = self._turned(places.vectors[part % count], turn.T)
        signal = bars(places.offsets(middle, back), self.radius)
        outputs = chebyshev_sums(laplacian, signal[:, None], self.weights)[:, 0]
        own = np.searchsorted(part, vertices)
        shape = orientations, len(near), -1
        return near, offsets[near], outputs[own].reshape(shape), signal[own[: len(near)]]

    def _part(self, vertices: Indices) -> tuple[Indices, scipy.sparse.csr_array]:
        """The part of the graph that outputs at vertices depend on; the last one is kept."""
        key = vertices.tobytes()
        if key not in self._parts:
            self._parts.clear()
            self._parts[key] = part_around(self.laplacian, vertices, len(self.weights) - 1)
        return self._parts[key]


def chebyshev_sums(laplacian: scipy.sparse.csr_array, x: Floats, weights: Floats) -> Floats:
    """sum_k T_k(L) x w_kc, by the recursion of the layers, in float64.

    Args:
        laplacian: (V, V) L, its spectrum in [-1, 1].
        x: (V, m).
        weights: (K, C) w, K at least 1.

    Returns:
        (V, m, C).
    """
    import torch  # slow to import, other figures do without

    from cheblienet_models.graphs.filters import filtered

    signals = np.repeat(x[:, :, None], weights.shape[1], axis=2)
    parts = laplacian.indptr, laplacian.indices, laplacian.data.astype(np.float64)
    sums: Floats = filtered(*map(torch.from_numpy, (signals, weights, *parts))).numpy()
    return sums


def random_weights(seed: int) -> Floats:
    """(TERMS, CHANNELS) normal weights of variance 1 / TERMS, from one channel to several."""
    weights = np.random.default_rng(seed).standard_normal((TERMS, CHANNELS))
    weights /= np.sqrt(TERMS)
    return weights


def part_around(
    laplacian: scipy.sparse.csr_array, vertices: Indices, degree: int
) -> tuple[Indices, scipy.sparse.csr_array]:
    """The part of a graph that outputs at some vertices depend on.

    Args:
        laplacian: (V, V) the rescaled one, possibly over mapped files.
        vertices: where outputs are wanted.
        degree: of the layer.

    Returns:
        (N,) ascending: these vertices and all within as many steps as the degree; (N, N) the
        entries between them.
    """
    inside = np.unique(vertices)
    newest = inside
    for _ in range(degree):
        reached = np.unique(laplacian[newest].indices.astype(np.int64))
        newest = np.setdiff1d(reached, inside, assume_unique=True)
        inside = np.union1d(inside, newest)
    return inside, scipy.sparse.csr_array(laplacian[inside][:, inside])
