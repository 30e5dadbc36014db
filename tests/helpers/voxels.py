"""Graphs of voxels made by hand: neighbors along the axes, each axis with a weight of its own."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from cheblienet_models import Graph, LevelMap, Pyramid
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.store.levels import Level

Shape = tuple[int, int, int]


def csr(dense: np.ndarray) -> CsrArrays:
    """With an entry in every place that is not 0, and on the diagonal of a square matrix."""
    rows, columns = np.nonzero(dense)
    pointers = np.searchsorted(rows, np.arange(len(dense) + 1))
    data = dense[rows, columns].astype(np.float32)
    return CsrArrays(dense.shape, pointers.astype(np.int32), columns.astype(np.int32), data)


def places(shape: Shape) -> np.ndarray:
    """(D H W, 3) whole numbers x, y, z of the voxels in the order of vertices."""
    depth, height, width = shape
    return np.array([(x, y, z) for z in range(depth) for y in range(height) for x in range(width)])


def voxels(shape: Shape, number: int, weights: Sequence[float], *, periodic: bool) -> Graph:
    """A level of (depth, height, width) voxels.

    Args:
        shape: at least 3 voxels along every axis where it is periodic.
        number: of the level.
        weights: of edges along x, y and z.
        periodic: whether opposite sides are one.
    """
    found = places(shape)
    sides = np.array(shape[::-1])
    gap = abs(found[:, None] - found)
    if periodic:
        gap = np.minimum(gap, sides - gap)
    adjacent = gap.sum(2) == 1
    weight = np.where(adjacent, gap @ np.asarray(weights, dtype=float), 0)
    degree = weight.sum(1)
    # 2 Delta / 2 - I for the normalized Laplacian, whose spectrum is in [0, 2]: zeros on the
    # diagonal, which is stored all the same.
    rescaled = -weight / np.sqrt(np.outer(degree, degree))
    stored = csr(rescaled + np.eye(len(found)))
    on_diagonal = np.repeat(np.arange(len(found)), np.diff(stored.indptr)) == stored.indices
    stored.data[on_diagonal] = 0
    level = Level(
        f"voxels@v001, level {number}",
        (1, *shape),
        stored,
        "normalized",
        2.0,
        torch.from_numpy(degree.astype(np.float32)),
        torch.ones(len(found)),
        torch.from_numpy(found / sides[0]),
    )
    return Graph((list, (number,)), level)


def pyramid_of_voxels(
    shape: Shape, weights: Sequence[float] = (1, 1, 1), *, periodic: bool = False, levels: int = 1
) -> Pyramid:
    """Levels of half the sides each; every coarse voxel has the mean of eight."""
    shapes = [tuple(side >> number for side in shape) for number in range(levels)]
    graphs = [voxels(s, n, weights, periodic=periodic) for n, s in enumerate(shapes)]
    poolings, unpoolings = [], []
    for fine, (s, t) in enumerate(pairwise(shapes)):
        member = (places(t)[:, None] == places(s) // 2).all(2)
        poolings.append(LevelMap((tuple, ("pool", fine)), csr(member / 8)))
        unpoolings.append(LevelMap((tuple, ("unpool", fine)), csr(member.T)))
    spec = {
        "manifold": "r3",
        "sampling": "lattice",
        "size": list(shape[::-1]),
        "orientations": 1,
        "boundary": "periodic" if periodic else "open",
        "levels": levels,
    }
    identity = Identity("voxels", "v001", "0" * 64, spec)
    return Pyramid((list, ()), identity, graphs, poolings, unpoolings)
