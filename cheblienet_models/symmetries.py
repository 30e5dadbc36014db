"""The symmetries of a pyramid's graphs, found from what is stored.

Isometries that may map a sampling to itself are tried by name. One counts where it maps vertices
to vertices exactly and leaves the stored Laplacians as they are, on all levels in question: where a
mask left points out, the mask must be mapped to itself.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from cheblienet_models.arguments import instance, integer, is_sequence
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import is_spherical
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.tensors import Csr


@dataclass(frozen=True)
class Motion:
    """The permutation of a level's samples that a symmetry is: v goes to place [v].

    Args:
        base: (points,) int64, of the base: of the points inside where the graph has a mask.
        vertices: (V,) int64, of the vertices.
        orientations: (n_o,) int64, of the orientations; None where that differs between points.
        reflects: whether it turns left to right.
    """

    base: Tensor
    vertices: Tensor
    orientations: Tensor | None
    reflects: bool


def motion(base: Tensor, orientations: Tensor, *, reflects: bool = False) -> Motion:
    """From (points,) images of the points and (n_o, points or 1) images of the orientations."""
    vertices = (orientations * len(base) + base).flatten()
    alike = orientations[:, 0] if orientations.shape[1] == 1 else None
    return Motion(base, vertices, alike, reflects)


def within(places: Tensor, base_index: Tensor | None) -> Tensor | None:
    """A permutation of the full sampling's points, restricted to those inside a mask.

    Args:
        places: (full points,) int64: where each goes.
        base_index: (points,) ascending, of those inside; None for all.

    Returns:
        (points,) int64, where each goes among those inside; None where one of them leaves.
    """
    if base_index is None:
        return places
    inside = base_index.cpu().long()
    moved = places[inside]
    place = torch.searchsorted(inside, moved).clamp(max=len(inside) - 1)
    return place if torch.equal(inside[place], moved) else None


@dataclass(frozen=True)
class AxisPermutation:
    """An isometry of a box: the place along each axis becomes that along another, maybe reversed.

    Args:
        sources: for each axis the one that it takes its place from.
        reversals: for each axis whether its places are counted from the other end then.
    """

    sources: tuple[int, ...]
    reversals: tuple[bool, ...]

    @property
    def reflects(self) -> bool:
        """Whether it turns left to right: the sign of its determinant."""
        swaps = sum(a > b for a, b in combinations(self.sources, 2))
        return (swaps + sum(self.reversals)) % 2 == 1

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a box of this shape is mapped to itself."""
        return all(shape[axis] == shape[source] for axis, source in enumerate(self.sources))

    def places(self, shape: tuple[int, ...]) -> Tensor:
        """(points,) int64: where each sample of a box that fits goes."""
        old = _indices(shape)
        new = [
            shape[axis] - 1 - old[source] if self.reversals[axis] else old[source]
            for axis, source in enumerate(self.sources)
        ]
        return _flattened(new, shape)

    def images(self, axes: Tensor, *, arrows: bool) -> Tensor | None:
        """(n_o,) int64: where each axis goes; None where one is mapped between others.

        Args:
            axes: (n_o, d) unit vectors by x, y, and so on.
            arrows: whether opposite ones differ.
        """
        backward = axes.flip(1)
        signs = torch.tensor([-1.0 if r else 1.0 for r in self.reversals], dtype=axes.dtype)
        moved = (backward[:, list(self.sources)] * signs).flip(1)
        cosines = moved @ axes.T
        alignment, nearest = (cosines if arrows else cosines.abs()).max(1)
        exact = bool((alignment > 1 - ALIGNED).all())
        return nearest if exact and len(nearest.unique()) == len(axes) else None


ISOMETRIES: dict[int, dict[str, AxisPermutation]] = {
    2: {
        "rotation_90": AxisPermutation((1, 0), (False, True)),
        "rotation_180": AxisPermutation((0, 1), (True, True)),
        "flip": AxisPermutation((0, 1), (True, False)),
    },
    3: {
        "rotation_180_x": AxisPermutation((0, 1, 2), (True, True, False)),
        "rotation_180_y": AxisPermutation((0, 1, 2), (True, False, True)),
        "rotation_180_z": AxisPermutation((0, 1, 2), (False, True, True)),
        "rotation_90_x": AxisPermutation((1, 0, 2), (False, True, False)),
        "rotation_90_y": AxisPermutation((2, 1, 0), (True, False, False)),
        "rotation_90_z": AxisPermutation((0, 2, 1), (False, False, True)),
        "rotation_120": AxisPermutation((2, 0, 1), (False, False, False)),
        "reflection_x": AxisPermutation((0, 1, 2), (False, False, True)),
        "reflection_y": AxisPermutation((0, 1, 2), (False, True, False)),
        "reflection_z": AxisPermutation((0, 1, 2), (True, False, False)),
    },
}
"""Those of a rectangle by axes (y, x): rotation_90 turns x to y, the flip turns y to -y. And
generators of those of a box by axes (z, y, x): rotation_90_x turns y to z, rotation_90_y z to x,
rotation_90_z x to y; rotation_120 turns x to z, z to y and y to x, as it does on the sphere."""
AXES = "zyx"
ALIGNED = 1e-9
"""How far the cosine of the angle between equal axes may be from 1."""

