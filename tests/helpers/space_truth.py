"""Independent truth on lattices in space: signed permutation matrices."""

import itertools

import numpy as np


def voxels(shape: tuple[int, int, int]) -> np.ndarray:
    """(V, 3) x, y, z of all voxels, index ((z height) + y) width + x."""
    return np.array([(x, y, z) for z, y, x in itertools.product(*map(range, shape))])


MOTIONS = [
    np.diag(signs)[list(order)]
    for order in itertools.permutations(range(3))
    for signs in itertools.product((1, -1), repeat=3)
]
"""(3, 3) by x, y, z: the rotations and reflections of a cube."""
ROTATIONS = [matrix for matrix in MOTIONS if np.linalg.det(matrix) > 0]


def moved_voxels(side: int, matrix: np.ndarray) -> np.ndarray:
    """(V,) where a motion of the cube takes each voxel."""
    centered = 2 * voxels((side, side, side)) - (side - 1)
    x, y, z = ((centered @ matrix.T + side - 1) // 2).T
    return (z * side + y) * side + x


def cube_symmetries(side: int) -> list[np.ndarray]:
    """The permutations (V,) of the voxels by all 48 rotations and reflections of a cube."""
    return [moved_voxels(side, matrix) for matrix in MOTIONS]
