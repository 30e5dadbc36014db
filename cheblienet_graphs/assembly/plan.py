"""The size of what a build would publish, known before it begins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.neighbours.choice import Choice, choose
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.staged import csr_nbytes, index_type
from cheblienet_graphs.typing import Progress


@dataclass(frozen=True)
class PlannedLevel:
    """Size of a level before it is built: vertices, undirected edges, stored entries."""

    vertices: int
    edges: int
    nnz: int


@dataclass(frozen=True)
class Plan:
    """The levels that a build would publish; `nbytes` is the size of their arrays.

    On lattices the numbers are exact; elsewhere, where neighbours have to be searched for, edges,
    entries and bytes are upper bounds.
    """

    spec: GraphSpec
    levels: tuple[PlannedLevel, ...]
    nbytes: int
    exact: bool


def plan(spec: GraphSpec) -> Plan:
    """The levels that building a spec would publish, without building them.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: the neighbour rule gives no edge, which is known beforehand on lattices.
    """
    check_spec(spec)
    return planned(spec, levels_of(spec, choose(spec.sampling, device="cpu", weights=spec.weights)))


def check_spec(given: object) -> None:
    """Refuse a name or a mapping in place of a specification.

    Raises:
        TypeError: it is one of these.
    """
    if not isinstance(given, GraphSpec):
        raise TypeError(
            f'spec must be a GraphSpec, such as GraphSpec("se2", 64). Got a {type(given).__name__}.'
        )


def levels_of(spec: GraphSpec, choice: Choice, progress: Progress = lambda *_: None) -> list[Level]:
    """The levels of a build, finest first.

    Raises:
        CheblienetError: the library of the sampling is not installed.
    """
    spec.sampling_kind.check_library()
    levels = [Level(spec, choice, progress=progress)]
    while len(levels) < spec.levels:
        levels.append(levels[-1].coarser)
    return levels


def planned(spec: GraphSpec, levels: Sequence[Level]) -> Plan:
    """The plan of these levels.

    Raises:
        SpecError: as `plan`.
    """
    sizes: list[PlannedLevel] = []
    nbytes = sum(_map_nbytes(fine) for fine in levels[:-1])
    for level in levels:
        vertices, entries = level.num_vertices, level.degree_bound
        sizes.append(PlannedLevel(vertices, entries // 2, entries + vertices))
        for each in (entries, *(of.degree_bound for of in level.directed.values())):
            nbytes += csr_nbytes((vertices, vertices), each + vertices)
        nbytes += vertices * (8 * len(spec.geometry.columns) + 4 + 4)  # coordinates, degree, area
        nbytes += (spec.eigenpairs or 0) * (8 + 4 * vertices)
        if level.inside is not None:
            points = len(level.inside.places)
            nbytes += points * np.dtype(index_type((level.inside.points, 1), points)).itemsize
    return Plan(spec, tuple(sizes), nbytes, exact=spec.sampling_kind.regular)


def _map_nbytes(level: Level) -> int:
    """Size of the maps between a level and the next one."""
    spec, fine, coarse = level.spec, level.num_vertices, level.coarser.num_vertices
    if level.inside is None:
        sizes = (spec.level_size(level.number), spec.level_size(level.number + 1))
        down = up = spec.sampling_kind.links(*sizes)
    else:
        down, up = (len(m.indices) for m in (level.sampling.pooling(), level.sampling.unpooling()))
    shapes = {(coarse, fine): down, (fine, coarse): up}
    return sum(csr_nbytes(shape, spec.orientations * links) for shape, links in shapes.items())
