"""The points that a level has, and about them those that its mask left out.

Cells and facets are the full sampling's: else those of boundary points would spread over the void.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_models.graphs.graph import Graph
from cheblienet_models.resampling.entries import Floats, Indices
from cheblienet_models.resampling.full_samplings import full_sampling
from cheblienet_models.resampling.nearest import Search, unit_vectors

GAP = 1.5
"""Where the full sampling is not known, a place is in the void if it is farther from its nearest
point than this, in roots of that point's area."""


@dataclass(frozen=True)
class Sampling:
    """Points on the sphere, some of which are inside: comparable, so that matrices can be kept.

    Args:
        points: (n, 2) float64 colatitudes and longitudes, radians, as bytes.
        inside: (m,) int64 which of them a level has, in its own order, as bytes.
        kind: "healpix", "equiangular" or "gaussian" where the points are all of such a sampling, in
            its order; else their cells are Voronoi's.
        shape: of the sampling's base.
    """

    points: bytes
    inside: bytes
    kind: str | None = None
    shape: tuple[int, ...] = ()

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(n,) colatitudes and longitudes of all points."""
        beta, gamma = np.frombuffer(self.points).reshape(-1, 2).T
        return beta, gamma

    @cached_property
    def inside_angles(self) -> tuple[Floats, Floats]:
        """(m,) colatitudes and longitudes of those inside."""
        return self.angles[0][self.places], self.angles[1][self.places]

    @cached_property
    def number(self) -> Indices:
        """(n,) which of those inside each point is; -1 where it is none."""
        number = np.full(len(self.angles[0]), -1)
        number[self.places] = np.arange(self.count)
        return number

    @property
    def places(self) -> Indices:
        """(m,) which of all points those inside are."""
        return np.frombuffer(self.inside, dtype=np.int64)

    @property
    def count(self) -> int:
        """Points inside."""
        return len(self.places)

    @property
    def is_whole(self) -> bool:
        """Whether all points are inside."""
        return self.count == len(self.angles[0])


def sampling_of(graph: Graph) -> Sampling:
    """The points of a level on the sphere; with a mask, completed.

    The missing points of icospheres, HEALPix, equiangular and Gaussian grids are computed. Others
    are not known: there rings of points fill what is farther from every point inside than 1.5 roots
    of the nearest one's area.
    """
    own = graph.coordinates[: graph.num_points, -2:].cpu().numpy().astype(np.float64)
    index = np.arange(len(own)) if graph.base_index is None else graph.base_index.cpu().numpy()
    shape = graph.grid[1:]
    has_rule = graph.sampling in {"healpix", "equiangular", "gaussian"}
    if graph.base_index is None and not has_rule:
        return _sampling(own, index)
    known = full_sampling(graph.sampling, shape)
    if known is not None and _far(known[index], own) < 1e-9:
        points = own if graph.base_index is None else known
        return _sampling(points, index, graph.sampling if has_rule else None, shape)
    if graph.base_index is None:
        return _sampling(own, index)
    areas = graph.area[: graph.num_points].cpu().double().numpy()
    areas = areas * (4 * np.pi / np.prod(shape))
    return _sampling(np.concatenate([own, _void(own, areas)]), np.arange(len(own)))


def _sampling(
    points: Floats, inside: Indices, kind: str | None = None, shape: tuple[int, ...] = ()
) -> Sampling:
    whole = np.ascontiguousarray(points).tobytes()
    return Sampling(whole, inside.astype(np.int64).tobytes(), kind, shape)


def _far(a: Floats, b: Floats) -> float:
    """The largest distance between points (n, 2), angles in radians."""
    return float(abs(unit_vectors(*a.T) - unit_vectors(*b.T)).max())


def _void(points: Floats, areas: Floats) -> Floats:
    """(k, 2) angles of rings of points, as dense as those inside (n, 2), where these are far.

    Args:
        points: (n, 2) angles, radians.
        areas: (n,) of their cells, steradians.
    """
    spacing = float(np.sqrt(areas.mean()))
    circles = max(2, round(np.pi / spacing))
    inside = unit_vectors(*points.T)
    search, rings = Search(inside), [np.empty((0, 2))]
    for colatitude in (np.arange(circles) + 0.5) * np.pi / circles:
        count = max(3, round(2 * np.pi * np.sin(colatitude) / spacing))
        longitudes = np.arange(count) * 2 * np.pi / count
        places = unit_vectors(np.full(count, colatitude), longitudes)
        near = search.nearest(places)
        distance = np.arccos((places * inside[near]).sum(1).clip(-1, 1))
        far = longitudes[distance > GAP * np.sqrt(areas[near])]
        rings.append(np.column_stack([np.full(len(far), colatitude), far]))
    return np.concatenate(rings)
