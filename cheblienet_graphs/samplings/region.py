"""Points of the sphere in a region of longitudes and latitudes; its sides clip their cells.

The Voronoi diagram is that of the points inside. Of each side what lies in the region counts, and
of each cell its part there, so that no flux passes the sides of the region.

With lambda the longitude from the western side and z the sine of the latitude, a cell's area is the
integral of lambda dz around it: along an arc of a great circle, from 1 to 2,
[lambda z] - 2 atan(tan((lambda_2 - lambda_1) / 2) sin((phi_1 + phi_2) / 2) / cos((phi_1 - phi_2) /
2)), along the eastern side its longitude times dz, along the western one and parallels 0.
"""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.inputs.masks import Four
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import SamplingKind
from cheblienet_graphs.samplings.voronoi import Arcs, Diagram, arcs_of, indistinct
from cheblienet_graphs.typing import Floats, Indices

ANY_MERIDIAN = 0.1234
"""Longitude at which a region of all longitudes is cut open, radians: no side of a regular
sampling's cells."""
ON_A_MERIDIAN, NOTHING, TINY = 1e-9, 1e-14, 1e-300
FEWER = "Give fewer `levels`, or `mask_edge='pixels'`."
REMEDY = "Take points that are farther apart, or `mask_edge='pixels'`."


class RegionSampling(MaskedSampling):
    """The vertices over the points in a region, each of which stands for its cell's part there.

    Args:
        full: all points, of the sphere.
        places: (n_inside,) where the points inside are among them, ascending.
        region: (W, S, E, N) degrees.
        areas: (n_inside,) of cells, where they are known already.
    """

    def __init__(
        self, full: SamplingKind, places: Indices, region: Four, areas: Floats | None = None
    ) -> None:
        super().__init__(full, places)
        self.region = region
        if areas is not None:
            self.cells = areas

    def cells_diagram(self, _remedy: str) -> Diagram:
        """The clipped cells."""
        return self.diagram

    @cached_property
    def diagram(self) -> Diagram:
        """The sides of the cells, clipped.

        Raises:
            CheblienetError: some points are too close to be distinguished.
        """
        return clipped(self.base_points, self.region)

    @cached_property
    def cells(self) -> Floats:
        """(points,) areas of the cells' parts in the region, radians squared."""
        return self.diagram.cells

    @property
    def celled(self) -> "RegionSampling":
        """The points inside alone; the region clips their cells."""
        return self

    mean_area = 1.0  # weights of the points inside alone, in units of their mean

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        areas: Floats = self.cells / self.cells.mean()
        return areas

    def pooling(self) -> Csr:
        """The map from the points to the next coarser level: means by mass."""
        whole = super().pooling()
        shares = (self.cells / self.full.base_areas[self.places])[whole.indices]
        return Csr.means(whole.rows, whole.indices, whole.data * shares, whole.shape)


class Box:
    """A region in longitudes from its western side and sines of latitudes.

    Args:
        region: (W, S, E, N), degrees.

    Attributes:
        west: longitude of that side, radians.
        width: in (0, 2 pi].
        low, high: sines of the latitudes.
    """

    def __init__(self, region: Four) -> None:
        west, south, east, north = np.radians(region)
        self.low, self.high = float(np.sin(south)), float(np.sin(north))
        self.west, self.width = float(west), float((east - west) % (2 * np.pi))
        if region[2] - region[0] >= 360:
            self.west = ANY_MERIDIAN
            self.width = 2 * np.pi

    @property
    def area(self) -> float:
        """The area of the region, radians squared."""
        return self.width * (self.high - self.low)

    def longitudes(self, points: Floats, near: Floats | float = np.pi) -> Floats:
        """(...,) from the western side, within pi of `near`."""
        east = np.arctan2(points[..., 1], points[..., 0]) - self.west - near
        return near + (east + np.pi) % (2 * np.pi) - np.pi

    def holds(self, points: Floats) -> npt.NDArray[np.bool_]:
        """(...,) whether points, (..., 3), are inside."""
        z = points[..., 2]
        east = self.longitudes(points)
        return (z >= self.low) & (z <= self.high) & (east <= self.width)

    def meridian(self, longitude: float) -> tuple[Floats, Floats]:
        """(3,) vectors: where a meridian meets the equator, and its plane's normal."""
        angle = self.west + longitude
        cos, sin = np.cos(angle), np.sin(angle)
        return np.array([cos, sin, 0.0]), np.array([-sin, cos, 0.0])

    def cuts(self, arcs: Arcs) -> Floats:
        """(N, 8) angles along arcs, ascending: their ends, and where circles of sides cut them."""
        start, end = arcs.start, arcs.direction
        height, top = np.hypot(start[:, 2], end[:, 2]), np.arctan2(end[:, 2], start[:, 2])
        cuts = [np.zeros(len(start)), arcs.lengths]
        for z in (self.low, self.high):
            half = np.arccos(z / np.maximum(height, max(abs(z), TINY)))  # 0 or pi where none does
            cuts += [(top - half) % (2 * np.pi), (top + half) % (2 * np.pi)]
        for longitude in (0.0, self.width):
            _, normal = self.meridian(longitude)
            cuts.append(np.arctan2(-(start @ normal), end @ normal) % np.pi)
        return np.sort(np.minimum(np.stack(cuts, axis=1), arcs.lengths[:, None]), axis=1)


