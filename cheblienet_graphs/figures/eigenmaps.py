"""The smoothest functions on a graph: eigenvectors of its Laplacian with the least eigenvalues."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.places import Places, places_of
from cheblienet_graphs.report.diagnostics import components
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.sparse.laplacian import inverse_root
from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs, multiplicities
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import integer

COUNT = 8
LARGEST = 100_000
"""Most vertices for which eigenvectors that are not stored are computed, but on periodic lattices,
where any number takes seconds."""
HALF = 0.5
"""Of the largest value: the first vertex with as large a one gives the sign."""


@dataclass(frozen=True, eq=False)
class Eigenmaps:
    """Eigenfunctions.

    Args:
        level: of the pyramid; a coarser one than asked for where that is too large.
        places: its points.
        values: (M,) eigenvalues, ascending, of the operator or, where its scale is not known, of
            Delta.
        operator: whether they are the operator's.
        copies: (M,) to how many equal eigenvalues each belongs, among those computed.
        cut: whether the last one may have more copies, which were not computed.
        functions: (M, n_o, points) N^-1/2 v, largest size 1; the first vertex where half of that is
            reached is positive.
        stored: whether they come from the store.
    """

    level: int
    places: Places
    values: Floats
    operator: bool
    copies: tuple[int, ...]
    cut: bool
    functions: Floats
    stored: bool


def eigenmaps(graph: OpenedGraph, *, level: int = 0, count: int = COUNT) -> Eigenmaps:
    """The smoothest eigenfunctions of a level, or of the first coarser one that is small enough.

    Args:
        graph: published.
        level: of its pyramid.
        count: M, at least 1; fewer where there are fewer vertices.

    Raises:
        SpecError: the level is out of range.
        NotDrawnError: no level is small enough; they are only the indicators of components; or they
            did not converge.
    """
    level = _small_enough(graph, integer("level", level, 0, graph.spec.levels - 1), count)
    arrays, places = graph.level(level), places_of(graph, level)
    facts = arrays.of_level
    count = min(count, facts.vertices)
    parts = components(arrays.laplacian)
    if parts >= count:
        raise NotDrawnError(
            f"{graph.name} has {parts:,} components on level {level}: the first {count} "
            "eigenfunctions are constants on these, of eigenvalue 0."
        )
    stored = _stored(graph, level, count)
    if stored is None:
        pairs = extreme_eigenpairs(
            arrays.laplacian, facts.lambda_max, count, sampling=places.points
        )
        if not pairs.converged:
            raise NotDrawnError(f"The eigenvectors of {graph.name} did not converge.")
        values, vectors = pairs.values, pairs.vectors
    else:
        values, vectors = stored
    scale = facts.eigenvalue_scale
    copies = [n for n in multiplicities(values, facts.lambda_max) for _ in range(n)]
    functions = _functions(vectors, arrays.mass.astype(np.float64))
    return Eigenmaps(
        level,
        places,
        values * (scale or 1.0),
        scale is not None,
        tuple(copies),
        count < facts.vertices,
        functions.reshape(count, places.points.orientations, -1),
        stored is not None,
    )


def _small_enough(graph: OpenedGraph, level: int, count: int) -> int:
    """The level, or the first coarser one whose eigenvectors are stored or can be computed."""
    for number in range(level, graph.spec.levels):
        if _stored(graph, number, count) is not None:
            return number
        points = graph.points(number)
        if points.num_vertices <= LARGEST or (isinstance(points, Lattice) and points.periodic):
            return number
    vertices = graph.facts.levels[level].vertices
    raise NotDrawnError(
        f"Level {level} of {graph.name} has {vertices:,} vertices, and eigenvectors are "
        f"computed for up to {LARGEST:,}. Build it with `eigenpairs={count}`, which stores them."
    )


def _stored(graph: OpenedGraph, level: int, count: int) -> tuple[Floats, Floats] | None:
    arrays = graph.level(level)
    values, vectors = arrays.eigenvalues, arrays.eigenvectors
    if values is None or vectors is None or len(values) < min(count, len(vectors)):
        return None
    kept = min(count, len(vectors))
    return np.array(values[:kept]), vectors[:, :kept].astype(np.float64)


def _functions(vectors: Floats, mass: Floats) -> Floats:
    """(M, V) N^-1/2 v for each vector v, of largest size 1 and a sign that does not vary."""
    functions: Floats = (inverse_root(mass)[:, None] * vectors).T
    size = abs(functions).max(axis=1, keepdims=True)
    functions /= np.where(size > 0, size, 1.0)
    first = (abs(functions) >= HALF).argmax(axis=1)
    signs = np.sign(functions[np.arange(len(functions)), first])
    functions *= np.where(signs == 0, 1.0, signs)[:, None]
    return functions
