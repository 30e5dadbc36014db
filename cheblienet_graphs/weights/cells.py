"""Finite-volume weights: the length of a common side of Voronoi cells over the distance across it.

Edges join points with a common side of their cells. Its length l and the distance d of the two
points give the flux l (f_j - f_i) / d through the side, which is at a right angle to the edge in
its middle: the two-point-flux scheme. The normals of a closed cell cancel, sum_j l_ij n_ij = 0, so
the first moments sum_j w_ij c of w = l / d vanish at every point of the plane, and but for the
curvature of a cell on the sphere. Second moments agree with the metric on average over any region,
not at single points. Along the edges of an open domain no flux passes, which is Neumann's
condition.
Sources: Eymard, Gallouet, Herbin, "Finite volume methods", Handbook of Numerical Analysis 7 (2000),
ch. 3; on the sphere Du, Gunzburger, Ju, "Voronoi-based finite volume methods, optimal Voronoi
meshes, and PDEs on the sphere", Comput. Methods Appl. Mech. Engrg. 192 (2003).
"""

import numpy as np

from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.samplings.voronoi import (
    EDGE,
    ROUNDING,
    Diagram,
    indistinct,
)
from cheblienet_graphs.typing import Floats, Indices

NO_SIDE = 1e-9
"""Up to this ratio of a side's length to the distance across it, it is a point: where four cells
meet, as on grids, rounding would join two of them."""


def voronoi_entries(sampling: Sampling, remedy: str = "") -> tuple[Indices, Indices, Floats]:
    """The edges of points of the sphere or the plane, one orientation, with their weights.

    Weights are l / d over the mean area of a point, so that D - W approximates -A Delta with the
    areas A in units of their mean. Both directions of an edge have the same bits.

    Args:
        sampling: the points.
        remedy: for points that are too close.

    Returns:
        (entries,) rows, columns and weights of both directions of each edge, ascending.

    Raises:
        CheblienetError: some points are too close to be distinguished.
    """
    points, count, extent = sampling.base_points, sampling.num_points, sampling.extent
    diagram = sampling.cells_diagram(remedy)
    whole = float((diagram.cells[:count] * diagram.inside).sum())
    if (diagram.coincident[:, 0] < count).any() or abs(whole / diagram.measure - 1) > ROUNDING:
        raise indistinct(count, remedy)
    lengths = diagram.lengths
    if extent is not None and not sampling.periodic:
        lengths = lengths * _within(diagram, points, np.array(extent))
    first, second, fluxes = _fluxes(diagram, lengths, count)
    fluxes *= count / diagram.measure
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.lexsort((columns, rows))
    return rows[order], columns[order], np.concatenate([fluxes, fluxes])[order]


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
    low = np.minimum(one, other)
    end = diagram.sources[np.maximum(one, other)]
    kept = (low < count) & (low < end) & (lengths > NO_SIDE * diagram.distances)
    ratio = lengths[kept] / diagram.distances[kept]
    keys, place = np.unique(low[kept] * count + end[kept], return_inverse=True)
    order = np.lexsort((ratio, place))  # sums then do not depend on the order of sides
    fluxes = np.bincount(place[order], ratio[order], len(keys)).astype(np.float64)
    first, second = np.divmod(keys, count)
    return first, second, fluxes
