"""The interface of all samplings: their points, and how a specification gives the size of each."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.limits import Integers, integer
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.manifolds.base import Base, Fiber
from cheblienet_graphs.samplings.maps import Parents
from cheblienet_graphs.typing import Floats, Indices

Size = Any
"""(width, height[, depth]) of a lattice, `GivenPoints`, "O32" of a Gaussian grid, one integer for
the other samplings."""


class Sampling(ABC):
    """Points of the base, each with the same orientations; vertices are orientation-major."""

    orientations: int
    """n_o; 1 where the manifold has none."""
    fiber: Fiber
    """The same over each point."""
    periodic: bool
    """Whether points have images, `extent` apart."""

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
        """(V, d) coordinates by the manifold's columns, or those of the vertices start..stop.

        Those along the fiber come last over a flat base, and first over the sphere.
        """
        return self._coordinates_of(np.arange(*slice(start, stop).indices(self.num_vertices)))

    def _coordinates_of(self, vertices: Indices) -> Floats:
        """(N, d) coordinates of some vertices, (N,)."""
        sample, point = self._decoded(vertices)
        columns = [self.base_coordinates(point), self.fiber_coordinates[sample]]
        return np.concatenate(columns if self.extent is not None else columns[::-1], axis=1)

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or those of the vertices start..stop.

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
        """The map from the points to those of the next coarser level: means by area."""

    @abstractmethod
    def unpooling(self) -> Csr:
        """The map to the points from those of the next coarser level."""

    def probes(self) -> Indices:
        """Points where the effective metric is measured: all of them unless overridden."""
        return np.arange(self.num_points)

    @abstractmethod
    def symmetries(self, *more: str) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,), v to P[v], that should leave the graph as it is.

        Where a symmetry does not map the orientations to one another exactly, each goes to one next
        to its image, and the name says "(approximate)".

        Args:
            more: names of isometries of the sphere to try besides those of the sampling.
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


@dataclass(frozen=True)
class Setting:
    """What the samplings of all levels of a specification have in common.

    Args:
        base: that is sampled.
        fiber: over each point.
        orientations: samples of the fiber, n_o.
        periodic: whether opposite sides are glued.
        seed: of random points; None where nothing is random.
        finest: size of the finest level.
        spacing: sides of voxels along x, y and z, 1 along x; None where all are equal.
    """

    base: Base
    fiber: Fiber
    orientations: int
    periodic: bool
    seed: int | None
    finest: Size
    spacing: tuple[float, ...] | None = None


class SamplingKind(Sampling):
    """A way of choosing points: what its class knows of any size; `sampled` makes the points."""

    name: ClassVar[str]
    field: ClassVar[str]
    """Name of the parameter that holds its size."""
    sizes_accepted: ClassVar[Integers]
    """Where sizes are integers, their range."""
    regular: ClassVar[bool] = False
    """Whether it is a lattice, on which stencils exist."""
    seeded: ClassVar[bool] = False
    """Whether it is drawn from a seed."""
    longitudes: ClassVar[str] = "[-pi, pi]"
    """Range of those that it gives to points of a sphere."""
    default_levels: ClassVar[Literal["worthwhile", "one", "all"]] = "worthwhile"
    """Levels of a pyramid by default: those of enough points, the finest alone, all there are."""
    schemas: ClassVar[tuple[str, str]] = ("1.0", "1.0")
    """The schema of versions with one level, and of those with several."""
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
    def sampled(cls, size: Size, setting: Setting) -> "SamplingKind":
        """The points of a size, the finest or a coarser one, times orientations."""

    @classmethod
    def sizes(cls, size: Size) -> list[Size]:
        """The size and all coarser ones, finest first."""
        sizes = [size]
        while (coarser := cls.coarser(sizes[-1])) is not None:
            sizes.append(coarser)
        return sizes

    @property
    @abstractmethod
    def parents(self) -> Parents:
        """The points of the next coarser level that each belongs to."""

    def pooling(self) -> Csr:
        """The map to the next coarser level's points, means by area."""
        return self.parents.pooling(self.base_areas)

    def unpooling(self) -> Csr:
        """The map that gives each point the mean of those that it belongs to."""
        return self.parents.unpooling()
