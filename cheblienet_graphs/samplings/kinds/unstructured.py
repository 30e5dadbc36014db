"""Points of one's own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.point_sets import GivenPoints, PointSets

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling


class UnstructuredKind(SamplingKind):
    """Points given as arrays, one for each level."""

    name = "unstructured"
    field = "coordinates"
    bases = ("plane", "sphere")
    default_levels = "all"

    def parse(self, size: object, base: Base) -> Size:
        """Take `GivenPoints`."""
        if not isinstance(size, GivenPoints):
            raise SpecError("coordinates", "one or several arrays", size)
        if isinstance(size.coordinates, Mapping):
            return PointSets.from_dict(size.coordinates, flat=base.flat)
        from cheblienet_graphs.samplings.own_points import read  # numpy: help does without

        return read(size, flat=base.flat)

    def points(self, size: Size) -> int:
        """Those of the level."""
        return int(size.count)

    def coarser(self, size: Size) -> Size | None:
        """The points that are given for the next level."""
        return size.coarser

    def squared_spacing(self, size: Size, base: Base) -> float:
        """Area of the domain, or of the sphere, for each point."""
        width, height = size.extent or (1.0, base.measure)
        return float(width * height / self.points(size))

    def links(self, fine: Size, coarse: Size) -> int:
        """At most one for each point, as coarser points of which none is the nearest have one."""
        return self.points(fine) + self.points(coarse)

    def name_parts(self, size: Size) -> tuple[object, ...]:
        """The number of points."""
        return (self.points(size),)

    def schema(self, levels: int) -> str:
        """1.1, as 1.0 did not know them."""
        del levels
        return "1.1"

    def described(self, size: Size, seed: int | None) -> str:
        """'given by their coordinates, areas: Voronoi cells'."""
        del seed
        areas = "Voronoi cells" if size.areas == "voronoi" else "given"
        domain = "" if size.extent is None else f", domain 1 x {size.extent[1]:.4g}"
        return f"given by their coordinates, areas: {areas}{domain}"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """The points of the level, with those of the next one where they are known.

        Raises:
            SpecError: only their digest is known.
        """
        # They need numpy, which help does without.
        from cheblienet_graphs.samplings.scattered import GivenPlane, GivenSphere

        points, areas = size.known(size.level)
        coarser = size.arrays.get(size.level + 1)
        coarser_points = None if coarser is None else coarser.points
        orientations, fibre = setting.orientations, setting.manifold.fibre
        if size.extent is None:
            return GivenSphere(
                orientations=orientations,
                fibre=fibre,
                points=points,
                known_areas=areas,
                coarser=coarser_points,
            )
        return GivenPlane(
            orientations=orientations,
            fibre=fibre,
            periodic=setting.periodic,
            points=points,
            sides=size.extent,
            known_areas=areas,
            coarser=coarser_points,
        )
