"""Rotations and reflections of a box that map its pixels to pixels."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class Motion:
    """A signed permutation of the axes, which are in the order of a lattice's shape.

    Args:
        name: of the symmetry.
        axes: for each axis the one that is mapped to it.
        signs: 1 where the order of places along the axis is kept, -1 where it is reversed.
        quarter_turns: number of rotations by 90 degrees, from x towards y, of orientations in the
            plane.
        handedness: -1 where it reverses the sense of rotation, else 1.
    """

    name: str
    axes: tuple[int, ...]
    signs: tuple[int, ...]
    quarter_turns: int = 0
    handedness: int = 1

    def moved(self, places: Sequence[Indices], shape: Sequence[int]) -> Iterator[Indices]:
        """The places that pixels are mapped to, axis by axis."""
        for axis, sign, side in zip(self.axes, self.signs, shape, strict=True):
            yield places[axis] if sign > 0 else side - 1 - places[axis]

    @property
    def matrix(self) -> Floats:
        """(d, d) orthogonal, for vectors (x, y, ...)."""
        moved = np.array(self.signs)[:, None] * np.eye(len(self.axes))[list(self.axes)]
        return moved[::-1, ::-1]


QUARTER_TURN = Motion("rotation_90", (1, 0), (1, -1), quarter_turns=1)
HALF_TURN = Motion("rotation_180", (0, 1), (-1, -1))
FLIP = Motion("flip", (0, 1), (-1, 1), handedness=-1)
THIRD_TURN = Motion("rotation_120", (2, 0, 1), (1, 1, 1))
LETTERS = "zyx"
"""Names of the axes of three-dimensional lattices, in the order of their shape."""


def motions(shape: tuple[int, ...], spacings: tuple[float, ...]) -> Iterator[Motion]:
    """Generators of the group of rotations and reflections of a box.

    Args:
        shape: (height, width) or (depth, height, width).
        spacings: of the pixels along each axis; empty where all are equal.
    """
    sides = [(n, s) for n, s in zip(shape, spacings or [1.0] * len(shape), strict=True)]
    if len(shape) == 2:
        if sides[0] == sides[1]:
            yield QUARTER_TURN
        yield HALF_TURN
        yield FLIP
        return
    for first, second in itertools.combinations(reversed(range(3)), 2):
        if sides[first] == sides[second]:
            yield _quarter_turn(first, second)
    if sides[0] == sides[1] == sides[2]:
        yield THIRD_TURN
    for axis in reversed(range(3)):
        signs = [1 if other == axis else -1 for other in range(3)]
        yield Motion(f"rotation_180_{LETTERS[axis]}", (0, 1, 2), tuple(signs))
    for axis in reversed(range(3)):
        signs = [-1 if other == axis else 1 for other in range(3)]
        yield Motion(f"reflection_{LETTERS[axis]}", (0, 1, 2), tuple(signs))


def _quarter_turn(first: int, second: int) -> Motion:
    """The rotation by 90 degrees about the axis that is neither of two."""
    axes, signs = [0, 1, 2], [1, 1, 1]
    axes[first], axes[second] = second, first
    signs[first] = -1
    return Motion(f"rotation_90_{LETTERS[3 - first - second]}", tuple(axes), tuple(signs))
