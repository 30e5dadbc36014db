"""Selling's stencils: the fewest neighbors of a Laplacian consistent with the metric.

With D the matrix of the operator along the base and an obtuse superbase of Z^d, vectors b_0, ...,
b_d with sum 0 and b_j^T D b_k <= 0, Selling's formula D = sum rho v v^T holds with rho =
-b_j^T D b_k >= 0 for each pair; v is orthogonal to the other vectors: in the plane b_i turned by 90
degrees, in space b_i x b_l. So weights rho / h^2 on the offsets +-v realize D exactly.
Source: Fehrenbach, Mirebeau, "Sparse non-negative stencils for anisotropic diffusion", J. Math.
Imaging Vision 49 (2014).
"""

import itertools
from collections.abc import Sequence

import numpy as np

from cheblienet_graphs.manifolds import FlatManifold, Metric
from cheblienet_graphs.manifolds.base import Fiber
from cheblienet_graphs.manifolds.manifold import Diffusion
from cheblienet_graphs.samplings.axes import Axes
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.tilts import FiberEdges, tilt_edges

OBTUSE = 1e-12
"""Products of a superbase's vectors up to this value count as 0."""

Vector = tuple[int, ...]
Terms = Sequence[tuple[float, Sequence[float]]]
"""Of the matrix D = sum_a f_a f_a^T / R_aa: 1 / R_aa and f_a."""


def selling(
    manifold: FlatManifold, metric: Metric, lattice: Lattice
) -> list[tuple[Indices, Indices, Floats]]:
    """The stencil of each orientation: offsets within it, and the next samples of its fiber.

    The weights are those of the operator -sum_a A_a^2 / R_aa, lengths in pixels, times the area of
    a sample's cell in the fiber.

    Args:
        manifold: its base is flat.
        metric: R, lengths in pixels.
        lattice: infinite, for its fiber and the sides of its pixels.

    Returns:
        For each orientation (N,) orientations and (N, d) offsets of the neighbors, in the order of
        the lattice's shape, and (N,) weights.
    """
    fiber, count = lattice.fiber, lattice.orientations
    diffusions = [manifold.diffusion(sample, metric) for sample in fiber.samples(count)]
    return stencils_of(diffusions, edges_along(fiber, count, metric.xi), lattice)


def edges_along(fiber: Fiber, count: int, xi: float) -> list[FiberEdges]:
    """The edges along the fiber from each of so many samples; xi is the length of one radian."""
    if isinstance(fiber, Axes):
        return tilt_edges(fiber, xi)
    steps = fiber.steps(count, xi)
    return [[((k + step) % count, weight) for step, weight in steps] for k in range(count)]


def stencils_of(
    diffusions: Sequence[Diffusion], along_fiber: Sequence[FiberEdges], lattice: Lattice
) -> list[tuple[Indices, Indices, Floats]]:
    """The stencils of operators along the base, one for each orientation, and of edges to others.

    Args:
        diffusions: rates and directions, lengths in pixels; none where nothing leads along the
            base.
        along_fiber: edges of each orientation to others.
        lattice: infinite.

    Returns:
        As `selling`.
    """
    stencils = []
    sides = lattice.sides[::-1]
    still = (0,) * len(lattice.shape)
    areas = lattice.fiber.shares(lattice.orientations)
    for k, (diffusion, others, area) in enumerate(zip(diffusions, along_fiber, areas, strict=True)):
        scaled = [
            (factor, tuple(part / side for part, side in zip(direction, sides, strict=True)))
            for factor, direction in diffusion
        ]
        within = base_offsets(scaled) if scaled else []
        edges = [(k, *offset[::-1], weight * area) for offset, weight in within]
        edges += [(other, *still, weight) for other, weight in others]
        columns = np.array(sorted(edges))
        whole = columns[:, :-1].astype(np.int64)
        stencils.append((whole[:, 0], whole[:, 1:], columns[:, -1]))
    return stencils


def base_offsets(terms: Terms) -> list[tuple[Vector, float]]:
    """Offsets v along x, y and so on, and weights, with sum of weight v v^T = 2 D.

    Both v and -v are listed.

    Args:
        terms: 1 / R_aa and f_a of D, along x, y and so on in units of the pixels' sides.
    """
    base = _obtuse(terms)
    offsets: list[tuple[Vector, float]] = []
    for pair in itertools.combinations(range(len(base)), 2):
        weight = -_product(terms, *(base[i] for i in pair))
        if weight > OBTUSE:
            v = _orthogonal([base[i] for i in range(len(base)) if i not in pair])
            offsets += [(v, weight), (tuple(-n for n in v), weight)]
    return offsets


def _orthogonal(others: Sequence[Vector]) -> Vector:
    """The vector orthogonal to one vector in the plane, or to two in space."""
    if len(others) == 1:
        x, y = others[0]
        return -y, x
    first, second = others
    return tuple(np.cross(first, second).tolist())


def _obtuse(terms: Terms) -> list[Vector]:
    """D + 1 vectors of Z^d with sum 0, of which no two are at an acute angle under D."""
    d = len(terms)
    base = [*np.eye(d, dtype=np.int64), np.full(d, -1)]
    while True:
        vectors: list[Vector] = [tuple(vector.tolist()) for vector in base]
        for i, j in itertools.combinations(range(d + 1), 2):
            if _product(terms, vectors[i], vectors[j]) > OBTUSE:
                turned = base[i]
                base = [vector + 2 // (d - 1) * turned for vector in base]
                base[i], base[j] = -turned, base[j] - 2 // (d - 1) * turned
                break
        else:
            return vectors


def _product(terms: Terms, b: Vector, c: Vector) -> float:
    """b^T D c, summed over the directions, which loses fewer digits than the matrix D would."""
    product = 0.0
    for factor, direction in terms:
        product += factor * (_dot(b, direction) * _dot(c, direction))
    return product


def _dot(b: Vector, direction: Sequence[float]) -> float:
    product = 0.0
    for n, part in zip(b, direction, strict=True):
        product += n * part
    return product
