"""The fibre of orientations over each point of the base."""

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Fibred(Protocol):
    """Points of the base, each with the same orientations; vertices are orientation-major."""

    @property
    def num_points(self) -> int:
        """Points of the base."""

    @property
    def num_vertices(self) -> int:
        """Points times orientations."""


def orientation_angles(orientations: int) -> npt.NDArray[np.float64]:
    """(n_o,) samples -pi/2 + k pi/n_o, radians in [-pi/2, pi/2)."""
    return np.array([-math.pi / 2 + k * math.pi / orientations for k in range(orientations)])


def vertices(
    sampling: Fibred, start: int, stop: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Orientation and base point of the vertices start..stop, all up to the last for None."""
    index = np.arange(*slice(start, stop).indices(sampling.num_vertices))
    return index // sampling.num_points, index % sampling.num_points
