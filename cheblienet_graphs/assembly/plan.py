"""What a build would publish, and the memory and disk it takes, known before it begins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.assembly.gradients import gradient_entries
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.errors import Found, Remedy, SpecError, Words
from cheblienet_graphs.limits import byte_count
from cheblienet_graphs.samplings.given_tables import again_on_poles
from cheblienet_graphs.samplings.masked import CutSampling
from cheblienet_graphs.search.choice import Choice, choose
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store.staged import csr_nbytes, index_type
from cheblienet_graphs.typing import Progress

BLOCK_ROWS = 65_536
"""Vertices in a block without a memory limit, where rows are computed."""
MOST_BLOCK_ROWS = 2**20
"""Most vertices in a block, which is a matter of seconds; without a limit as many copied rows."""
LEAST_BLOCK_ROWS = 1_024
"""Fewest vertices in a block."""

PROCESS = {"stencil": 100e6, "search": 350e6}
"""What a process takes before it does a block: interpreter, libraries, for a search torch too."""

GRADIENT = 2_000
"""What a vertex of a block takes for each field of its gradient, unless it is copied."""

VORONOI = 1_000
"""What a point takes besides, while its Voronoi cell is computed."""


@dataclass(frozen=True)
class PlannedLevel:
    """Size of a level before it is built: vertices, undirected edges, stored entries."""

    vertices: int
    edges: int
    nnz: int


@dataclass(frozen=True)
class Plan:
    """The levels that a build would publish; `nbytes` is the size of their arrays.

    On lattices the numbers are exact, but for gradients inside a mask; elsewhere, where neighbors
    have to be searched for, edges, entries and bytes are upper bounds.
    """

    spec: GraphSpec
    levels: tuple[PlannedLevel, ...]
    nbytes: int
    exact: bool


def plan(spec: GraphSpec) -> Plan:
    """The levels that building a spec would publish, without building them.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: the neighbor rule gives no edge, which is known beforehand on lattices.
    """
    check_spec(spec)
    return planned(levels_of(spec, choose(spec.sampling, device="cpu", weights=spec.weights)))


def check_spec(given: object) -> None:
    """Refuse a name or a mapping in place of a specification, and one of maps alone.

    Raises:
        TypeError: it is one of these.
        SpecError: its points have a row on a pole.
    """
    if not isinstance(given, GraphSpec):
        raise TypeError(
            f'spec must be a GraphSpec, such as GraphSpec("se2", 64). Got {type(given).__name__}.'
        )
    points = given.coordinates
    if points is None or points.extent is not None:
        return
    for level, (places, _) in points.arrays.items():
        if count := len(again_on_poles(places)):
            found = Found(f"{count:,} of level {level} that are on a pole again")
            remedy = "Leave these out, or use them in maps, as a source or a target."
            raise SpecError("coordinates", "different points in a graph", found, remedy)


def levels_of(spec: GraphSpec, choice: Choice, progress: Progress = lambda *_: None) -> list[Level]:
    """The levels of a build, finest first."""
    levels = [Level(spec, choice, progress=progress)]
    while len(levels) < spec.levels:
        levels.append(levels[-1].coarser)
    return levels


def planned(levels: Sequence[Level]) -> Plan:
    """The plan of these levels, finest first.

    Raises:
        SpecError: as `plan`.
    """
    spec, sizes = levels[0].spec, []
    nbytes = sum(_map_nbytes(fine) for fine in levels[:-1])
    for level in levels:
        vertices, entries = level.num_vertices, level.degree_bound
        sizes.append(PlannedLevel(vertices, entries // 2, entries + vertices))
        for each in (entries, *(of.degree_bound for of in level.directed.values())):
            nbytes += csr_nbytes((vertices, vertices), each + vertices)
        nbytes += vertices * (8 * len(spec.geometry.columns) + 4 + 4)  # coordinates, degree, area
        nbytes += _gradient_nbytes(level) if spec.gradients else 0
        nbytes += (spec.eigenpairs or 0) * (8 + 4 * vertices)
        if level.inside is not None:
            shape, points = (level.inside.full.num_points, 1), len(level.inside.places)
            nbytes += points * np.dtype(index_type(shape, points)).itemsize
        if isinstance(level.inside, CutSampling):
            filling = level.inside.filling
            nbytes += level.inside.fraction.size * 4
            nbytes += csr_nbytes(filling.shape, len(filling.indices))
    exact = spec.sampling_kind.regular and not (spec.gradients and spec.mask)
    return Plan(spec, tuple(sizes), nbytes, exact=exact)


def _gradient_nbytes(level: Level) -> int:
    """Size of both parts of a level's gradients."""
    shape = (len(level.spec.geometry.frame) * level.num_vertices, level.num_vertices)
    return sum(csr_nbytes(shape, nnz) for nnz in gradient_entries(level).values() if nnz)


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


