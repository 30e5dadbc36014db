"""Spectra of published graphs and of their metrics' operators."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.limits import choice, integer
from cheblienet_graphs.manifolds.spectra import over_boxes
from cheblienet_graphs.measure.comparison import unknown_spectrum
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.spectrum.lanczos import Eigenvalues
from cheblienet_graphs.spectrum.numeric import (
    Eigenpairs,
    End,
    extreme_eigenpairs,
    smallest_eigenvalues,
)
from cheblienet_graphs.spectrum.symmetric import BlochBlocks
from cheblienet_graphs.typing import Floats, Progress

LARGEST_DENSE = 8_000
"""Most vertices of a graph for computing all eigenvalues, except on periodic lattices."""


def eigenpairs(
    store: str | Path,
    name: str | None = None,
    *,
    count: int = 6,
    level: int = 0,
    which: End = "smallest",
) -> Eigenpairs:
    """The smallest or largest eigenpairs of a published graph's Delta, multiplicities repeated.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        count: M in [1, V].
        level: 0 is the finest.
        which: "smallest", ascending, or "largest", descending.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: an argument is out of range.
        CheblienetError: the vectors would take too much memory.
    """
    arrays = open_graph(store, name).level(level)
    choice("which", which, ("smallest", "largest"))
    count = integer("count", count, 1, arrays.of_level.vertices)
    return computed_eigenpairs(arrays, count, which)


def computed_eigenpairs(arrays: MeasuredLevel, count: int, which: End = "smallest") -> Eigenpairs:
    """Eigenpairs of a level, by a solver.

    Args:
        arrays: of the level.
        count: M in [1, V].
        which: "smallest", ascending, or "largest", descending.
    """
    laplacian = arrays.laplacian
    lambda_max = arrays.of_level.lambda_max
    points, shift = arrays.sampling, arrays.shift
    return extreme_eigenpairs(
        laplacian, lambda_max, count, which=which, sampling=points, shift=shift
    )


def computed_eigenvalues(
    arrays: MeasuredLevel, count: int, progress: Callable[[int, int], None] | None = None
) -> Eigenvalues:
    """The smallest eigenvalues of a level, by a solver.

    Args:
        arrays: of the level.
        count: M in [1, V].
        progress: called with the products done and the most there may be.
    """
    laplacian = arrays.laplacian
    lambda_max = arrays.of_level.lambda_max
    points = arrays.sampling
    shift = arrays.shift
    return smallest_eigenvalues(
        laplacian, lambda_max, count, sampling=points, shift=shift, progress=progress
    )


def eigenvalues(store: str | Path, name: str | None = None, *, level: int = 0) -> Floats:
    """(V,) all eigenvalues of a published graph's Delta, ascending.

    On periodic lattices from Bloch blocks, a matter of seconds at most up to millions of vertices;
    elsewhere from the dense matrix.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        level: 0 is the finest.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: the level is out of range.
        CheblienetError: a dense matrix would be too large.

    Example:
        >>> torus = GraphSpec("r2", 8, boundary="periodic", weights="selling", levels=1)
        >>> build(torus, "graphs.zarr", name="torus").built
        True
        >>> eigenvalues("graphs.zarr", "torus").shape
        (64,)
    """
    arrays = open_graph(store, name).level(level)
    laplacian, points = arrays.laplacian, arrays.sampling
    lattice = points.whole_lattice
    if lattice is not None and lattice.periodic:
        values = BlochBlocks(laplacian, lattice, shift=arrays.shift).eigenvalues()
    elif points.num_vertices <= LARGEST_DENSE:
        dense = laplacian.toarray().astype(np.float64)
        dense[np.diag_indices(len(dense))] += arrays.shift
        values = np.linalg.eigvalsh(dense)
    else:
        raise CheblienetError(
            f"All eigenvalues of {points.num_vertices:,} vertices take a dense matrix, for which "
            f"{LARGEST_DENSE:,} is the limit, or a periodic lattice. Ask eigenpairs() for some."
        )
    return np.maximum((values + 1) * (arrays.of_level.lambda_max / 2), 0.0)


def first_eigenvalues(arrays: MeasuredLevel, count: int, step: Progress) -> Eigenvalues:
    """The smallest eigenvalues: the stored ones if there are enough; a 0 for each component.

    Args:
        arrays: of the level; they are computed once for all that ask.
        count: M in [0, V].
        step: called with "eigenvalues", the products done and the most there may be.
    """
    if arrays.components >= count:  # solvers converge slowly where many are equal
        return Eigenvalues(np.zeros(count), converged=True, method="components")
    if stored := stored_eigenpairs(arrays, count):
        return stored
    if arrays.spectrum is None or len(arrays.spectrum.values) < count:
        found = computed_eigenvalues(arrays, count, partial(step, "eigenvalues"))
        object.__setattr__(arrays, "spectrum", found)
        return found
    return arrays.spectrum.first(count)


def stored_eigenpairs(arrays: MeasuredLevel, count: int) -> Eigenpairs | None:
    """The smallest eigenpairs, as they were stored; None where there are not so many.

    Args:
        arrays: of the level.
        count: M, at most as many as there are vertices.
    """
    values, vectors = arrays.eigenvalues, arrays.eigenvectors
    if values is None or vectors is None or len(values) < count:
        return None
    kept = vectors[:, :count].astype(np.float64)
    return Eigenpairs(np.array(values[:count]), converged=True, method="stored", vectors=kept)


def exact_eigenvalues(arrays: MeasuredLevel, count: int) -> list[float] | None:
    """The smallest eigenvalues of a level's operator; None where none are known.

    Args:
        arrays: of the level.
        count: of eigenvalues.
    """
    spec, sampled = arrays.spec, arrays.sampled
    if unknown_spectrum(spec):
        return None
    extent = sampled.sampling.extent
    if spec.boundary == "open" and extent is not None:
        return [*map(float, over_boxes(count, extent))]
    known: list[float] = spec.geometry.spectrum(count, sampled.metric, extent).tolist()
    return known
