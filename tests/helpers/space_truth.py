"""Independent truth on lattices in space: all pairs, signed permutation matrices."""

import itertools

import numpy as np
from truth import edges_within, squared_radius


def voxels(shape: tuple[int, int, int]) -> np.ndarray:
    """(V, 3) x, y, z of all voxels, index ((z height) + y) width + x."""
    return np.array([(x, y, z) for z, y, x in itertools.product(*map(range, shape))])


def squared_distances(
    shape: tuple[int, int, int], sides: tuple[float, float, float], *, periodic: bool
) -> np.ndarray:
    """(V, V) in units of the sides' own unit, to the nearest image where periodic."""
    places = voxels(shape)
    offsets = places - places[:, None]
    if periodic:
        period = np.array(shape[::-1])
        offsets = np.minimum(abs(offsets), period - abs(offsets))
    return ((offsets * np.array(sides)) ** 2).sum(axis=2)


def radius_of_lattice(sides: tuple[float, float, float], count: int) -> float:
    """r^2 of the largest union of whole shells of the infinite lattice with at most K members."""
    steps = np.array(list(itertools.product(range(-9, 10), repeat=3)))
    squared = np.sort(((steps * np.array(sides)) ** 2).sum(axis=1))
    return squared_radius(squared[1:], count)


def edges(
    shape: tuple[int, int, int],
    count: int,
    sides: tuple[float, float, float] = (1, 1, 1),
    *,
    periodic: bool = False,
) -> set[tuple[int, int]]:
    """Both directions of each edge, by looking at all pairs."""
    squared = squared_distances(shape, sides, periodic=periodic)
    return set(edges_within(squared, np.full(len(squared), radius_of_lattice(sides, count))))


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
