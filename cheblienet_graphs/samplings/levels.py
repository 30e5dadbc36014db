"""The samplings of a specification's levels."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.pooling import LevelMap
from cheblienet_graphs.samplings.equiangular import Equiangular
from cheblienet_graphs.samplings.healpix import Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.plane import PlaneLattice
from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere
from cheblienet_graphs.spec import GraphSpec


class Sampling(Protocol):
    """Points of the base, each with the same orientations; vertices are orientation-major."""

    @property
    def orientations(self) -> int:
        """n_o; 1 where the manifold has none."""

    @property
    def num_points(self) -> int:
        """Points of the base."""

    @property
    def num_vertices(self) -> int:
        """Points times orientations, V."""

    @property
    def base_points(self) -> npt.NDArray[np.float64]:
        """(points, 2 or 3) Cartesian coordinates; unit vectors on the sphere."""

    @property
    def periodic(self) -> bool:
        """Whether points have images, `extent` apart."""

    @property
    def extent(self) -> tuple[float, float] | None:
        """Width and height of the plane's domain."""

    def coordinates(self, start: int = 0, stop: int | None = None) -> npt.NDArray[np.float64]:
        """(V, d) as the manifold's columns say, or those of the vertices start..stop."""

    def areas(self, start: int = 0, stop: int | None = None) -> npt.NDArray[np.float64]:
        """(V,) in units of their mean, or those of the vertices start..stop."""

    def pooling(self) -> LevelMap:
        """From the points to those of the next coarser level."""

    def unpooling(self) -> LevelMap:
        """To the points from those of the next coarser level."""

    def probes(self) -> npt.NDArray[np.int64]:
        """Points where the effective metric is measured."""

    def symmetries(self) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
        """Names and permutations (V,) that should leave the graph as it is."""


def sampling(spec: GraphSpec, level: int) -> Sampling:
    """The sampling of a level, 0 the finest."""
    size = spec.level_size(level)
    orientations, oriented = spec.orientations, spec.geometry.oriented
    periodic = spec.boundary == "periodic"
    if spec.sampling == "lattice":
        width, height = size
        return PlaneLattice(width, height, orientations, oriented, periodic)
    if spec.sampling == "random":
        seed = spec.seed or 0
        if spec.geometry.base == "plane":
            return RandomPlane(size, seed, orientations, oriented, periodic)
        return RandomSphere(orientations, oriented, size, seed)
    if spec.sampling == "icosahedral":
        return Icosphere(orientations, oriented, size)
    if spec.sampling == "healpix":
        return Healpix(orientations, oriented, size)
    return Equiangular(orientations, oriented, size)
