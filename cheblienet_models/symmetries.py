"""The symmetries of a pyramid's graphs, found from what is stored.

Isometries that may map a sampling to itself are tried by name. One counts where it maps vertices,
a place and a direction each, to vertices exactly and leaves the stored Laplacians as they are, on
all levels in question: where a mask left points out, the mask must be mapped to itself.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cheblienet_models.arguments import instance, integer, is_sequence
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.tensors import CsrParts

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
GOLDEN = (1 + math.sqrt(5)) / 2
EXACT = 1e-6
"""How far a moved place or direction may be from one that it is said to fall on."""
UNCHANGED = 1e-5
"""How much an entry of the rescaled Laplacian may change."""

Move = tuple[str, Tensor, Tensor]
"""A name, an orthogonal matrix (d, d), and (points, d) where places go, by x, y, ..."""


@dataclass(frozen=True)
class Motion:
    """The permutation of a level's samples that a symmetry is: v goes to place [v].

    Args:
        vertices: (V,) int64.
        num_points: of the base; of those inside where the graph has a mask.
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
    given, levels = levels, list(levels) if is_sequence(levels) else []
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
    graph, spec = pyramid.levels[level], pyramid.levels[level].stored.spec
    sides = pyramid.levels[coarsest].grid[1:]
    if not spec.geometry.base.flat:
        places, directions = _on_the_sphere(graph.coordinates.cpu())
        moves = [(name, turn, places @ turn.T) for name, turn in _of_the_sphere(sides).items()]
    elif spec.sampling_kind.regular:
        places, directions = _on_a_lattice(graph)
        moves = [*_of_a_lattice(graph.grid[1:], places)]
        if spec.boundary == "periodic":
            moves += _translations(graph.grid[1:], places, sides)
    else:
        return
    arrows = graph.period > math.pi
    here = _vectors(places, directions, arrows=arrows)
    for name, turn, moved in moves:
        turned = None if directions is None else directions @ turn.T
        image = _image(here, _vectors(moved, turned, arrows=arrows))
        if image is not None:
            yield name, Motion(image, graph.num_points, bool(torch.linalg.det(turn) < 0))


