"""The interface of all samplings: their points, and how a specification gives the size of each."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.limits import Range, integer
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.base import Base, Fiber
from cheblienet_graphs.samplings.maps import Parents
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.lattice import Lattice
    from cheblienet_graphs.samplings.voronoi import Diagram
    from cheblienet_graphs.spec import GraphSpec

Size = Any
"""(width, height[, depth]) of a lattice, `GivenPoints`, "O32" of a Gaussian grid, one integer for
the other samplings."""


class Sampling(ABC):
    """Points of the base, each with the same orientations; vertices are orientation-major.

    They are the domain of a graph: a whole sampling, or the part of one that is inside a mask. What
    a domain knows of the points outside is here, with the answers of a whole one.
    """

    orientations: int
    """The number of orientations, n_o; 1 where the manifold has none."""
    fiber: Fiber
    """The same over each point."""
    periodic: bool
    """True if points have images, `extent` apart."""
    places: Indices | None = None
    """(points,) where they are in the full sampling, ascending; None of a whole one."""
    filling: Csr | None = None
    """(all points, points) what each of them shows of a signal, where the domain cuts pixels."""
    mean_area: float = 1.0
    """The mean area of the points, in units of the mean over all points that share their
    weights."""

    @property
    @abstractmethod
    def full(self) -> "SamplingKind":
        """All points, also outside a mask."""

    @property
    def lattice(self) -> "Lattice | None":
        """The lattice that they are all or some pixels of; None elsewhere."""
        return None

    @property
    def whole_lattice(self) -> "Lattice | None":
        """The lattice that they are all pixels of; None elsewhere."""
        return self.lattice if self.places is None else None

    @property
    def celled(self) -> "Sampling":
        """The points that define the Voronoi cells: all points, or the points inside."""
        return self

    def cells_diagram(self, remedy: str) -> "Diagram":
        """The Voronoi cells of the points, clipped where the points are in a region.

        Args:
            remedy: for points that are too close.

        Raises:
            CheblienetError: some can't be distinguished.
        """
        from cheblienet_graphs.samplings.voronoi import voronoi_diagram

        return voronoi_diagram(self.base_points, self.extent, periodic=self.periodic, remedy=remedy)

    @abstractmethod
    def without_fiber(self) -> "Sampling":
        """The points alone, without orientations."""

    @cached_property
    def fraction(self) -> Floats:
        """(all points,) the part of each in the domain."""
        return np.ones(self.num_points)

    @property
    def points_at_edge(self) -> int:
        """Points next to places that are not wholly inside."""
        return 0

    @property
    def inside_share(self) -> float:
        """The share of all points inside, or of the area, where the domain cuts pixels."""
        return self.num_points / self.full.num_points

    @property
    def cut_statistics(self) -> dict[str, float] | None:
        """Shares and masses of points with pixels that the domain cuts; None where it cuts none.

        "share" of the points with a cut pixel, "least" and "most" mass of a point, in pixels.
        """
        return None

    @property
    def outside(self) -> Floats:
        """(N, d) Cartesian coordinates of the points outside."""
        return self.base_points[:0]

    def among_all(self, vertices: Indices) -> Indices:
        """(N,) the numbers of vertices in the full sampling."""
        return vertices

    def numbers_inside(self, points: Indices) -> Indices:
        """(N,) the numbers of points of the full sampling among the points inside; -1 outside."""
        return points

    def edges(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices, Indices]:
        """Edges of the full sampling as edges between vertices inside.

        Args:
            rows: (N,) one of their ends, numbered among all vertices.
            columns: (N,) the other one.

        Returns:
            (M,) rows, columns and places among all of the M edges with both ends inside.
        """
        return rows, columns, np.arange(len(rows))

    @property
    @abstractmethod
    def num_points(self) -> int:
        """Points of the base."""

    @property
    def num_vertices(self) -> int:
        """Points times orientations, V."""
        return self.orientations * self.num_points

    @property
    @abstractmethod
    def base_points(self) -> Floats:
        """(points, d) Cartesian coordinates; unit vectors on the sphere."""

    @property
    def extent(self) -> tuple[float, ...] | None:
        """Sides of the domain of a flat base; None on the sphere."""
        return None

    @abstractmethod
    def base_coordinates(self, points: Indices) -> Floats:
        """(N, d) coordinates along the base of some points, (N,), by the manifold's columns."""

    @property
    @abstractmethod
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""

    @cached_property
    def fiber_coordinates(self) -> Floats:
        """(n_o, f) coordinates of the samples along the fiber; f = 0 where there is none."""
        samples = np.array(self.fiber.samples(self.orientations))
        return samples.reshape(self.orientations, len(self.fiber.columns))

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, d) coordinates by the manifold's columns, or only of the vertices start..stop.

        Coordinates along the fiber come last over a flat base, and first over the sphere.
        """
        return self._coordinates_of(np.arange(*slice(start, stop).indices(self.num_vertices)))

    def _coordinates_of(self, vertices: Indices) -> Floats:
        """(N, d) coordinates of some vertices, (N,)."""
        sample, point = self._decoded(vertices)
        columns = [self.base_coordinates(point), self.fiber_coordinates[sample]]
        return np.concatenate(columns if self.extent is not None else columns[::-1], axis=1)

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or only of the vertices start..stop.

        A point's, times the share of the fiber that its sample has.
        """
        sample, point = self._decoded(np.arange(*slice(start, stop).indices(self.num_vertices)))
        areas: Floats = self.base_areas[point]
        areas *= np.array(self.fiber.shares(self.orientations))[sample]
        return areas

    def _decoded(self, vertices: Indices) -> tuple[Indices, Indices]:
        """Samples of the fiber (N,) and points (N,) of vertices, (N,)."""
        sample = vertices // self.num_points
        return sample, vertices - sample * self.num_points

    @abstractmethod
    def pooling(self) -> Csr:
        """The map from the points to the next coarser level: means by area."""

    @abstractmethod
    def unpooling(self) -> Csr:
        """The map to the points from the next coarser level."""

    def depth_of(self, _point: int) -> int:
        """Steps from a point to the nearest place not wholly inside; 0 where none is known."""
        return 0

    def probes(self) -> Indices:
        """Points where the effective metric is measured: all of them unless overridden."""
        return np.arange(self.num_points)

    @abstractmethod
    def symmetries(self, *more: str) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,), v to P[v], that should leave the graph as it is.

        Where a symmetry does not map the orientations to one another exactly, each goes to one next
        to its image, and the name says "(approximate)".

        Args:
            more: names of isometries of the sphere to try besides the sampling's own.
        """


def periods(sampling: Sampling, offsets: Floats) -> Floats:
    """(N, d) the whole periods that are nearest to offsets along the base; 0 without any."""
    if not sampling.periodic or not sampling.extent:
        return np.zeros_like(offsets)
    return np.round(offsets / sampling.extent) * sampling.extent


S = TypeVar("S", bound=Sampling, covariant=True)


@dataclass(frozen=True)
class SampledManifold(Generic[S]):
    """A sampling with the metric, which together define distances between vertices.

    Args:
        sampling: the points.
        manifold: on which the points lie.
        metric: R, lengths in units of the base.
    """

    sampling: S
    manifold: Manifold
    metric: Metric


class SamplingKind(Sampling):
    """A way of choosing points: what its class knows of any size; `sampled` makes the points."""

    name: ClassVar[str]
    field: ClassVar[str]
    """Name of the parameter that holds its size."""
    sizes_accepted: ClassVar[Range[int]]
    """The range of sizes that are integers."""
    regular: ClassVar[bool] = False
    """True for lattices, on which stencils exist."""
    seeded: ClassVar[bool] = False
    """True if points are drawn from a seed."""
    longitudes: ClassVar[str] = "[-pi, pi]"
    """Range of the longitudes that it gives to points of a sphere."""
    default_levels: ClassVar[Literal["worthwhile", "one", "all"]] = "worthwhile"
    """Levels of a pyramid by default: the ones with enough points, the finest alone, or all."""
    default_weights: ClassVar[str] = "kernel"
    """Name of the weights by default, where the manifold has them; else those of the paper."""
    schemas: ClassVar[tuple[str, str]] = ("1.0", "1.0")
    """The schema of versions with one level, and with several."""
    words: ClassVar[str]
    """The sampling in words, {} its size."""

    @classmethod
    def parse(cls, size: object, _base: Base) -> Size:
        """Check a size and normalize it.

        Raises:
            SpecError: it is not valid.
        """
        return integer(cls.field, size, *cls.sizes_accepted)

    @classmethod
    def points(cls, size: Size) -> int:
        """Number of points that a size makes: the size itself unless overridden."""
        return int(size)

    @classmethod
    def coarser(cls, size: Size) -> Size | None:
        """Size of the next coarser level, None where there is none; half of an even one."""
        return None if size % 2 else size // 2

    @classmethod
    def grid(cls, size: Size) -> tuple[int, ...]:
        """Shape in which a signal on the points is laid out; (height, width) on a lattice."""
        return (cls.points(size),)

    @classmethod
    def squared_spacing(cls, size: Size, base: Base) -> float:
        """Area of the base for each point; on a lattice h^2 in any dimension."""
        return base.measure / cls.points(size)

    @classmethod
    def links(cls, fine: Size, _coarse: Size) -> int:
        """Most stored entries of a map between two levels; one for each fine point by default."""
        return cls.points(fine)

    @classmethod
    def name_parts(cls, size: Size) -> tuple[object, ...]:
        """The size as it stands in the name of a graph, part by part."""
        return (size,)

    @classmethod
    def described(cls, size: Size) -> str:
        """The sampling in words."""
        return cls.words.format(size)

    @classmethod
    @abstractmethod
    def sampled(cls, size: Size, spec: "GraphSpec") -> "SamplingKind":
        """The points of a size, a specification's finest or a coarser one, times orientations."""

    @classmethod
    def sizes(cls, size: Size) -> list[Size]:
        """The size and all coarser ones, finest first."""
        sizes = [size]
        while (coarser := cls.coarser(sizes[-1])) is not None:
            sizes.append(coarser)
        return sizes

    @property
    def full(self) -> "SamplingKind":
        """All points: these."""
        return self

    @abstractmethod
    def without_fiber(self) -> "SamplingKind":
        """The points alone, without orientations."""

    @property
    @abstractmethod
    def parents(self) -> Parents:
        """The points of the next coarser level that each belongs to."""

    def pooling(self) -> Csr:
        """The map to the next coarser level's points, means by area."""
        return self.parents.pooling(self.base_areas)

    def unpooling(self) -> Csr:
        """The map that gives each point the mean of the coarser points that it belongs to."""
        return self.parents.unpooling()
