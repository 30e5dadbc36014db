"""The base class of the samplings of the sphere: angles, orientations, symmetries."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.points import Points
from cheblienet_graphs.typing import Floats, Indices

POLE = 1e-12
"""Within this distance of the axis a point counts as a pole, where gamma is 0 by convention."""

ON_THE_GRID = 1e-6
"""Largest distance at which a rotated point or orientation counts as falling on a sample."""

HALF_TURN_X = np.diag([1.0, -1.0, -1.0])
HALF_TURN_Y = np.diag([-1.0, 1.0, -1.0])
HALF_TURN_Z = np.diag([-1.0, -1.0, 1.0])
REFLECTION_Y = np.diag([1.0, -1.0, 1.0])
THIRD_TURN = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def turn_z(angle: float) -> Floats:
    """The rotation about the z axis, radians."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def unit_vectors(beta: Floats, gamma: Floats) -> Floats:
    """(N, 3) of colatitudes (N,) and longitudes (N,), radians."""
    across = np.sin(beta)
    return np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)


@dataclass(frozen=True)
class SphereSampling(Points):
    """Points on the unit sphere; `orientations` are samples alpha_k."""

    @abstractmethod
    def pooling(self) -> LevelMap:
        """The map to the next coarser level's points, means by area."""

    @abstractmethod
    def unpooling(self) -> LevelMap:
        """The map from the next coarser level's points."""

    @abstractmethod
    def isometries(self) -> Iterator[tuple[str, Floats]]:
        """Names and orthogonal matrices that may map the points to themselves."""

    @cached_property
    def angles(self) -> tuple[Floats, Floats]:
        """(points,) colatitudes beta in [0, pi] and longitudes gamma in [-pi, pi], radians."""
        # Each in one piece: before numpy 2.1 the last bit of an arc tangent of strided arrays depends
        # on where they lie in memory.
        x, y, z = np.ascontiguousarray(self.base_points.T)
        axis_distance = np.hypot(x, y)
        beta, gamma = np.arctan2(axis_distance, z), np.arctan2(y, x)
        return beta, np.where(axis_distance < POLE, 0.0, gamma)

    def coordinates(self, start: int = 0, stop: int | None = None) -> Floats:
        """(V, 2) beta, gamma, or (V, 3) alpha, beta, gamma; or of the vertices start..stop."""
        fibre, point = self.vertices(start, stop)
        beta, gamma = (angle[point] for angle in self.angles)
        return np.column_stack([fibre, beta, gamma])

    @property
    def extent(self) -> None:
        """None: the sphere has no sides."""
        return

    @property
    def periodic(self) -> bool:
        """False: points have no images."""
        return False

    def symmetries(self) -> Iterator[tuple[str, Indices]]:
        """Names and permutations (V,) of the isometries that map the sampling to itself.

        A permutation P maps vertex v to P[v]. Where an isometry does not map the orientations to
        one another exactly, each goes to the nearest, and the name says "(approximate)".
        """
        from scipy.spatial import KDTree  # slow to import, most builds do without

        tree = KDTree(self.base_points)
        for name, matrix in self.isometries():
            distance, image = tree.query(self.base_points @ matrix.T)
            if distance.max() > ON_THE_GRID or len(np.unique(image)) < len(image):
                continue
            steps = self._orientation_steps(matrix, image) if self.fibre.columns else 0.0
            whole = np.round(steps)
            exact = np.abs(steps - whole).max() <= ON_THE_GRID
            handedness = 1 if np.linalg.det(matrix) > 0 else -1
            orientation = handedness * np.arange(self.orientations)[:, None] + whole
            orientation = orientation.astype(np.int64) % self.orientations
            permutation = orientation * self.num_points + image
            yield name if exact else f"{name} (approximate)", permutation.ravel()

    def _orientation_steps(self, matrix: Floats, image: Indices) -> Floats:
        """(points,) steps between orientations by which an isometry rotates each point's frame."""
        beta, gamma = self.angles
        forward = np.stack(
            [np.cos(beta) * np.cos(gamma), np.cos(beta) * np.sin(gamma), -np.sin(beta)], axis=1
        )
        sideways = np.stack([-np.sin(gamma), np.cos(gamma), np.zeros_like(gamma)], axis=1)
        moved = forward @ matrix.T
        angle = np.arctan2(
            (moved * sideways[image]).sum(axis=1), (moved * forward[image]).sum(axis=1)
        )
        steps: Floats = angle * self.orientations / np.pi
        return steps
