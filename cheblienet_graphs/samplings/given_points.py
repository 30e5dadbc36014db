"""Given points: what a specification says of them, and the arrays where they are known."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.limits import ASPECT, POINTS
from cheblienet_graphs.typing import Floats

AREAS = ("given", "voronoi")
SHA256 = re.compile(r"[0-9a-f]{64}")


class PointArrays(NamedTuple):
    """The points of a level.

    Args:
        points: (N, d) Cartesian coordinates, on the plane in units of the domain's width.
        areas: (N,) in units of their mean; None for those of Voronoi cells.
    """

    points: Floats
    areas: Floats | None


@dataclass(frozen=True)
class GivenPoints:
    """The points of all levels of a pyramid, seen from one of them.

    Specifications are equal where digests are; one that was read back knows no arrays.

    Args:
        points: number of points of each level, finest first.
        areas: "given", or "voronoi": those of Voronoi cells.
        sha256: digest of the normalised points, and areas where they are given, of all levels.
        extent: width, 1, and height of the domain on the plane; None on the sphere.
        level: the one it stands for, 0 the finest.
        arrays: the points by level, as far as they are known.
    """

    points: tuple[int, ...]
    areas: str
    sha256: str
    extent: tuple[float, float] | None = None
    level: int = 0
    arrays: Mapping[int, PointArrays] = field(default_factory=dict, compare=False, repr=False)

    @property
    def count(self) -> int:
        """Number of points of the level."""
        return self.points[self.level]

    @property
    def coarser(self) -> "GivenPoints | None":
        """The same seen from the next coarser level; None from the coarsest."""
        more = self.level + 1 < len(self.points)
        return replace(self, level=self.level + 1) if more else None

    def known(self, level: int) -> PointArrays:
        """The points of a level.

        Raises:
            SpecError: only their digest is known.
        """
        if level in self.arrays:
            return self.arrays[level]
        raise SpecError(
            "coordinates",
            "given as arrays: this specification was read back, and knows points by digest only",
            Found(f"{self.points[level]:,} points with sha256 {self.sha256[:12]}..."),
        )

    def with_arrays(self, arrays: Mapping[int, PointArrays]) -> "GivenPoints":
        """The same points, known to be these arrays, or by digest only where there are none."""
        return replace(self, arrays=arrays)

    def to_dict(self) -> dict[str, Any]:
        """What a specification says of them, as JSON types."""
        values = {"areas": self.areas, "points": list(self.points), "sha256": self.sha256}
        return values if self.extent is None else values | {"extent": list(self.extent)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, flat: bool) -> "GivenPoints":
        """The points of which a specification says this.

        Args:
            values: as `to_dict` returns it.
            flat: whether they are points of the plane.

        Raises:
            SpecError: it is of another form.
        """
        points, areas, sha256 = (values.get(key) for key in ("points", "areas", "sha256"))
        extent = values.get("extent")
        fine = (
            values.keys() == {"points", "areas", "sha256"} | ({"extent"} if flat else set())
            and areas in AREAS
            and isinstance(sha256, str)
            and SHA256.fullmatch(sha256)
            and _numbers(points)
            and (not flat or _sides(extent))
        )
        if not fine:
            accepted = "as `to_dict()` writes it: points, areas, sha256, on the plane extent"
            raise SpecError("coordinates", accepted, dict(values))
        sides = (1.0, float(extent[1])) if flat and extent else None
        return cls(tuple(points or ()), str(areas), str(sha256), sides)


@dataclass(frozen=True)
class UncheckedPoints:
    """Points as a caller has them, with what else is given for them.

    Args:
        coordinates: array, or arrays, or what `GivenPoints.to_dict` returns.
        domain: of the plane; None for the points' bounding box.
        units: of angles; None where these are not confirmed.
        periodic: whether opposite sides of the domain are glued.
    """

    coordinates: Any
    domain: Any
    units: Any
    periodic: bool

    def __repr__(self) -> str:
        shape = getattr(self.coordinates, "shape", None)
        return f"a {type(self.coordinates).__name__}" if shape is None else f"shape {shape}"


def _numbers(points: object) -> bool:
    return (
        isinstance(points, list)
        and bool(points)
        and all(type(n) is int and POINTS.low <= n <= POINTS.high for n in points)
        and all(few < many for many, few in itertools.pairwise(points))
    )


def _sides(extent: object) -> bool:
    return (
        isinstance(extent, list)
        and len(extent) == 2
        and extent[0] == 1.0
        and type(extent[0]) is type(extent[1]) is float
        and ASPECT.low <= extent[1] <= ASPECT.high
    )