def rows_within(level: Level, memory_limit: int | str | None, processes: int) -> int:
    """Vertices in a block so that all processes together stay within a limit.

    Args:
        level: the finest.
        memory_limit: bytes, or text such as "2GB"; None is no limit.
        processes: that do blocks.

    Raises:
        SpecError: nothing does.
    """
    if memory_limit is None:
        return MOST_BLOCK_ROWS if level.copied else BLOCK_ROWS
    limit = byte_count("memory_limit", memory_limit)
    kept, row = _kept(level), _row(level)
    rows = int((limit - kept * processes - _vectors(level)) / processes / row)
    if rows < LEAST_BLOCK_ROWS:
        least = processes * (kept + LEAST_BLOCK_ROWS * row) + _vectors(level)
        remedy = Words("Use fewer ", Remedy("workers"), ".") if processes > 1 else ""
        several = "s" if processes > 1 else ""
        raise SpecError(
            "memory_limit",
            f"at least {human_bytes(int(least))} here, with {processes} worker{several}",
            human_bytes(limit),
            remedy,
        )
    return min(rows, MOST_BLOCK_ROWS)


def scratch_nbytes(level: Level) -> int:
    """Disk space that a level takes while it is built, besides what is published."""
    vertices, entries = level.num_vertices, level.degree_bound + level.num_vertices
    unscaled = 0 if level.spec.lambda_max == 2 else 4 * entries
    unscaled += sum(4 * (of.degree_bound + vertices) for of in level.directed.values())
    sums = 0 if level.copied else 24 * vertices * (1 + len(level.directed))
    if level.spec.gradients:
        sums += 16 * len(level.spec.geometry.frame) * vertices  # counts of both parts
    if level.choice.engine == "stencil":
        at_edges = [of.edge_rows for of in (level, *level.directed.values())]
        listed = [int(rows.nnz) for rows in at_edges if rows is not None]
        return unscaled + sums + 16 * sum(listed) + 8 * vertices * len(listed)
    given_points = 32 * level.spec.base_points(level.number) if level.spec.coordinates else 0
    lists = 8 * level.full_vertices * (level.spec.neighbors or 0)
    edges = 24 * entries if level.weights_listed else lists  # their lengths, one for each listed
    return unscaled + sums + lists + edges + given_points


def _row(level: Level) -> int:
    """Bytes that a vertex of a block takes; copies are made few at a time, whatever the block."""
    entries = 0 if level.copied else level.degree_bound // level.num_vertices + 1
    computed = level.spec.gradients and not level.whole_lattice
    fields = len(level.spec.geometry.frame) if computed else 0
    each = 20 if level.choice.engine == "stencil" else 300
    return 100 + entries * each + fields * GRADIENT


def _kept(level: Level) -> float:
    """Bytes that a process keeps from block to block."""
    if level.choice.engine == "stencil":
        return PROCESS["stencil"]
    diagram = level.spec.sampling_kind.seeded or level.choice.engine == "diagram"
    cells = VORONOI if diagram else 0
    return PROCESS["search"] + 150 * level.num_vertices + cells * level.sampling.num_points


def _vectors(level: Level) -> int:
    """Bytes of the vectors from which the building process finds lambda_max and eigenpairs.

    With the cells of given points, which it computes for all.
    """
    recursion = 0 if level.spec.lambda_max == 2 and not level.directed else 5
    given_points = level.spec.coordinates
    cells = VORONOI * given_points.count if given_points and given_points.areas == "voronoi" else 0
    return cells + 8 * level.num_vertices * (recursion + 4 * (level.spec.eigenpairs or 0))
