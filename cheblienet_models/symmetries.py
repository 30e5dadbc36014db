"""The symmetries of a pyramid's graphs.

Symmetries of the samplings are tried by name. One counts where it maps vertices, a place and a
direction each, to vertices exactly and leaves the stored Laplacians as they are, on all levels in
question: where a mask left points out, the mask must be mapped to itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.samplings.points import ISOMETRIES
from cheblienet_models.arguments import instance, integer, is_sequence
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.tensors import CsrParts

UNCHANGED = 1e-5
"""Largest change of an entry of the rescaled Laplacian."""
STEPS = {"translation_x": -1, "translation_y": -2, "translation_z": -3, "longitude_step": -1}
"""Symmetries by one step of a level, and the side of its grid along which that is."""
REFLECTIONS = ("flip", "reflection")
"""First words of the symmetries that turn left to right."""


@dataclass(frozen=True)
class Motion:
    """The permutation of a level's samples that a symmetry is: v goes to place [v].

    Args:
        vertices: (V,) int64.
        num_points: of the base; only the ones inside where the graph has a mask.
        reflects: whether it turns left to right.
    """

    vertices: Tensor
    num_points: int
    reflects: bool

    @property
    def base(self) -> Tensor:
        """(points,) int64, of the base."""
        return self.vertices[: self.num_points] % self.num_points

    @property
    def orientations(self) -> Tensor | None:
        """(n_o,) int64, of the orientations; None where that differs between points."""
        samples = self.vertices.view(-1, self.num_points) // self.num_points
        return samples[:, 0] if bool((samples == samples[:, :1]).all()) else None


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
    given = levels
    levels = list(levels) if is_sequence(levels) else []
    if not levels or max(integer("levels", level, 0) for level in levels) >= len(pyramid.levels):
        known = len(pyramid.levels) - 1
        raise ValueError(f"levels must be one or more in [0, {known}]. Got {quoted(given)}.")
    motions = {level: dict(_motions(pyramid, level, max(levels))) for level in levels}
    first, *_ = motions.values()
    shared = [name for name in first if all(name in found for found in motions.values())]
    return {
        name: {level: found[name] for level, found in motions.items()}
        for name in shared
        if all(_preserves(pyramid.levels[n], found[name]) for n, found in motions.items())
    }


def _motions(pyramid: Pyramid, level: int, coarsest: int) -> Iterator[tuple[str, Motion]]:
    """The motions of a level that map its vertices to vertices."""
    graph = pyramid.levels[level]
    sides = pyramid.levels[coarsest].grid
    for name, permutation in graph.stored.sampling.symmetries(*ISOMETRIES):
        if "approximate" in name:
            continue
        side = STEPS.get(name, 0)
        image = permutation
        for _ in range(1, graph.grid[side] // sides[side]):
            image = permutation[image]
        vertices = torch.from_numpy(np.ascontiguousarray(image))
        yield name, Motion(vertices, graph.num_points, name.startswith(REFLECTIONS))


def frame_turns(graph: Graph, motion: Motion) -> Tensor:
    """(points,) float64 angle from a point's first direction, moved, to that where it is moved.

    Args:
        graph: on s2, so3, r2 or se2.
        motion: a rotation or a reflection of the whole space.
    """
    coordinates, image = graph.coordinates[: graph.num_points].cpu(), motion.base
    if graph.spec["manifold"] in {"r2", "se2"}:
        places = coordinates[:, :2] - coordinates[:, :2].mean(0)
        frames = torch.eye(2, dtype=places.dtype).expand(len(places), 2, 2)
    else:
        beta, gamma = coordinates[:, -2:].T
        south = [beta.cos() * gamma.cos(), beta.cos() * gamma.sin(), -beta.sin()]
        east = [-gamma.sin(), gamma.cos(), torch.zeros_like(gamma)]
        places = torch.stack([beta.sin() * gamma.cos(), beta.sin() * gamma.sin(), beta.cos()], 1)
        frames = torch.stack([torch.stack(south, 1), torch.stack(east, 1)], 1)
    # The orthogonal matrix that moves the places (Kabsch 1976).
    left, _, right = torch.linalg.svd(places[image].T @ places)
    left[:, -1] *= torch.linalg.det(left @ right) * (-1 if motion.reflects else 1)
    moved = frames[:, 0] @ (left @ right).T
    first, second = (frames[image] @ moved[..., None])[..., 0].T
    return torch.atan2(second, first)


def _preserves(graph: Graph, motion: Motion) -> bool:
    """True if the entries of moved Laplacians are where the stored ones are, and equal."""
    every = [graph.laplacian_parts(), *(CsrParts(*of[:3]) for of in graph.directional.values())]
    return all(_preserved(laplacian, motion) for laplacian in every)


def _preserved(laplacian: CsrParts, motion: Motion) -> bool:
    """The same of one."""
    rows, columns, values = (
        part.cpu() for part in (laplacian.rows(), laplacian.columns.long(), laplacian.values)
    )
    vertices = len(motion.vertices)
    moved = motion.vertices[rows] * vertices + motion.vertices[columns]
    moved, order = moved.sort()
    same = torch.equal(moved, rows * vertices + columns)
    return same and bool((values[order] - values).abs().max() <= UNCHANGED)