Move = tuple[str, Tensor, Tensor, bool]
"""A name, (points,) images of the full lattice's points, (n_o, 1) images of the orientations, and
whether it reflects."""


def lattice_motions(
    graph: Graph, coarsest: tuple[int, ...], *, periodic: bool
) -> Iterator[tuple[str, Motion]]:
    """Names and motions of the isometries that map samples to samples, inside of a mask if any.

    Args:
        graph: of one level, on a lattice of two or three sides; no others are known.
        coarsest: sides of the coarsest level in question, whose pixel is the step of translations.
        periodic: whether opposite sides are one.
    """
    shape = graph.grid[1:]
    axes, arrows = _axes(graph), graph.period > math.pi
    moves: list[Move] = []
    for name, isometry in ISOMETRIES.get(len(shape), {}).items():
        images: Tensor | None = torch.zeros(1, dtype=torch.long)
        if axes is not None:
            images = isometry.images(axes, arrows=arrows)
        if isometry.fits(shape) and images is not None:
            moves.append((name, isometry.places(shape), images[:, None], isometry.reflects))
    if periodic and len(shape) in ISOMETRIES:  # shifts do not turn them
        moves += _translations(shape, graph.grid[0], coarsest)
    for name, places, orientations, reflects in moves:
        base = within(places, graph.base_index)
        if base is not None:
            yield name, motion(base, orientations, reflects=reflects)


def _axes(graph: Graph) -> Tensor | None:
    """(n_o, d) unit vectors over each sample by x, y, ...; None where there are none."""
    fibers, d = graph.coordinates[:: graph.num_points].cpu(), len(graph.grid) - 1
    if fibers.shape[1] == d + 1:
        return torch.stack([fibers[:, d].cos(), fibers[:, d].sin()], dim=1)
    return fibers[:, d:] if fibers.shape[1] > d else None


def _translations(shape: tuple[int, ...], n_o: int, coarsest: tuple[int, ...]) -> Iterator[Move]:
    """One along every axis, x first.

    One diagonal step would not do: with the rotations it makes the even shifts only.
    """
    names = AXES[-len(shape) :]
    k = torch.arange(n_o)[:, None]
    for axis in reversed(range(len(shape))):
        new = list(_indices(shape))
        new[axis] = (new[axis] + shape[axis] // coarsest[axis]) % shape[axis]
        yield f"translation_{names[axis]}", _flattened(new, shape), k, False


def _indices(shape: tuple[int, ...]) -> tuple[Tensor, ...]:
    """(*shape) int64 of each axis: the place of every sample along it."""
    return torch.meshgrid(*map(torch.arange, shape), indexing="ij")


def _flattened(places: list[Tensor], shape: tuple[int, ...]) -> Tensor:
    """(points,) index of samples in row-major order from their places along each axis."""
    index = torch.zeros_like(places[0])
    for place, side in zip(places, shape, strict=True):
        index = index * side + place
    return index.flatten()


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
        reflects = bool(torch.linalg.det(matrix) < 0)
        if graph.coordinates.shape[1] > 2:  # besides the angles of the place
            steps = _turns(beta, gamma, matrix, base) * (graph.orientations / graph.period)
            if (steps - steps.round()).abs().max() > ON_THE_GRID:
                continue
            sense = -1 if reflects else 1
            orientations = (sense * orientations + steps.round().long()) % graph.orientations
        yield name, motion(base, orientations, reflects=reflects)


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
    every = [graph.laplacian_parts(), *(Csr(*of[:3]) for of in graph.directional.values())]
    return all(_preserved(laplacian, motion) for laplacian in every)


def _preserved(laplacian: Csr, motion: Motion) -> bool:
    """The same of one."""
    rows, columns, values = (
        part.cpu() for part in (laplacian.rows(), laplacian.columns.long(), laplacian.values)
    )
    vertices = len(motion.vertices)
    moved = motion.vertices[rows] * vertices + motion.vertices[columns]
    moved, order = moved.sort()
    same = torch.equal(moved, rows * vertices + columns)
    return same and bool((values[order] - values).abs().max() <= UNCHANGED)