def clipped(points: Floats, region: Four) -> Diagram:
    """The Voronoi diagram of points of the sphere within a region.

    Args:
        points: (N, 3) unit vectors.
        region: (W, S, E, N) degrees, which holds all of them.

    Raises:
        CheblienetError: some are too close to be distinguished, or have no part in the region, as
            points of coarse levels may.
    """
    box, arcs = Box(region), arcs_of(points, REMEDY)
    cuts = box.cuts(arcs)
    low, high = cuts[:, :-1], cuts[:, 1:]
    middles = arcs.at((low + high) / 2)
    inside = (high > low) & box.holds(middles)
    lengths = np.where(inside, high - low, 0.0).sum(axis=1)
    first, last = arcs.at(low), arcs.at(high)
    integrals = np.where(inside, _integrals(box, first, last, middles), 0.0).sum(axis=1)
    one, other = arcs.ends
    across = points[one] - points[other]
    # Counterclockwise about the one of the two that is to the left.
    left = np.sign((np.cross(arcs.start, arcs.direction) * across).sum(axis=1)) * integrals
    count = len(points)
    around = np.bincount(one, left, count) - np.bincount(other, left, count)
    cells = around + _along_the_east(box, points, arcs.at(cuts)[inside.any(axis=1)])
    if len(arcs.coincident):
        raise indistinct(count, REMEDY)
    if lost := np.count_nonzero(cells <= NOTHING * box.area):
        raise CheblienetError(
            f"Cells of {lost:,} of {count:,} points of a level have no part in the region. {FEWER}"
        )
    distances, whole = arcs.distances, np.ones(count)
    return Diagram(
        arcs.ends, lengths, distances, cells, arcs.coincident, np.arange(count), whole, box.area
    )


def _integrals(box: Box, first: Floats, last: Floats, middles: Floats) -> Floats:
    """(...,) integrals of lambda dz along arcs that no side of the region cuts."""
    near = box.longitudes(middles)
    (z, east, phi), (z_2, east_2, phi_2) = (
        (end[..., 2], box.longitudes(end, near), np.arcsin(np.clip(end[..., 2], -1, 1)))
        for end in (first, last)
    )
    half = (east_2 - east) / 2
    mean = (phi + phi_2) / 2
    difference = (phi - phi_2) / 2
    below = 2 * np.arctan2(np.sin(half) * np.sin(mean), np.cos(half) * np.cos(difference))
    integrals: Floats = east_2 * z_2 - east * z - below
    return integrals


def _along_the_east(box: Box, points: Floats, cuts: Floats) -> Floats:
    """(points,) integrals of lambda dz along the part of the eastern side in each cell."""
    from scipy.spatial import KDTree  # slow to import, most builds do without

    forward, normal = box.meridian(box.width)
    here = (abs(cuts @ normal) < ON_A_MERIDIAN) & (cuts @ forward > 0)
    z = np.unique(np.clip(np.append(cuts[here][:, 2], [box.low, box.high]), box.low, box.high))
    middle = (z[1:] + z[:-1]) / 2
    sides = np.sqrt(1 - middle**2)[:, None] * forward
    sides[:, 2] = middle
    owner = KDTree(points).query(sides)[1]
    return np.bincount(owner, box.width * np.diff(z), len(points)).astype(np.float64)
