"""Values on a grid of voxels, and where these are in the world."""

import math
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.inputs.files import reals
from cheblienet_graphs.inputs.masks import Booleans, Values, ambiguous
from cheblienet_graphs.typing import Floats

SHEAR = 1e-3
"""Largest cosine between two directions of the voxels: 0.06 degrees off a right angle."""
DIGITS = 6
"""Significant digits of a spacing: what an affine in single precision says of it."""
EQUAL = 1e-5
"""Sides of voxels are equal where they differ by at most so much of themselves."""
APART = 1e-2
"""Grids are one where their corners are at most so many voxels apart."""


@dataclass(frozen=True, eq=False)
class Volume:
    """Values on voxels, and the affine that takes these to the world.

    Voxel (i, j, k) is at i + W (j + H k): i runs along x, which is the tensor's last axis.

    Args:
        values: (D, H, W), or (C, D, H, W) with several values a voxel; of any dtype.
        affine: (4, 4), from (i, j, k, 1) to (x, y, z, 1) in the world. Its directions must be at
            right angles; flips, rotations and other orders of axes are welcome.

    Raises:
        SpecError: values are of another shape, or the affine has shear, is singular or not finite.
    """

    values: Values
    affine: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values))
        object.__setattr__(self, "affine", _checked(reals("affine", self.affine)))
        if self.values.ndim not in (3, 4) or not self.values.size:
            shape = self.values.shape
            raise SpecError("values", "of shape (D, H, W) or (C, D, H, W), not empty", shape)

    def __repr__(self) -> str:
        """Size, values and spacing in a line, without the values."""
        several = f"{len(self.values)} x " if self.values.ndim == 4 else ""
        sides = " x ".join(f"{side:g}" for side in self.spacing)
        return f"Volume({_by(self.size)} voxels, {several}{self.values.dtype}, spacing {sides})"

    @property
    def size(self) -> tuple[int, int, int]:
        """(W, H, D) voxels along i, j and k."""
        depth, height, width = self.values.shape[-3:]
        return width, height, depth

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Distance of neighboring voxels along i, j and k, in the world's unit; of 6 digits.

        Sides that differ by less than 1e-5 of themselves are equal: headers are rounded.
        """
        sides: list[float] = []
        for length in np.linalg.norm(self.affine[:3, :3], axis=0):
            equal = (side for side in sides if math.isclose(side, length, rel_tol=EQUAL))
            sides.append(next(equal, length))
        along_i, along_j, along_k = (float(f"{side:.{DIGITS}g}") for side in sides)
        return along_i, along_j, along_k

    @property
    def rotation(self) -> Floats:
        """(3, 3), orthogonal; column a is the direction of the world in which index a grows.

        An axis n of a graph, which is a direction of the voxels, is rotation @ n in the world; a
        function f of the world's directions is f(rotation @ n) on the graph. A flip, or axes in
        another order, are in it, so its determinant may be -1.
        """
        matrix = self.affine[:3, :3]
        left, _, right = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0))
        rotation: Floats = left @ right
        return rotation

    def check_grid(self, like: "Volume") -> None:
        """Refuse a grid that is not another one's.

        Args:
            like: the other one. Corners may be 0.01 voxels apart, as headers are rounded.

        Raises:
            SpecError: the number of voxels differs, or the place of any.
        """
        if not isinstance(like, Volume):
            raise SpecError("like", "a Volume", like)
        if self.size != like.size:
            accepted = f"{_by(like.size)} voxels, as of the other volume"
            raise SpecError("size", accepted, Found(_by(self.size)))
        corners = np.indices((2, 2, 2)).reshape(3, -1) * (np.array(self.size)[:, None] - 1)
        places = np.vstack([corners, np.ones(8)])
        apart = float(np.abs((self.affine - like.affine) @ places).max())
        if apart > APART * min(like.spacing):
            accepted = "that of the other volume"
            raise SpecError("affine", accepted, Found(f"one by which corners are {apart:.3g} off"))


def inside_of_volume(values: Values) -> Booleans:
    """Inside is where a mask is not 0, of which it has one value besides, such as 1 or 255.

    Args:
        values: of any shape; bool or numbers.

    Raises:
        SpecError: it has more than one besides 0, as labels and probabilities have, or NaN.
    """
    inside: Booleans = values != 0
    others = values[inside]
    if others.size and not (others == others[0]).all():  # which NaN is not
        raise ambiguous("holds more than one value besides 0, or NaN; save 0 and 1")
    return inside


def _checked(affine: Floats) -> Floats:
    """An affine with directions at right angles."""
    if affine.shape != (4, 4):
        raise SpecError("affine", "of shape (4, 4)", affine.shape)
    lengths = np.linalg.norm(affine[:3, :3], axis=0)
    if not np.isfinite(affine).all() or not (lengths > 0).all():
        found = Found("one with a spacing of 0 or without numbers")
        raise SpecError("affine", "finite, with voxels of a size", found)
    directions = affine[:3, :3] / lengths
    cosine = float(np.abs(directions.T @ directions - np.eye(3)).max())
    if cosine > SHEAR:
        angle = math.degrees(math.acos(min(cosine, 1.0)))
        raise SpecError(
            "affine",
            "without shear, its directions at right angles",
            Found(f"{angle:.4g} degrees between two"),
            "Resample the image onto a grid without shear.",
        )
    return affine


def _by(size: tuple[int, ...]) -> str:
    return " x ".join(map(str, size))
