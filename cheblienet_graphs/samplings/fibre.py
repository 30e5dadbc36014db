"""Vertices of samplings that have the same fibre over each point."""

from typing import Protocol

import numpy as np

from cheblienet_graphs.manifolds.fibre import Fibre
from cheblienet_graphs.typing import Floats, Indices


class Fibred(Protocol):
    """Points of the base, each with the same orientations; vertices are orientation-major."""

    @property
    def orientations(self) -> int:
        """Samples along the fibre, n_o."""

    @property
    def fibre(self) -> Fibre:
        """The fibre over each point."""

    @property
    def num_points(self) -> int:
        """Points of the base."""

    @property
    def num_vertices(self) -> int:
        """Points times orientations."""


def fibre_coordinates(sampling: Fibred) -> Floats:
    """(n_o, f) coordinates of the samples along the fibre; f = 0 where there is none."""
    samples = sampling.fibre.samples(sampling.orientations)
    return np.array(samples).reshape(sampling.orientations, len(sampling.fibre.columns))


def vertices(sampling: Fibred, start: int, stop: int | None) -> tuple[Indices, Indices]:
    """Orientation and base point of the vertices start..stop, all up to the last for None."""
    index = np.arange(*slice(start, stop).indices(sampling.num_vertices))
    return index // sampling.num_points, index % sampling.num_points
