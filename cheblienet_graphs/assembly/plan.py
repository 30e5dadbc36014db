"""The size of a build's result, and the memory and disk it takes, known before it begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cheblienet_graphs.assembly.gradient_rows import gradient_entries
from cheblienet_graphs.assembly.level_plan import LevelPlan, level_plans
from cheblienet_graphs.csr import index_type
from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.limits import byte_count
from cheblienet_graphs.samplings.given_tables import again_on_poles
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.search.choice import DIAGRAM, STENCILS
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store.staged import csr_nbytes

BLOCK_ROWS = 65_536
"""Vertices in a block without a memory limit, where rows are computed."""
MOST_BLOCK_ROWS = 2**20
"""Most vertices in a block, which is a matter of seconds; without a limit as many copied rows."""
LEAST_BLOCK_ROWS = 1_024
"""Fewest vertices in a block."""

PROCESS = {"stencil": 100e6, "search": 350e6}
"""Bytes that a process takes before a block: interpreter, libraries, for a search torch too."""

GRADIENT = 2_000
"""Bytes that a vertex of a block takes for each field of its gradient, unless it is copied."""

PLANNED = 100
"""Bytes of a point in a plan that is sent to other processes: coordinates, areas, place, number."""

VORONOI = 1_000
"""Further bytes that a point takes while its Voronoi cell is computed."""


@dataclass(frozen=True)
class Plan:
    """The levels that a build would publish; `nbytes` is the size of their arrays.

    Each level has the numbers `vertices`, `edges` and `nnz`, its stored entries. On lattices they
    are exact, but for gradients inside a mask; elsewhere, where neighbors have to be searched for,
    edges, entries and bytes are upper bounds.
    """

    spec: GraphSpec
    levels: tuple[LevelPlan, ...]
    nbytes: int
    exact: bool


def plan(spec: GraphSpec) -> Plan:
    """The levels that building a spec would publish, without building them.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: the neighbor rule gives no edge, which is known beforehand on lattices.

    Example:
        >>> plan(GraphSpec("se2", 96, orientations=6)).nbytes // 10**6
        12
    """
    check_spec(spec)
    return planned(level_plans(spec, spec.weighting.choose(spec.sampling_kind, "auto", "cpu")))


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
            found = Unquoted(f"{count:,} of level {level} that are on a pole again")
            remedy = "Leave these out, or use them in maps, as a source or a target."
            raise SpecError("coordinates", "different points in a graph", found, remedy)


def planned(levels: Sequence[LevelPlan]) -> Plan:
    """The plan of these levels, finest first.

    Raises:
        SpecError: as `plan`.
    """
    spec = levels[0].spec
    nbytes = sum(_map_nbytes(fine, coarse) for fine, coarse in pairwise(levels))
    for level in levels:
        vertices = level.vertices
        for each in (level, *level.directed.values()):
            nbytes += csr_nbytes((vertices, vertices), each.nnz)
        nbytes += vertices * (8 * len(spec.geometry.columns) + 4 + 4)  # coordinates, degree, area
        nbytes += _gradient_nbytes(level) if spec.gradients else 0
        nbytes += (spec.eigenpairs or 0) * (8 + 4 * vertices)
        nbytes += 0 if spec.mask is None else _domain_nbytes(level.domain)
    exact = spec.sampling_kind.regular and not (spec.gradients and spec.mask)
    return Plan(spec, tuple(levels), nbytes, exact=exact)


def _domain_nbytes(domain: Sampling) -> int:
    """Size of what is stored of the points outside a mask, and of pixels that it cuts."""
    all_points = domain.full.num_points
    points = domain.num_points
    nbytes = points * np.dtype(index_type((all_points, 1), points)).itemsize
    if (shown := domain.filling) is not None:
        nbytes += all_points * 4 + csr_nbytes(shown.shape, len(shown.indices))
    return nbytes


def _gradient_nbytes(level: LevelPlan) -> int:
    """Size of both parts of a level's gradients."""
    shape = (len(level.spec.geometry.frame) * level.vertices, level.vertices)
    return sum(csr_nbytes(shape, nnz) for nnz in gradient_entries(level).values() if nnz)


def _map_nbytes(fine: LevelPlan, coarse: LevelPlan) -> int:
    """Size of the maps between a level and the next one."""
    spec = fine.spec
    if spec.mask is None:
        sizes = (spec.level_size(fine.number), spec.level_size(coarse.number))
        down = up = spec.sampling_kind.links(*sizes)
    else:
        down, up = (len(m.indices) for m in (fine.domain.pooling(), fine.domain.unpooling()))
    shapes = {(coarse.vertices, fine.vertices): down, (fine.vertices, coarse.vertices): up}
    return sum(csr_nbytes(shape, spec.orientations * links) for shape, links in shapes.items())


def rows_within(level: LevelPlan, memory_limit: int | str | None, processes: int) -> int:
    """Vertices in a block so that all processes together stay within a limit.

    Args:
        level: the finest.
        memory_limit: bytes, or text such as "2GB"; None sets no limit.
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
        remedy = "Use fewer `workers`." if processes > 1 else ""
        several = "s" if processes > 1 else ""
        raise SpecError(
            "memory_limit",
            f"at least {human_bytes(int(least))} here, with {processes} worker{several}",
            human_bytes(limit),
            remedy,
        )
    return min(rows, MOST_BLOCK_ROWS)


def scratch_nbytes(level: LevelPlan) -> int:
    """Disk space that a level takes while it is built, besides what is published."""
    spec = level.spec
    vertices = level.vertices
    every = (level, *level.directed.values())
    nbytes = sum(0 if of.lambda_max_known else 4 * of.nnz for of in every)  # before rescaling
    if not level.copied:
        nbytes += len(every) * (24 * vertices + PLANNED * spec.full_points(level.number))
        nbytes += sum(20 * of.edge_rows.nnz for of in every if of.edge_rows is not None)
    if spec.gradients:
        nbytes += 16 * len(spec.geometry.frame) * vertices  # counts of both parts
    if level.choice == STENCILS:
        return nbytes
    lists = 8 * spec.orientations * spec.full_points(level.number) * (spec.neighbors or 0)
    return nbytes + lists + spec.weighting.edge_bytes(level.nnz, lists)


def _row(level: LevelPlan) -> int:
    """Bytes that a vertex of a block takes; copies are made few at a time, whatever the block."""
    entries = 0 if level.copied else level.degree_bound // level.vertices + 1
    computed = level.spec.gradients and level.domain.whole_lattice is None
    fields = len(level.spec.geometry.frame) if computed else 0
    each = 20 if level.choice == STENCILS else 300
    return 100 + entries * each + fields * GRADIENT


def _kept(level: LevelPlan) -> float:
    """Bytes that a process keeps from block to block."""
    if level.choice == STENCILS:
        return PROCESS["stencil"]
    diagram = level.spec.sampling_kind.seeded or level.choice == DIAGRAM
    cells = VORONOI if diagram else 0
    return PROCESS["search"] + 150 * level.vertices + cells * level.spec.base_points(level.number)


def _vectors(level: LevelPlan) -> int:
    """Bytes of the vectors from which the building process finds lambda_max and eigenpairs.

    With the cells of given points, which it computes for all.
    """
    recursion = 0 if level.spec.lambda_max == 2 and not level.directed else 5
    given_points = level.spec.coordinates
    cells = VORONOI * given_points.count if given_points and not given_points.given_areas else 0
    return cells + 8 * level.vertices * (recursion + 4 * (level.spec.eigenpairs or 0))
