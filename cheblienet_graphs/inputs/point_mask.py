"""Masks with a value for each point, which say where their points are."""

import math
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.inputs.inside import Booleans
from cheblienet_graphs.typing import Floats

NEAR = 0.05
"""Coordinates may be off by this share of the mean spacing of the points: files round them."""
REMEDY = "Give the mask of this sampling, or the sampling of this mask."


@dataclass(frozen=True, eq=False)
class PointMask:
    """A mask of points of the sphere, in any order.

    Args:
        inside: (N,) bool.
        latitudes: (N,) degrees.
        longitudes: (N,) degrees.
    """

    inside: Booleans
    latitudes: Floats
    longitudes: Floats

    def __repr__(self) -> str:
        """Its size in a line, without the values."""
        return f"PointMask({len(self.inside):,} points, {self.inside.sum():,} inside)"

    def at(self, latitudes: Floats, longitudes: Floats) -> Booleans:
        """(N,) True for each point inside.

        Args:
            latitudes: (N,) of a sampling, degrees.
            longitudes: (N,) the same.

        Raises:
            SpecError: the sampling has other points.
        """
        from scipy.spatial import KDTree  # what reads stores does without

        count, wanted = len(self.inside), len(latitudes)
        if count != wanted:
            accepted = f"on the {wanted:,} points of the sampling"
            raise SpecError("mask", accepted, Unquoted(f"one of {count:,} points"), REMEDY)
        own, points = (
            _unit_vectors(*one)
            for one in ((self.latitudes, self.longitudes), (latitudes, longitudes))
        )
        distances, nearest = KDTree(own).query(points)
        far = float(distances.max())
        if far > NEAR * math.sqrt(4 * math.pi / count) or len(np.unique(nearest)) < count:
            found = f"one with points up to {math.degrees(far):.3g} degrees away from them"
            raise SpecError("mask", "on the points of the sampling", Unquoted(found), REMEDY)
        return np.asarray(self.inside[nearest], np.bool_)


def _unit_vectors(latitudes: Floats, longitudes: Floats) -> Floats:
    """(N, 3) of degrees."""
    height, turn = np.radians(latitudes), np.radians(longitudes)
    across = np.cos(height)
    return np.stack([across * np.cos(turn), across * np.sin(turn), np.sin(height)], axis=1)
