"""The symmetries of a pyramid's graphs, found from what is stored.

Isometries that may map a sampling to itself are tried by name. One counts where it maps vertices to
vertices exactly and leaves the stored Laplacian as it is, on all levels in question.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cheblienet_models.graph import Graph, Pyramid

ON_THE_GRID = 1e-6
"""How far a turned point or orientation may be from a sample that it is said to fall on."""
UNCHANGED = 1e-5
"""How much an entry of the rescaled Laplacian may change."""
GOLDEN = (1 + math.sqrt(5)) / 2


@dataclass(frozen=True)
class Motion:
    """What a symmetry does to the samples of a level: v goes to place [v].

    Args:
        base: (points,) int64, of the base.
        vertices: (V,) int64, of the vertices.
    """

    base: Tensor
    vertices: Tensor


def symmetries(pyramid: Pyramid, levels: Sequence[int]) -> dict[str, dict[int, Motion]]:
    """Name and, for each level, motion of the symmetries that some levels share.

    On planar lattices these are among rotation_90, rotation_180, flip and, where the plane is
    periodic, translation_x and translation_y, by one pixel of the coarsest of the levels; on the
    sphere half_turn_x, half_turn_y, half_turn_z, quarter_turn_z, reflection (of y), the
    icosahedron's rotation_120 and rotation_72 and, on equiangular grids, longitude_step, one of the
    coarsest of the levels.

    Args:
        pyramid: whose levels.
        levels: at least one, 0 the finest.
    """
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
    oriented = spec.get("manifold") in ("se2", "so3")
    if spec.get("manifold") in ("s2", "so3"):
        yield from _sphere_motions(graph, sides, oriented=oriented)
    elif spec.get("sampling") == "lattice":
        periodic = spec.get("boundary") == "periodic"
        yield from _lattice_motions(graph, sides, oriented=oriented, periodic=periodic)


def _lattice_motions(
    graph: Graph, coarsest: tuple[int, ...], *, oriented: bool, periodic: bool
) -> Iterator[tuple[str, Motion]]:
    """Pixel (y, x) and orientation k, theta = -pi/2 + k pi/n_o, of the lattice's isometries.

    The rotation by 90 degrees turns theta by pi/2, which is on the grid for even n_o only.
    """
    n_o, height, width = graph.grid
    k = torch.arange(n_o)[:, None]
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    if height == width and (n_o % 2 == 0 or not oriented):
        yield "rotation_90", _motion(_pixel(x, width - 1 - y, width), (k + n_o // 2) % n_o)
    yield "rotation_180", _motion(_pixel(height - 1 - y, width - 1 - x, width), k)
    yield "flip", _motion(_pixel(height - 1 - y, x, width), (n_o - k) % n_o)
    if periodic:
        down, right = height // coarsest[0], width // coarsest[1]
        # Both: with the rotations a diagonal step makes the even shifts only.
        yield "translation_x", _motion(_pixel(y, (x + right) % width, width), k)
        yield "translation_y", _motion(_pixel((y + down) % height, x, width), k)


def _pixel(y: Tensor, x: Tensor, width: int) -> Tensor:
    return (y * width + x).flatten()


def _motion(base: Tensor, orientations: Tensor) -> Motion:
    """From (points,) images of the points and (n_o, points or 1) images of the orientations."""
    return Motion(base, (orientations * len(base) + base).flatten())


def _sphere_motions(
    graph: Graph, coarsest: tuple[int, ...], *, oriented: bool
) -> Iterator[tuple[str, Motion]]:
    """The isometries that map points to points and orientations to orientations."""
    points = graph.num_vertices // graph.orientations
    beta, gamma = graph.coordinates[:points, -2:].cpu().T
    for name, matrix in _isometries(coarsest):
        base = _images(_unit_vectors(beta, gamma), matrix)
        if base is None:
            continue
        orientations = torch.arange(graph.orientations)[:, None]
        if oriented:
            steps = _turns(beta, gamma, matrix, base) * graph.orientations / math.pi
            if (steps - steps.round()).abs().max() > ON_THE_GRID:
                continue
            handedness = 1 if torch.linalg.det(matrix) > 0 else -1
            orientations = (handedness * orientations + steps.round().long()) % graph.orientations
        yield name, _motion(base, orientations)


def _isometries(sides: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    """(3, 3) orthogonal matrices; `sides` are (colatitudes, longitudes) on an equiangular grid."""
    yield "half_turn_x", _diagonal(1, -1, -1)
    yield "half_turn_y", _diagonal(-1, 1, -1)
    yield "half_turn_z", _diagonal(-1, -1, 1)
    yield "reflection", _diagonal(1, -1, 1)
    yield "quarter_turn_z", _turn_z(math.pi / 2)
    yield "rotation_120", torch.eye(3, dtype=torch.float64).roll(1, 1)
    yield "rotation_72", _fifth_turn()
    if len(sides) == 2:
        yield "longitude_step", _turn_z(2 * math.pi / sides[1])


def _diagonal(*entries: int) -> Tensor:
    return torch.tensor(entries, dtype=torch.float64).diag()


def _turn_z(angle: float) -> Tensor:
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]], dtype=torch.float64)


def _fifth_turn() -> Tensor:
    """The rotation by 72 degrees about a corner (0, 1, golden ratio) of the icosahedron."""
    y, z = (part / math.hypot(1, GOLDEN) for part in (1, GOLDEN))
    cross = torch.tensor([[0, z, -y], [-z, 0, 0], [y, 0, 0]], dtype=torch.float64)
    angle = 2 * math.pi / 5
    identity = torch.eye(3, dtype=torch.float64)
    return identity + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def _unit_vectors(beta: Tensor, gamma: Tensor) -> Tensor:
    """(points, 3) of colatitudes and longitudes (points,)."""
    sine = beta.sin()
    return torch.stack([sine * gamma.cos(), sine * gamma.sin(), beta.cos()], dim=1)


def _images(points: Tensor, matrix: Tensor) -> Tensor | None:
    """(points,) which point each of (points, 3) is mapped to; None unless to another exactly.

    Their order along a generic direction, in which no two are equally far, tells which it must be.
    """
    direction = torch.tensor([0.5772156649, 0.9159655941, -0.6931471806], dtype=points.dtype)
    moved = points @ matrix.T
    image = torch.empty(len(points), dtype=torch.long)
    image[(moved @ direction).argsort()] = (points @ direction).argsort()
    exact = (points[image] - moved).abs().max() <= ON_THE_GRID
    return image if exact else None


def _turns(beta: Tensor, gamma: Tensor, matrix: Tensor, image: Tensor) -> Tensor:
    """(points,) by how much, radians, the frame of each point is turned on its way to its image."""
    forward = torch.stack([beta.cos() * gamma.cos(), beta.cos() * gamma.sin(), -beta.sin()], dim=1)
    sideways = torch.stack([-gamma.sin(), gamma.cos(), torch.zeros_like(gamma)], dim=1)
    moved = forward @ matrix.T
    return torch.atan2((moved * sideways[image]).sum(1), (moved * forward[image]).sum(1))


def _preserves(graph: Graph, motion: Motion) -> bool:
    """Whether the entries of the moved Laplacian are where the stored ones are, and equal."""
    rows = torch.arange(graph.num_vertices).repeat_interleave(graph.row_pointers.cpu().diff())
    columns, values = graph.columns.cpu().long(), graph.values.cpu()
    moved = motion.vertices[rows] * graph.num_vertices + motion.vertices[columns]
    moved, order = moved.sort()
    same = torch.equal(moved, rows * graph.num_vertices + columns)
    return same and bool((values[order] - values).abs().max() <= UNCHANGED)
