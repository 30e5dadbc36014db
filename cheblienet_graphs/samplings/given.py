"""Given points: positions, and areas unless these are those of Voronoi cells, as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from cheblienet_graphs.errors import Remedy, SpecError, Words
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.given_points import GivenPoints, UncheckedPoints
from cheblienet_graphs.samplings.given_tables import read
from cheblienet_graphs.samplings.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.scattered import Scattered, ScatteredPlane, ScatteredSphere
from cheblienet_graphs.typing import Floats

TOO_CLOSE = Words(
    "Leave out one of any two such points of ",
    Remedy("coordinates"),
    ", or give an area for each point.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Given(Scattered):
    """Points that are known as an array.

    Args:
        points: (points, d) x, y, or unit vectors.
        known_areas: (points,) in units of their mean; None for those of Voronoi cells.
        coarser: (coarser points, d) those of the next coarser level, if there is one.
    """

    points: Floats
    known_areas: Floats | None = None
    coarser: Floats | None = None

    remedy: ClassVar[str] = TOO_CLOSE

    @cached_property
    def base_points(self) -> Floats:
        """(points, d) x, y, or unit vectors."""
        return self.points

    @property
    def coarser_points(self) -> Floats | None:
        """(coarser points, d) those of the next coarser level; None where there is none."""
        return self.coarser

    @cached_property
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""
        return super().base_areas if self.known_areas is None else self.known_areas


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenSphere(_Given, ScatteredSphere):
    """Given points of the sphere."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenPlane(_Given, ScatteredPlane):
    """Given points of a box.

    Args:
        sides: width, 1, and height of the domain.
    """

    sides: tuple[float, float]

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height of the domain."""
        return self.sides


class Given(SamplingKind):
    """Points given as arrays, one for each level; `GivenPlane` or `GivenSphere`."""

    name = "unstructured"
    field = "coordinates"
    default_levels = "all"
    schemas = "1.1", "1.1"  # 1.0 did not know them

    @classmethod
    def parse(cls, size: object, base: Base) -> Size:
        """Take `UncheckedPoints`."""
        if not isinstance(size, UncheckedPoints):
            raise SpecError("coordinates", "one or several arrays", size)
        if isinstance(size.coordinates, Mapping):
            return GivenPoints.from_dict(size.coordinates, flat=base.flat)
        return read(size, flat=base.flat)

    @classmethod
    def points(cls, size: Size) -> int:
        """Those of the level."""
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
    def links(cls, fine: Size, coarse: Size) -> int:
        """At most one for each point, as coarser points of which none is the nearest have one."""
        return cls.points(fine) + cls.points(coarse)

    @classmethod
    def name_parts(cls, size: Size) -> tuple[object, ...]:
        """The number of points."""
        return (cls.points(size),)

    @classmethod
    def described(cls, size: Size) -> str:
        """'given by their coordinates, areas: Voronoi cells'."""
        areas = "Voronoi cells" if size.areas == "voronoi" else "given"
        domain = "" if size.extent is None else f", domain 1 x {size.extent[1]:.4g}"
        return f"given by their coordinates, areas: {areas}{domain}"

    @classmethod
    def sampled(cls, size: Size, setting: Setting) -> Sampling:
        """The points of the level, with those of the next one where they are known.

        Raises:
            SpecError: only their digest is known.
        """
        points, areas = size.known(size.level)
        coarser = size.arrays.get(size.level + 1)
        given = {
            "orientations": setting.orientations,
            "fibre": setting.manifold.fibre,
            "points": points,
            "known_areas": areas,
            "coarser": None if coarser is None else coarser.points,
        }
        if size.extent is None:
            return GivenSphere(**given)
        return GivenPlane(periodic=setting.periodic, sides=size.extent, **given)
