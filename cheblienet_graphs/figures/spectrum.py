"""The smallest eigenvalues of a graph beside those of the operator of its metric."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.report.diagnostics import components
from cheblienet_graphs.report.first_eigenvalues import exact_eigenvalues, first_eigenvalues
from cheblienet_graphs.report.scale import eigenvalue_scale
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.store.reader import weights_of
from cheblienet_graphs.typing import Floats

COUNTS = ((2**15, 32), (2**17, 16))
"""Most vertices, and the eigenvalues that are computed of so many where none are stored."""
MANY = 32
"""Eigenvalues of larger graphs, computed on periodic lattices only: it takes seconds there."""
MOST = 200
"""Stored eigenvalues that are shown."""


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenvalues, ascending.

    Args:
        values: (M,) of the graph: in the operator's units where `scaled`, else of Delta.
        exact: (M,) of the operator; None where none are known.
        unknown: why none are known, or can't be compared; None where they are compared.
        scaled: whether the factor to the operator's units is known.
        method: by which they were found: "stored", "components", or a solver's.
        converged: whether the solver's residuals are small.
        components: connected components, as many as eigenvalues that are 0.
        vertices: of the graph.
    """

    values: Floats
    exact: Floats | None
    unknown: str | None
    scaled: bool
    method: str
    converged: bool
    components: int
    vertices: int

    @property
    def errors(self) -> Floats | None:
        """(M,) value / exact - 1, NaN where the exact one is 0; None without exact ones."""
        if self.exact is None or not self.scaled:
            return None
        none = np.full_like(self.values, np.nan)
        ratio = np.divide(self.values, self.exact, out=none, where=self.exact > 0)
        return ratio - 1

    @property
    def largest_error(self) -> float | None:
        """The largest |error|; None where nothing can be compared."""
        errors = self.errors
        if errors is None or not np.isfinite(errors).any():
            return None
        return float(np.nanmax(abs(errors)))


def spectrum_of(graph: OpenedGraph, level: int = 0, count: int | None = None) -> Spectrum:
    """The smallest eigenvalues of a graph: the stored ones, else computed.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        count: how many; default all that are stored, up to 200, else 32, and fewer of large
            graphs.

    Raises:
        SpecError: there is no such level.
        NotDrawnError: the graph is large, no count was given, and no eigenvalues are stored.
        StoreError: the graph can't be read.
    """
    arrays, spec, points = graph.level(level), graph.spec, graph.points(level)
    vertices = arrays.of_level.vertices
    count = min(_count(graph, level) if count is None else count, vertices)
    apart = components(arrays.laplacian)
    found = first_eigenvalues(arrays, count, apart, points, _silent)
    sampled = SampledManifold(points, spec.geometry, graph.metric(level))
    scale = arrays.of_level.eigenvalue_scale
    if scale is None:
        weights = weights_of(arrays)
        scale = eigenvalue_scale(spec, sampled, weights, arrays.coordinates, arrays.degree)
    exact = exact_eigenvalues(spec, sampled, count)
    where = "on a part of the domain" if spec.mask is not None else "with an open boundary"
    unknown = None if exact is not None else f"no spectrum is known exactly {where}"
    if scale is None:
        unknown = "the metric can be measured nowhere and nothing gives the operator's units"
    return Spectrum(
        found.values * (1.0 if scale is None else scale),
        None if exact is None or scale is None else np.array(exact),
        unknown,
        scale is not None,
        found.method,
        found.converged,
        apart,
        vertices,
    )


def _count(graph: OpenedGraph, level: int) -> int:
    """The number of eigenvalues that are stored, or soon computed."""
    arrays, points = graph.level(level), graph.points(level)
    if arrays.eigenvalues is not None:
        return min(len(arrays.eigenvalues), MOST)
    vertices = arrays.of_level.vertices
    for most, count in COUNTS:
        if vertices <= most:
            return count
    if isinstance(points, Lattice) and points.periodic:
        return MANY
    raise NotDrawnError(
        f"Level {level} of {graph.name} has {vertices:,} vertices, whose eigenvalues take long to "
        f"compute, and none are stored. Build it with `eigenpairs={MANY}`, or draw a coarser "
        "`level`."
    )


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
