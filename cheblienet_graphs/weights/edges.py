"""Weights of edges that no stencil has: kernels of lengths, listed ones, those of Voronoi cells.

The latter are finite-volume weights: the length of a common side over the distance across it. Edges
join points whose cells share a side. Its length l and the distance d of the two points give the
flux l (f_j - f_i) / d through the side, which is at a right angle to the edge in its middle: the
two-point-flux scheme. The normals of a closed cell cancel, sum_j l_ij n_ij = 0, so the first
moments sum_j w_ij c of w = l / d vanish at every point of the plane, and but for the curvature of
a cell on the sphere. Second moments are those of the metric on average over any region, not at
single points. Along the edges of an open domain no flux passes, which is Neumann's condition.
Sources: Eymard, Gallouet, Herbin, "Finite volume methods", Handbook of Numerical Analysis 7 (2000),
ch. 3; on the sphere Du, Gunzburger, Ju, "Voronoi-based finite volume methods, optimal Voronoi
meshes, and PDEs on the sphere", Comput. Methods Appl. Mech. Engrg. 192 (2003).
"""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.manifolds.moments import array
from cheblienet_graphs.samplings.region import RegionSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.samplings.voronoi import (
    EDGE,
    ROUNDING,
    Diagram,
    indistinct,
    on_a_circle,
    voronoi_diagram,
)
from cheblienet_graphs.sparse import RowBlock, with_diagonal
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import KERNELS, Kernel
from cheblienet_graphs.typing import Floats, Indices

NO_SIDE = 1e-9
"""Up to this ratio of a side's length to the distance across it, it is a point: where four cells
meet, as on grids, rounding would join two of them."""
REMEDY = Words("Take points that are farther apart, or ", Remedy("weights", "kernel"), ".")


def vanishing(vertices: int) -> str:
    """What a bandwidth must be where the weights of so many vertices vanish."""
    return f"larger here, since the weights of {vertices} vertices vanish in float32"


@dataclass(frozen=True)
class KernelWeights:
    """A kernel of d^2 / (4 t).

    Args:
        kernel: weight from d^2 / (4 t).
        bandwidth: t.
    """

    kernel: Kernel
    bandwidth: float

    @classmethod
    def of_mean(cls, spec: GraphSpec, mean: float) -> "KernelWeights":
        """The weights of a specification, whose t is a multiple of the mean of d^2.

        Args:
            spec: says which kernel, and which multiple.
            mean: of d^2 over all edges.

        Raises:
            ValueError: the weights have no kernel.
        """
        if spec.kernel is None or spec.bandwidth is None:
            raise ValueError(f"{spec.weights} weights have no kernel")
        return cls(KERNELS[spec.kernel], spec.bandwidth * mean)

    def of_squared_lengths(self, squared: Floats) -> Floats:
        """The weights of edges with these d^2, of any shape."""
        weights: Floats = self.kernel(array(squared / (4 * self.bandwidth))).view(np.ndarray)
        return weights


class ListedEdges:
    """A list of edges with their weights.

    Args:
        edges: (entries,) rows, columns and weights of both directions of each edge, ascending;
            may be mapped.
        vertices: V.
    """

    def __init__(self, edges: tuple[Indices, Indices, Floats], vertices: int) -> None:
        rows, self._columns, self._values = edges
        self._starts = np.searchsorted(rows, np.arange(vertices + 1))

    def rows(self, start: int, stop: int) -> tuple[RowBlock, Floats]:
        """The rows of the vertices start..stop, and (nnz,) weights, 0 on the diagonal."""
        between = slice(self._starts[start], self._starts[stop])
        counts = np.diff(self._starts[start : stop + 1])
        return with_diagonal(start, counts, self._columns[between], self._values[between])


def voronoi_entries(sampling: Sampling, number: int = 0) -> tuple[Indices, Indices, Floats]:
    """The edges of points of the sphere or the plane, one orientation, with their weights.

    Weights are l / d over the mean area of a point, so that D - W approximates -A Delta with the
    areas A in units of their mean. Both directions of an edge have the same bits.

    Args:
        sampling: the points.
        number: of the level, for messages.

    Returns:
        (entries,) rows, columns and weights of both directions of each edge, ascending.

    Raises:
        SpecError: all points lie on one circle of the sphere, where cells are lunes.
        CheblienetError: some points are too close to be distinguished.
    """
    points, count, extent = sampling.base_points, sampling.num_points, sampling.extent
    if extent is None and on_a_circle(points):
        accepted = f"kernel on level {number}, whose {count:,} points lie on one circle"
        remedy = Words("Take points all over the sphere, or fewer ", Remedy("levels"), ".")
        raise SpecError("weights", accepted, "voronoi", remedy)
    diagram = _diagram(sampling)
    whole = float((diagram.cells[:count] * diagram.inside).sum())
    if (diagram.coincident[:, 0] < count).any() or abs(whole / diagram.measure - 1) > ROUNDING:
        raise indistinct(count, REMEDY)
    lengths = diagram.lengths
    if extent is not None and not sampling.periodic:
        lengths = lengths * _within(diagram, points, np.array(extent))
    first, second, fluxes = _fluxes(diagram, lengths, count)
    fluxes *= count / diagram.measure
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.lexsort((columns, rows))
    return rows[order], columns[order], np.concatenate([fluxes, fluxes])[order]


def _diagram(sampling: Sampling) -> Diagram:
    """The cells of the points, clipped where they are those of a region."""
    if isinstance(sampling, RegionSampling):
        return sampling.diagram
    points, extent = sampling.base_points, sampling.extent
    return voronoi_diagram(points, extent, periodic=sampling.periodic, remedy=REMEDY)


def _within(diagram: Diagram, points: Floats, sides: Floats) -> Floats:
    """(sides,) share of each that is within an open domain.

    It is 0 between a point and an image in a mirror, and half between two points of one edge.
    """
    one, other = diagram.ends
    own = (one < len(points)) & (other < len(points))
    edges = np.concatenate([abs(points), abs(points - sides)], axis=1) <= EDGE * np.tile(sides, 2)
    share = own.astype(np.float64)
    share[own] *= np.where((edges[one[own]] & edges[other[own]]).any(axis=1), 0.5, 1.0)
    return share


def _fluxes(diagram: Diagram, lengths: Floats, count: int) -> tuple[Indices, Indices, Floats]:
    """Lower and higher end of each edge, ascending, and l / d, summed over the sides of a pair.

    Two points of a torus may share several sides, as their images do; of these the ones of the
    lower point's own cell count.
    """
    one, other = diagram.ends
    low, end = np.minimum(one, other), diagram.sources[np.maximum(one, other)]
    kept = (low < count) & (low < end) & (lengths > NO_SIDE * diagram.distances)
    ratio = lengths[kept] / diagram.distances[kept]
    keys, place = np.unique(low[kept] * count + end[kept], return_inverse=True)
    order = np.lexsort((ratio, place))  # sums then do not depend on the order of sides
    fluxes = np.bincount(place[order], ratio[order], len(keys)).astype(np.float64)
    first, second = np.divmod(keys, count)
    return first, second, fluxes
