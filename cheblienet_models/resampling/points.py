"""The points of a level on the sphere, and about them those that its mask left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.cells import voronoi_sides
from cheblienet_graphs.samplings.given import Given
from cheblienet_graphs.samplings.maps import nearest
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.points import Points, unit_vectors
from cheblienet_graphs.samplings.sides import Sides
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Flags, Floats, Indices

GAP = 1.5
"""Distance from its nearest point, in roots of that point's area, beyond which a place is in the
void, where the full sampling is not known."""


@dataclass(frozen=True)
class LevelPoints:
    """Points of a level: comparable by what was published, so that matrices can be kept.

    Args:
        sha256: digest of the version's numbers.
        level: 0 is the finest.
        stored: the level.
    """

    sha256: str
    level: int
    stored: LevelArrays = field(compare=False, repr=False)

    @classmethod
    def of(cls, stored: LevelArrays) -> "LevelPoints":
        """Those of a level on the sphere."""
        return cls(stored.facts.numbers_sha256, stored.level, stored)

    @cached_property
    def full(self) -> Points | None:
        """The full sampling; None where points outside a mask are not known."""
        sampling = self.stored.sampling
        full = sampling.full if isinstance(sampling, MaskedSampling) else sampling
        is_part = isinstance(full, Given) and self.stored.base_index is not None
        return full if isinstance(full, Points) and not is_part else None

    @cached_property
    def vectors(self) -> Floats:
        """(n, 3) all points; where the full sampling is not known, with rings in the void."""
        if self.full is not None:
            return self.full.base_points
        inside = self.stored.sampling.base_points
        share = 4 * np.pi / self.stored.spec.full_points(self.level)
        areas = self.stored.area[: len(inside)].astype(np.float64) * share
        return np.concatenate([inside, _void(inside, areas)])

    @cached_property
    def places(self) -> Indices:
        """(m,) which of all points the level has, in its order."""
        if self.full is None or self.stored.base_index is None:
            return np.arange(self.count)
        return self.stored.base_index.astype(np.int64)

    @property
    def count(self) -> int:
        """Points that the level has."""
        return self.stored.spec.base_points(self.level)

    @cached_property
    def number(self) -> Indices:
        """(n,) which of those that the level has each point is; -1 where it is none."""
        number = np.full(len(self.vectors), -1)
        number[self.places] = np.arange(self.count)
        return number

    @property
    def is_whole(self) -> bool:
        """Check whether the level has all points."""
        return self.count == len(self.vectors)

    @property
    def angles(self) -> tuple[Floats, Floats]:
        """(m,) colatitudes and longitudes of those that the level has, radians."""
        x, y, z = self.vectors[self.places].T
        return np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)

    def sides(self) -> Iterator[list[Sides]]:
        """Sides of the cells of those that the level has, for some cells at a time."""
        if self.full is None:
            return voronoi_sides(self.vectors, self.number)
        return self.full.sides(self.places)


def _void(points: Floats, areas: Floats) -> Floats:
    """(k, 3) rings of points, as dense as those inside (n, 3), where these are far.

    Args:
        points: (n, 3) unit vectors.
        areas: (n,) of their cells, steradians.
    """
    spacing = float(np.sqrt(areas.mean()))
    circles = max(2, round(np.pi / spacing))
    beta = (np.arange(circles) + 0.5) * np.pi / circles
    counts = np.maximum(3, np.rint(2 * np.pi * np.sin(beta) / spacing).astype(np.int64))
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    rings = unit_vectors(np.repeat(beta, counts), place * np.repeat(2 * np.pi / counts, counts))
    near = nearest(points, rings)
    distance = np.arccos((rings * points[near]).sum(1).clip(-1, 1))
    is_far: Flags = distance > GAP * np.sqrt(areas[near])
    return rings[is_far]
