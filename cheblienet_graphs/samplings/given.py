"""Given points: what a specification says of them, their arrays where known, their sampling."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.limits import ASPECT, POINTS
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.given_tables import PointArrays, on_the_plane, on_the_sphere
from cheblienet_graphs.samplings.points import Scattered
from cheblienet_graphs.samplings.sampling import Size
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    from cheblienet_graphs.spec import GraphSpec


@dataclass(frozen=True)
class GivenPoints:
    """The points of all levels of a pyramid, seen from one of them.

    Specifications are equal where digests are; one that was read back knows no arrays.

    Args:
        points: number of points of each level, finest first.
        areas: "given", or "voronoi" for areas of Voronoi cells.
        sha256: digest of the normalized points, and areas where they are given, of all levels.
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

    @classmethod
    def read(
        cls, coordinates: object, *, flat: bool, domain: object, units: object, periodic: bool
    ) -> "GivenPoints":
        """Points of the plane, or of the sphere.

        Args:
            coordinates: array, or arrays, or what `to_dict` returns.
            flat: whether they are points of the plane.
            domain: of the plane; None for the points' bounding box.
            units: of angles; None where these are not confirmed.
            periodic: whether opposite sides of the domain are glued.

        Raises:
            SpecError: they are not valid.
        """
        extent = None
        if isinstance(coordinates, Mapping) and not hasattr(coordinates, "data_vars"):
            return cls.from_dict(coordinates, flat=flat)
        if flat:
            levels, sha256, extent = on_the_plane(coordinates, domain, periodic=periodic)
        else:
            levels, sha256 = on_the_sphere(coordinates, units)
        counts = tuple(len(points) for points, _ in levels)
        areas = "voronoi" if levels[0].areas is None else "given"
        return cls(counts, areas, sha256, extent, arrays=dict(enumerate(levels)))

    @property
    def given_areas(self) -> bool:
        """True if areas are given, too; else they are areas of Voronoi cells."""
        return self.areas == "given"

    @property
    def count(self) -> int:
        """Number of points of the level."""
        return self.points[self.level]

    @property
    def coarser(self) -> "GivenPoints | None":
        """The same seen from the next coarser level; None from the coarsest."""
        more = self.level + 1 < len(self.points)
        return replace(self, level=self.level + 1) if more else None

    @property
    def known(self) -> PointArrays:
        """The points of the level.

        Raises:
            SpecError: only their digest is known.
        """
        if self.level in self.arrays:
            return self.arrays[self.level]
        raise SpecError(
            "coordinates",
            "given as arrays: this specification was read back, and knows points by digest only",
            Unquoted(f"{self.count:,} points with sha256 {self.sha256[:12]}..."),
        )

    def to_dict(self) -> dict[str, Any]:
        """The record in a specification, as JSON types."""
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
        form = {"points", "areas", "sha256", "extent"} if flat else {"points", "areas", "sha256"}
        match dict(values):
            case {
                "points": [*points],
                "areas": "given" | "voronoi" as areas,
                "sha256": str(sha256),
            } if (
                values.keys() == form
                and re.fullmatch(r"[0-9a-f]{64}", sha256)
                and points
                and all(type(n) is int and POINTS.low <= n <= POINTS.high for n in points)
                and all(few < many for many, few in itertools.pairwise(points))
            ):
                match values.get("extent"):
                    case None if not flat:
                        return cls(tuple(points), areas, sha256)
                    case [1.0, float(height)] if ASPECT.low <= height <= ASPECT.high:
                        return cls(tuple(points), areas, sha256, (1.0, height))
        accepted = "as `to_dict()` writes it: points, areas, sha256, on the plane extent"
        raise SpecError("coordinates", accepted, dict(values))


@dataclass(frozen=True)
class Given(Scattered):
    """Points given as arrays, one for each level; a size is `GivenPoints`."""

    name = "unstructured"
    field = "coordinates"
    default_levels = "all"
    schemas = "1.1", "1.1"  # 1.0 did not know them
    remedy: ClassVar[str] = (
        "Leave out one of any two such points of `coordinates`, or give an area for each point."
    )

    @classmethod
    def points(cls, size: Size) -> int:
        """The number of points of the level."""
        return int(size.count)

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """The points that are given for the next level."""
        return size.coarser

    @classmethod
    def squared_spacing(cls, size: Size, base: Base) -> float:
        """Area of the domain, or of the sphere, for each point."""
        width, height = size.extent or (1.0, base.measure)
        return float(width * height / cls.points(size))

    @classmethod
    def name_parts(cls, size: Size) -> tuple[object, ...]:
        """The number of points."""
        return (cls.points(size),)

    @classmethod
    def described(cls, size: Size) -> str:
        """'given by their coordinates, areas: Voronoi cells'."""
        areas = "given" if size.given_areas else "Voronoi cells"
        domain = "" if size.extent is None else f", domain 1 x {size.extent[1]:.4g}"
        return f"given by their coordinates, areas: {areas}{domain}"

    @classmethod
    def sampled(cls, size: Size, spec: "GraphSpec") -> "Given":
        """The points of the level, with the next level's where they are known.

        Raises:
            SpecError: only their digest is known.
        """
        _ = size.known
        return cls(spec.orientations, spec.fiber, size, spec.periodic)

    @property
    def extent(self) -> tuple[float, float] | None:
        """Width and height of the domain; None on the sphere."""
        extent: tuple[float, float] | None = self.size.extent
        return extent

    @property
    def num_points(self) -> int:
        """The number of known points; of a masked level a store has only the points inside."""
        return len(self.base_points)

    @cached_property
    def base_points(self) -> Floats:
        """(points, d) x, y, or unit vectors."""
        points: Floats = self.size.known.points
        return points

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean, as given or of Voronoi cells."""
        areas: Floats | None = self.size.known.areas
        return super().base_areas if areas is None else areas
