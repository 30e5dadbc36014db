"""Connected components of a lattice's graph, from its stencils.

On the infinite lattice, as on a torus, an orientation with its pixels is a voltage graph: going
round the cycles of orientations moves by the offsets of a group H, and components are the cosets of
H. The edges of an open lattice are among those of the infinite one, so it has at least as many
components as cosets meet it. It has one where a window of it has one: any two windows a pixel apart
overlap, and all look the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

import numpy as np

from cheblienet_graphs.neighbours.stencil import Stencil, StencilEngine, reach
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.typing import Indices

ENTRIES = 2**17
"""Edges of a window, both directions, that are looked at in any case,"""
SHARE = 64
"""and otherwise one in so many of the lattice's."""


@dataclass(frozen=True)
class Components:
    """How many there are: at least `least`; `exact` is None where it was not found out."""

    least: int
    exact: int | None


def lattice_components(engine: StencilEngine) -> Components:
    """Count without visiting the vertices: O(n_o K), and the edges of a small window."""
    lattice, stencils = engine.lattice, engine.stencils
    groups = list(_groups(stencils))
    if lattice.periodic:
        around = [(lattice.width, 0), (0, lattice.height)]
        exact = sum(_generated([*group, *around]).index for group in groups)
        return Components(exact, exact)
    limit = max(ENTRIES, engine.total_degree // SHARE)
    for window in _windows(lattice, max(reach(stencils))):
        if StencilEngine(window, stencils).total_degree > limit:
            break
        found = _counted(StencilEngine(window, stencils))
        if found == 1 or window == lattice:
            return Components(found, found)
    least = sum(_generated(group).cosets(lattice.width, lattice.height) for group in groups)
    return Components(least, None)


def _windows(lattice: PlaneLattice, longest: int) -> Iterable[PlaneLattice]:
    """Ever larger ones, the lattice itself the last; each overlaps with that a pixel further on."""
    side = 2 * longest + 2
    while side < max(lattice.width, lattice.height):
        width, height = min(side, lattice.width), min(side, lattice.height)
        yield replace(lattice, width=width, height=height)
        side *= 2
    yield lattice


def _counted(engine: StencilEngine) -> int:
    """By labels that fall to the least within reach; each round follows them twice as far.

    Source: Zhang, Azad, Hu, "FastSV", 2020. scipy's own takes longer to import than this to run.
    """
    vertices = engine.lattice.num_vertices
    columns = engine.columns(0, vertices)
    rows = np.repeat(np.arange(vertices), engine.degrees(0, vertices))
    label = np.arange(vertices)
    while True:
        further = label[label]
        near = further[columns]
        found = further.copy()
        np.minimum.at(found, label[rows], near)
        np.minimum.at(found, rows, near)
        if np.array_equal(found, label):
            return int((label == np.arange(vertices)).sum())
        label = found


@dataclass(frozen=True)
class Generated:
    """The subgroup of Z^2 that (a, b) and (0, d) generate, a and d not negative."""

    a: int
    b: int
    d: int

    def with_vector(self, x: int, y: int) -> "Generated":
        """The subgroup that (x, y) belongs to as well, by Euclid's algorithm."""
        a, b = self.a, self.b
        while x:
            times = a // x
            a, b, x, y = x, y, a - times * x, b - times * y
        if a < 0:
            a, b = -a, -b
        d = gcd(self.d, y)
        return Generated(a, b % d if d else b, d)

    @property
    def index(self) -> int:
        """Number of cosets in Z^2, which is finite on a torus."""
        return self.a * self.d

    def cosets(self, width: int, height: int) -> int:
        """A number of cosets that points of a box lie in; all of them, if the box is not tiny."""
        if self.a and self.d:
            return min(width, self.a) * min(height, self.d)
        # Along a line each point but the first has one before it in the same coset.
        x, y = (self.a, abs(self.b)) if self.a else (0, self.d)
        inner = max(width - x, 0) * max(height - y, 0) if (x, y) != (0, 0) else 0
        return width * height - inner


def _generated(vectors: Iterable[tuple[int, int]]) -> Generated:
    group = Generated(0, 0, 0)
    for x, y in vectors:
        group = group.with_vector(x, y)
    return group


def _groups(stencils: Sequence[Stencil]) -> Iterable[list[tuple[int, int]]]:
    """For each set of linked orientations the (dx, dy) by which going round its cycles moves."""
    origin: dict[int, Indices] = {}
    for start in range(len(stencils)):
        if start in origin:
            continue
        origin[start] = np.zeros(2, np.int64)
        linked = [start]
        for k in linked:
            first = np.unique(stencils[k].orientation, return_index=True)
            for other, place in zip(*(part.tolist() for part in first), strict=True):
                if other not in origin:
                    step = (stencils[k].dx[place], stencils[k].dy[place])
                    origin[other] = origin[k] + step
                    linked.append(other)
        moves = [
            origin[k]
            + np.stack([stencils[k].dx, stencils[k].dy], axis=1)
            - np.array([origin[j] for j in stencils[k].orientation.tolist()]).reshape(-1, 2)
            for k in linked
        ]
        yield [tuple(move) for move in np.unique(np.concatenate(moves), axis=0).tolist()]
