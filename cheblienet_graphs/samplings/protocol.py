"""The interface of all samplings."""

from collections.abc import Iterator
from typing import Protocol

from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.typing import Floats, Indices


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
    def base_points(self) -> Floats:
        """(points, d) Cartesian coordinates; unit vectors on the sphere."""

    @property
    def periodic(self) -> bool:
        """Whether points have images, `extent` apart."""

    @property
    def extent(self) -> tuple[float, ...] | None:
        """Sides of the domain of a flat base."""

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, d) coordinates by the manifold's columns, or those of the vertices start..stop."""

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or those of the vertices start..stop."""

    def pooling(self) -> LevelMap:
        """The map from the points to those of the next coarser level."""

    def unpooling(self) -> LevelMap:
        """The map to the points from those of the next coarser level."""

    def probes(self) -> Indices:
        """Points where the effective metric is measured."""

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) that should leave the graph as it is."""
