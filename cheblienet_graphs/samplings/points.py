"""Points of which the Cartesian coordinates are computed, with the same fibre over each."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.manifolds.fibre import NO_FIBRE, Fibre
from cheblienet_graphs.typing import Floats, Indices


def fibre_coordinates(fibre: Fibre, orientations: int) -> Floats:
    """(n_o, f) coordinates of the samples along a fibre; f = 0 where there is none."""
    return np.array(fibre.samples(orientations)).reshape(orientations, len(fibre.columns))


@dataclass(frozen=True)
class Points(ABC):
    """Points, times orientations; vertices are ordered orientation-major.

    Args:
        orientations: samples of the fibre, -pi/2 + k pi/n_o; 1 where there is none.
        fibre: over each point.
    """

    orientations: int = 1
    fibre: Fibre = NO_FIBRE

    @cached_property
    @abstractmethod
    def base_points(self) -> Floats:
        """(points, d) Cartesian coordinates; unit vectors on the sphere."""

    @cached_property
    @abstractmethod
    def base_areas(self) -> Floats:
        """(points,) areas in units of their mean."""

    @property
    def num_points(self) -> int:
        """Points of one orientation."""
        return len(self.base_points)

    @property
    def num_vertices(self) -> int:
        """Vertices altogether."""
        return self.orientations * self.num_points

    def areas(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V,) areas in units of their mean, or those of the vertices start..stop."""
        areas: Floats = self.base_areas[self.vertices(start, stop)[1]]
        return areas

    def vertices(self, start: int, stop: int | None) -> tuple[Floats, Indices]:
        """Fibre coordinates (N, f) and points (N,) of the vertices start..stop; None is V."""
        index = np.arange(*slice(start, stop).indices(self.num_vertices))
        samples = fibre_coordinates(self.fibre, self.orientations)
        return samples[index // self.num_points], index % self.num_points

    def probes(self) -> Indices:
        """Points where the effective metric is measured: all of them."""
        return np.arange(self.num_points)
