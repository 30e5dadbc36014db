"""The interface of the kinds of samplings: their sizes, numbers of points, and coarser levels.

Only the standard library is imported at first, here and in the files beside this one, so that the
command line can show its help at once: the points themselves need numpy.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.manifolds.base import Base

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling

Size = Any
"""(width, height[, depth]) of a lattice, `PointSets` of one's own points, "O32" of a Gaussian grid,
one integer for the other samplings."""


@dataclass(frozen=True)
class Setting:
    """What the samplings of all levels of a specification have in common.

    Args:
        manifold: that is sampled.
        orientations: samples of the fibre, n_o.
        periodic: whether opposite sides are glued.
        seed: of random points; None where nothing is random.
        finest: size of the finest level.
        axes: name of the set that samples the fibre; None where n_o alone says how.
        spacing: sides of voxels along x, y and z, 1 along x; None where all are equal.
    """

    manifold: Manifold
    orientations: int
    periodic: bool
    seed: int | None
    finest: Size
    axes: str | None = None
    spacing: tuple[float, ...] | None = None


class SamplingKind(ABC):
    """A way of choosing points, its size left open."""

    name: ClassVar[str]
    field: ClassVar[str]
    """Name of the parameter that holds its size."""
    bases: ClassVar[tuple[str, ...]]
    """Names of the bases that it can sample."""
    regular: ClassVar[bool] = False
    """Whether it is a lattice, on which stencils exist."""
    seeded: ClassVar[bool] = False
    """Whether it is drawn from a seed."""
    longitudes: ClassVar[str] = "[-pi, pi]"
    """Range of those that it gives to points of a sphere."""
    default_levels: ClassVar[Literal["worthwhile", "one", "all"]] = "worthwhile"
    """Levels of a pyramid by default: those of enough points, the finest alone, all there are."""
    library: ClassVar[str | None] = None
    """The package that computes its points, where it is not this one."""

    @abstractmethod
    def parse(self, size: object, base: Base) -> Size:
        """Check a size and normalise it.

        Raises:
            SpecError: it is not valid.
        """

    @abstractmethod
    def points(self, size: Size) -> int:
        """Number of points that a size makes."""

    @abstractmethod
    def coarser(self, size: Size) -> Size | None:
        """Size of the next coarser level; None where there is none."""

    def grid(self, size: Size) -> tuple[int, ...]:
        """Shape in which a signal on the points is laid out; (height, width) on a lattice."""
        return (self.points(size),)

    def squared_spacing(self, size: Size, base: Base) -> float:
        """Area of the base for each point; on a lattice h^2 in any dimension."""
        return base.measure / self.points(size)

    def links(self, fine: Size, coarse: Size) -> int:
        """Stored entries of a map between two levels; one for each fine point unless overridden."""
        del coarse
        return self.points(fine)

    def name_parts(self, size: Size) -> tuple[object, ...]:
        """The size as it stands in the name of a graph, part by part."""
        return (size,)

    def schema(self, levels: int) -> str:
        """The schema of versions of a pyramid of so many levels."""
        del levels
        return "1.0"

    @abstractmethod
    def described(self, size: Size, seed: int | None) -> str:
        """The sampling in words."""

    @abstractmethod
    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """The points of a size, the finest or a coarser one, times orientations."""

    def sizes(self, size: Size) -> list[Size]:
        """The size and all coarser ones, finest first."""
        sizes = [size]
        while (coarser := self.coarser(sizes[-1])) is not None:
            sizes.append(coarser)
        return sizes

    def check_library(self) -> None:
        """Check that the package which computes the points is installed.

        Raises:
            CheblienetError: it is not, or does not work.
        """
        return