def _vectors(places: Tensor, directions: Tensor | None, *, arrows: bool) -> Tensor:
    """(V, k) of places (points or V, d) and directions (V, d), whose sign only arrows have."""
    if directions is None:
        return places
    signed = directions if arrows else (directions[:, :, None] * directions[:, None]).flatten(1)
    return torch.cat([places.repeat(len(directions) // len(places), 1), signed], dim=1)


def _image(here: Tensor, there: Tensor) -> Tensor | None:
    """(V,) which of the vectors each is moved to, (V, k) both; None unless to another exactly.

    Their order along a generic vector, along which no two are equally far, tells which it must be.
    """
    generic = torch.arange(1, here.shape[1] + 1, dtype=here.dtype).sin()
    image = torch.empty(len(here), dtype=torch.long)
    image[(there @ generic).argsort()] = (here @ generic).argsort()
    return image if (here[image] - there).abs().max() <= EXACT else None


def _on_the_sphere(coordinates: Tensor) -> tuple[Tensor, Tensor | None]:
    """(V, 3) places, and directions, those of the frame turned by alpha; None without alpha."""
    alpha, beta, gamma = coordinates[:, :1], coordinates[:, -2:-1], coordinates[:, -1:]
    outward = torch.cat([gamma.cos(), gamma.sin()], dim=1)
    places = torch.cat([beta.sin() * outward, beta.cos()], dim=1)
    if coordinates.shape[1] == 2:
        return places, None
    south = torch.cat([beta.cos() * outward, -beta.sin()], dim=1)
    east = torch.cat([-gamma.sin(), gamma.cos(), torch.zeros_like(gamma)], dim=1)
    return places, alpha.cos() * south + alpha.sin() * east


def _of_the_sphere(sides: tuple[int, ...]) -> dict[str, Tensor]:
    """(3, 3) orthogonal matrices; `sides` are (colatitudes, longitudes) on an equiangular grid."""
    half = {f"half_turn_{name}": _turn(math.pi, axis) for name, axis in AXES.items()}
    step = {"longitude_step": _turn(2 * math.pi / sides[1], AXES["z"])} if len(sides) == 2 else {}
    return half | {
        "reflection": -half["half_turn_y"],
        "quarter_turn_z": _turn(math.pi / 2, AXES["z"]),
        "rotation_120": _turn(-2 * math.pi / 3, (1, 1, 1)),
        "rotation_72": _turn(-2 * math.pi / 5, (0, 1, GOLDEN)),  # about a corner
        **step,
    }


def _on_a_lattice(graph: Graph) -> tuple[Tensor, Tensor | None]:
    """(points, d) steps from the center, and (V, d) directions; None without orientations."""
    shape, fibers = graph.grid[1:], graph.coordinates[:, len(graph.grid) - 1 :].cpu()
    index = torch.arange(math.prod(shape)) if graph.base_index is None else graph.base_index.cpu()
    steps = torch.stack(torch.unravel_index(index.long(), shape)[::-1], dim=1)
    if fibers.shape[1] == 1:
        fibers = torch.cat([fibers.cos(), fibers.sin()], dim=1)
    places = steps - (torch.tensor(shape[::-1]).double() - 1) / 2
    return places, fibers if fibers.shape[1] else None


def _of_a_lattice(shape: tuple[int, ...], places: Tensor) -> Iterator[Move]:
    """Isometries of a box, if it is mapped to itself: a rectangle, or generators in space.

    The planar rotation_90 turns x to y. In space rotation_90_x turns y to z, rotation_90_y z to x,
    rotation_90_z x to y; rotation_120 turns x to z, z to y and y to x, as it does on the sphere.
    """
    half, quarter = (
        {name: _turn(angle, axis) for name, axis in AXES.items()}
        for angle in (math.pi, math.pi / 2)
    )
    planar = {"rotation_90": quarter["z"], "rotation_180": half["z"], "flip": -half["y"]}
    spatial = {
        **{f"rotation_180_{name}": turn for name, turn in half.items()},
        **{f"rotation_90_{name}": turn for name, turn in quarter.items()},
        "rotation_120": _turn(-2 * math.pi / 3, (1, 1, 1)),
        **{f"reflection_{name}": -turn for name, turn in half.items()},
    }
    d, sides = len(shape), torch.tensor(shape[::-1]).double()
    for name, turn in (planar if d == 2 else spatial).items():
        exact = turn[:d, :d].round()
        if torch.equal(exact.abs() @ sides, sides):
            yield name, exact, places @ exact.T


def _translations(
    shape: tuple[int, ...], places: Tensor, coarsest: tuple[int, ...]
) -> Iterator[Move]:
    """One along every axis, by a pixel of the coarsest level.

    One diagonal step would not do: with the rotations it makes the even shifts only.
    """
    for axis, (name, side, steps) in enumerate(
        zip(AXES, shape[::-1], coarsest[::-1], strict=False)
    ):
        moved = places.clone()
        moved[:, axis] += side // steps
        moved[:, axis] -= side * (moved[:, axis] > side / 2)
        yield f"translation_{name}", torch.eye(len(shape)).double(), moved


def _turn(angle: float, axis: tuple[float, float, float]) -> Tensor:
    """(3, 3) rotation about an axis, right-handed."""
    x, y, z = (part * angle / math.hypot(*axis) for part in axis)
    cross = torch.tensor([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=torch.float64)
    rotation: Tensor = torch.linalg.matrix_exp(cross)
    return rotation


def _preserves(graph: Graph, motion: Motion) -> bool:
    """Whether the entries of moved Laplacians are where the stored ones are, and equal."""
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
