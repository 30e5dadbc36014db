"""The symmetries of a pyramid's graphs, found from what is stored.

Isometries that may map a sampling to itself are tried by name. One counts where it maps vertices
to vertices exactly and leaves the stored Laplacians as they are, on all levels in question: where a
mask left points out, the mask must be mapped to itself.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from cheblienet_models.arguments import instance, integer, is_sequence
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import is_spherical
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.symmetries.motions import Motion, lattice_motions, sphere_motions

UNCHANGED = 1e-5
"""How much an entry of the rescaled Laplacian may change."""


def symmetries(pyramid: Pyramid, levels: Sequence[int]) -> dict[str, dict[int, Motion]]:
    """Name and, for each level, motion of the symmetries that some levels share.

    On planar lattices these are among rotation_90, rotation_180, flip and, where the plane is
    periodic, translation_x and translation_y, by one pixel of the coarsest of the levels.

    On lattices in space, with axes over each voxel or without, they are among rotation_180_x,
    rotation_180_y, rotation_180_z;
    rotation_90_x, rotation_90_y, rotation_90_z where the two sides across the axis are equal;
    rotation_120, about the diagonal of a cube; reflection_x (x to -x), reflection_y, reflection_z;
    and, where space is periodic, translation_x, translation_y and translation_z, by one voxel of
    the coarsest of the levels.

    On the sphere they are among half_turn_x, half_turn_y, half_turn_z, quarter_turn_z, reflection
    (of y), the icosahedron's rotation_120 and rotation_72 and, on equiangular grids,
    longitude_step, one of the coarsest of the levels.

    Args:
        pyramid: whose levels.
        levels: at least one, 0 the finest.

    Returns:
        By name of the symmetry and level; empty where there are none.
    """
    instance("pyramid", pyramid, Pyramid)
    given, levels = levels, list(levels) if is_sequence(levels) else []
    if not levels or max(integer("levels", level, 0) for level in levels) >= len(pyramid.levels):
        known = len(pyramid.levels) - 1
        raise ValueError(f"levels must be one or more in [0, {known}]. Got {quoted(given)}.")
    motions = {level: dict(_motions(pyramid, level, max(levels))) for level in levels}
    shared = set.intersection(*(set(found) for found in motions.values()))
    candidates = {
        name: {level: found[name] for level, found in motions.items()}
        for name in motions[levels[0]]
        if name in shared
    }
    return {
        name: moved
        for name, moved in candidates.items()
        if all(_preserves(pyramid.levels[n], m) for n, m in moved.items())
    }


def _motions(pyramid: Pyramid, level: int, coarsest: int) -> Iterator[tuple[str, Motion]]:
    """The motions of a level that map its vertices to vertices."""
    graph, spec = pyramid.levels[level], pyramid.spec
    sides = pyramid.levels[coarsest].grid[1:]
    if is_spherical(spec):
        yield from sphere_motions(graph, sides)
    elif spec.get("sampling") == "lattice" and "boundary" in spec:
        yield from lattice_motions(graph, sides, periodic=spec["boundary"] == "periodic")


def _preserves(graph: Graph, motion: Motion) -> bool:
    """Whether the entries of moved Laplacians are where the stored ones are, and equal."""
    every = [graph.laplacian_parts(), *(of[:3] for of in graph.directional.values())]
    return all(_preserved(parts, motion) for parts in every)


def _preserved(parts: tuple[Tensor, Tensor, Tensor], motion: Motion) -> bool:
    """The same of one, in CSR form."""
    pointers, columns, values = (part.cpu() for part in parts)
    vertices, columns = len(pointers) - 1, columns.long()
    rows = torch.arange(vertices).repeat_interleave(pointers.diff())
    moved = motion.vertices[rows] * vertices + motion.vertices[columns]
    moved, order = moved.sort()
    same = torch.equal(moved, rows * vertices + columns)
    return same and bool((values[order] - values).abs().max() <= UNCHANGED)
