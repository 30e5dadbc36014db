"""Motions: permutations of the samples of a level."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Motion:
    """The permutation of a level's samples that a symmetry is: v goes to place [v].

    Args:
        base: (points,) int64, of the base.
        vertices: (V,) int64, of the vertices.
    """

    base: Tensor
    vertices: Tensor


def motion(base: Tensor, orientations: Tensor) -> Motion:
    """From (points,) images of the points and (n_o, points or 1) images of the orientations."""
    return Motion(base, (orientations * len(base) + base).flatten())
