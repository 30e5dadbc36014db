"""Isometries of the sphere that may map its samplings to themselves."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from cheblienet_models.graphs.geometry import is_oriented
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.symmetries.motion import Motion, motion

ON_THE_GRID = 1e-6
"""How far a turned point or orientation may be from a sample that it is said to fall on."""
GOLDEN = (1 + math.sqrt(5)) / 2


def sphere_motions(graph: Graph, coarsest: tuple[int, ...]) -> Iterator[tuple[str, Motion]]:
    """Names and motions of the isometries that map points to points and orientations likewise.

    Args:
        graph: of one level.
        coarsest: sides of the coarsest level in question, whose step of longitude is tried.
    """
    points = graph.num_vertices // graph.orientations
    beta, gamma = graph.coordinates[:points, -2:].cpu().T
    for name, matrix in _isometries(coarsest):
        base = _images(_unit_vectors(beta, gamma), matrix)
        if base is None:
            continue
        orientations = torch.arange(graph.orientations)[:, None]
        if is_oriented(graph, 2):
            steps = _turns(beta, gamma, matrix, base) * graph.orientations / math.pi
            if (steps - steps.round()).abs().max() > ON_THE_GRID:
                continue
            handedness = 1 if torch.linalg.det(matrix) > 0 else -1
            orientations = (handedness * orientations + steps.round().long()) % graph.orientations
        yield name, motion(base, orientations)


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
