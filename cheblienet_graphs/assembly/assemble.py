"""All that is written of a level, in its order, and what is recorded of it."""

from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from cheblienet_graphs.assembly import sweeps
from cheblienet_graphs.assembly.building import CRS, Build, grid_mapping, named
from cheblienet_graphs.assembly.checks import Advise, LevelCheck, check
from cheblienet_graphs.assembly.gradients import write_gradients
from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.assembly.rows import LISTED, SQUARED
from cheblienet_graphs.assembly.staged_level import StagedLevel
from cheblienet_graphs.csr import Csr, index_type
from cheblienet_graphs.errors import CheblienetError, SpecError, Unquoted
from cheblienet_graphs.measure.moments import MeasuredLevel, eigenvalue_scale
from cheblienet_graphs.search.choice import STENCILS
from cheblienet_graphs.search.stencil import reach
from cheblienet_graphs.sparse import mapped_product, rounded
from cheblienet_graphs.spectrum.bound import bound_by_symbols
from cheblienet_graphs.spectrum.lanczos import (
    NORMALIZED,
    SpectralBound,
    largest_eigenvalue_bound,
    stored_bound,
)
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.facts import LevelFacts, OperatorFacts
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.staged import SCRATCH, Result, Writer, opened
from cheblienet_graphs.weights.kernel import vanishing

SOLUTION = "matched-weights"
"""Scratch array of the weights of a lattice that were solved for."""
MANY = 2**17
"""Vertices from which the recursion takes seconds: so many have a bound by the symbol first."""


def write_level(build: Build, plan: LevelPlan, advise: Advise) -> tuple[LevelFacts, LevelCheck]:
    """Stage a level, and look at it.

    Args:
        build: of the level.
        plan: of the level.
        advise: as of `check`.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
        CheblienetError: eigenpairs did not converge.
    """
    spec = plan.spec
    plan = _solved_once(build, plan)
    _write_domain(build, plan)
    level = build.staged(plan)
    facts = _assembled(build, level)
    _write_eigenpairs(build, level, facts.lambda_max)
    build.show(plan, "measuring its metric")
    directed = {name: _assembled(build, build.staged(of)) for name, of in plan.directed.items()}
    operators = {
        direction: OperatorFacts(of.edges, of.nnz, of.lambda_max, of.lambda_max_method)
        for direction, of in directed.items()
    }
    gradients = write_gradients(build, level) if spec.gradients else None
    facts = replace(facts, directional=operators or None, gradients=gradients)
    graph = _measured_level(build, plan, facts)
    facts = replace(facts, eigenvalue_scale=eigenvalue_scale(graph))
    return facts, check(plan, graph, advise)


def _measured_level(build: Build, plan: LevelPlan, facts: LevelFacts) -> MeasuredLevel:
    """A level that is written, to be looked at as a reader sees it."""
    farthest = None if plan.weights is None else max(reach(plan.weights.stencils))
    version = Folder(build.staging.path)
    levels = (facts,) * (plan.number + 1)
    known: dict[str, Any] = {"points": plan.domain, "stencils_reach": farthest}
    return MeasuredLevel(version, plan.spec, levels, plan.number, **known)


def write_map(build: Build, path: str, base_map: Csr, orientations: int) -> None:
    """Write a map of base points for each orientation."""
    rows, columns = base_map.shape
    entries = len(base_map.indices)
    shape = (orientations * rows, orientations * columns)
    csr = build.staging.csr(path, shape, orientations * entries)
    with write_errors(build.store), Writer(durable=False) as out:
        out.write(csr.indptr, 0, [0])
        for k in range(orientations):
            out.write(csr.indptr, k * rows + 1, base_map.indptr[1:] + k * entries)
            out.write(csr.indices, k * entries, base_map.indices + k * columns)
            out.write(csr.data, k * entries, base_map.data)


def _solved_once(build: Build, plan: LevelPlan) -> LevelPlan:
    """The plan with the weights that a resumed build solved for, to the last bit."""
    weights = plan.weights
    if weights is None or weights.solution is None:
        return plan
    solution = weights.solution

    def shared() -> Result:
        build.share(plan, {SOLUTION: solution})
        return {}

    build.once(plan, f"{plan.number}-{SOLUTION}", shared)
    array = opened(build.staging.folder / SCRATCH / plan.scratch_path / SOLUTION)
    return plan if np.array_equal(array.mapped(), solution) else plan.with_solution(array.mapped())


def _write_domain(build: Build, plan: LevelPlan) -> None:
    """Write what is stored of the points outside, and of pixels that the domain cuts."""
    domain = plan.domain
    if domain.places is not None:
        how = named(plan.spec, layout.BASE_INDEX)
        points = domain.full.num_points
        build.staging.places(plan.path, domain.places, points, how)
    if domain.filling is not None:
        fraction = build.dense(plan, layout.FRACTION, domain.fraction.shape, "float32")
        build.staging.fill(fraction, domain.fraction)
        write_map(build, f"{plan.path}/{layout.FILLING}", domain.filling, 1)


def _assembled(build: Build, level: StagedLevel) -> LevelFacts:
    """Do all sweeps of one Laplacian; its facts, as far as they follow from these.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
    """
    plan, listed = level.plan, None
    if plan.choice != STENCILS:
        level, listed = _searched(build, level)
    rows, vertices = level.rows, plan.vertices
    _reserve_vertices(build, plan)
    if rows.totals is not None:
        weighed = [rows.totals]
    else:
        weighed = build.sweep(sweeps.weighing(level), plan.nnz)
    nnz = sum(result["entries"] for result in weighed)
    _check(plan, nnz - vertices, sum(result["vanished"] for result in weighed))
    build.staging.csr(plan.matrix_path, (vertices, vertices), nnz)
    build.write_row_pointers(rows.counts, level.csr.indptr)
    limit, bound = max(result["largest"] for result in weighed), None
    if plan.lambda_max_known:
        bound = SpectralBound(limit, "bound")
    else:
        build.scratch(plan, "unscaled", (nnz,), "float32")
    filled = build.sweep(sweeps.filling(level, None if bound is None else bound.value), nnz)
    if bound is None:
        bound = _computed_bound(build, level, limit)
        build.sweep(sweeps.rescaling(level, bound.value), nnz)
    if listed is None:
        listed = {"bandwidth": rows.bandwidth, "dropped_edges": plan.dropped_edges}
    return LevelFacts(
        grid=plan.spec.grid(plan.number),
        vertices=vertices,
        edges=(nnz - vertices) // 2,
        nnz=nnz,
        isolated=sum(result["isolated"] for result in weighed),
        in_plane_fraction=sum(result["in_plane"] for result in filled) / (nnz - vertices),
        xi=plan.xi,
        xi_squared=None if plan.xi is None else plan.xi**2,
        lambda_max=bound.value,
        lambda_max_method=bound.method,
        **listed,
    )


def _reserve_vertices(build: Build, plan: LevelPlan) -> None:
    """Reserve the arrays of the vertices; arrays of the points come with the metric's Laplacian."""
    vertices = plan.vertices
    columns = plan.spec.geometry.columns
    for name, dtype in {} if plan.copied else sweeps.SUMS.items():
        build.scratch(plan, name, (vertices,), dtype)
    if plan.direction is not None:
        return
    for name in ("degree", "area"):
        build.dense(plan, name, (vertices,), "float32")
    build.dense(plan, "coordinates", (vertices, len(columns)), "float64", columns)
    if mapping := grid_mapping(plan.spec, plan.number):
        build.staging.empty(f"{plan.path}/{CRS}", mapping)


def _check(plan: LevelPlan, entries: int, vanished: int) -> None:
    """Refuse a level that has no edge inside the mask, or vanishing weights.

    Raises:
        SpecError: it is one.
    """
    spec, number = plan.spec, plan.number
    if not entries:
        points = spec.base_points(number)
        along = "" if plan.direction is None else f"{plan.direction} "
        raise SpecError(
            "region" if spec.region is not None else "mask",
            f"such that level {number} has {along}edges inside",
            Unquoted(f"none between {points:,} point{'s'[: points > 1]} inside"),
            "Give a larger one, or fewer `levels`." if number else "Give a larger one.",
        )
    if vanished:
        raise SpecError("bandwidth", vanishing(vanished), spec.bandwidth)


def _computed_bound(build: Build, level: StagedLevel, limit: float) -> SpectralBound:
    """An upper bound of the spectrum of Delta, itself at most `limit`."""
    plan = level.plan

    def compute() -> Result:
        matrix = level.matrix(level.scratch("unscaled"))
        build.show(plan, "finding the largest eigenvalue", 0, matrix.nnz)
        product = mapped_product(matrix)
        lattice = plan.domain.whole_lattice
        if lattice is not None and _has_symbol(plan):
            proven = _bounded_inside(plan)
            value = bound_by_symbols(matrix, lattice, product, proven=proven)
            if value is not None:
                return asdict(stored_bound(value / (limit / NORMALIZED), limit, proven=proven))
        return asdict(largest_eigenvalue_bound(product, plan.vertices, limit=limit))

    return SpectralBound(**build.once(plan, level.key("largest-eigenvalue"), compute))


def _has_symbol(plan: LevelPlan) -> bool:
    """True if the symbols of a whole lattice are to bound its eigenvalues: it is large."""
    if plan.vertices < MANY:
        return False
    lattice, reach = plan.stencils.lattice, plan.stencils.reach
    wide = all(n > 2 * most for n, most in zip(lattice.shape, reach, strict=True))
    return wide and (len(lattice.shape) == 2 or _bounded_inside(plan))


def _bounded_inside(plan: LevelPlan) -> bool:
    """True if no eigenvalue is beyond the spectrum of the infinite lattice.

    Degrees, by which the Laplacian may be normalized, are smaller at open sides.
    """
    weights = plan.weights
    if plan.stencils.lattice.periodic or weights is None:
        return True
    return plan.laplacian == "combinatorial" and weights.outweighed_at_sides


def _write_eigenpairs(build: Build, level: StagedLevel, lambda_max: float) -> None:
    count = level.plan.spec.eigenpairs
    if count is None:
        return
    # Solvers are slow to import, and few builds store eigenpairs.
    from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs

    matrix = level.matrix(level.csr.data)
    build.show(level.plan, "finding eigenpairs", 0, matrix.nnz)
    pairs = extreme_eigenpairs(matrix, lambda_max, count, sampling=level.plan.domain)
    if not pairs.converged:
        raise CheblienetError(
            f"The {count} smallest eigenpairs of level {level.plan.number} did not converge; "
            "nothing was published. Ask for fewer."
        )
    values = build.dense(level.plan, "eigenvalues", (count,), "float64")
    vectors = build.dense(level.plan, "eigenvectors", (level.plan.vertices, count), "float32")
    build.staging.fill(values, pairs.values)
    build.staging.fill(vectors, pairs.vectors)


def _searched(build: Build, level: StagedLevel) -> tuple[StagedLevel, Result | None]:
    """Find the edges of a level: search for them, then measure them or list them with weights.

    Returns:
        The level as far as it is known then; bandwidth and dropped edges where edges are listed.

    Raises:
        SpecError: there are none, or no such weights.
    """
    weighting = level.plan.spec.weighting
    if weighting.neighbors is not None:
        level = _with_lists(build, level)
    found = partial(_once_listed, build, level), partial(_measured, build, level)
    return weighting.find_edges(*found)


def _with_lists(build: Build, level: StagedLevel) -> StagedLevel:
    """The level with the rings of images that its lists of nearest vertices take."""
    plan = level.plan
    shape = (plan.domain.full.num_vertices, plan.spec.weighting.count)
    tried = {0: level}

    def search(rings: int) -> float:
        among = tried[rings] = replace(level, rings=rings)
        build.scratch(plan, among.lists_name, shape, index_type((shape[0], 1), 0))
        listed = build.sweep(sweeps.listing(among), shape[0] * shape[1])
        return float(max(result["farthest"] for result in listed))

    return tried[plan.neighbors.enough_rings(search)]


def _measured(build: Build, level: StagedLevel) -> tuple[StagedLevel, None]:
    """The level with the mean of the squared lengths of its edges."""
    plan = level.plan
    shape = plan.domain.full.num_vertices, plan.spec.weighting.count
    build.scratch(plan, SQUARED, shape, "float64")
    measured = build.sweep(sweeps.measuring(level), shape[0] * shape[1])
    entries = sum(result["entries"] for result in measured)
    if not entries:
        raise plan.neighbors.too_few()
    mean = rounded(sum(result["squared_lengths"] for result in measured)) / entries
    return replace(level, mean=mean), None


def _once_listed(build: Build, level: StagedLevel) -> tuple[StagedLevel, Result]:
    """The level, and what is known of its edges once they are listed."""
    key = level.key(level.plan.spec.weights)
    return level, build.once(level.plan, key, partial(_listed, build, level))


def _listed(build: Build, level: StagedLevel) -> Result:
    """List the edges inside with their weights, in one piece.

    Raises:
        SpecError: there are none, or no such weights.
    """
    plan, spec, domain, total = level.plan, level.plan.spec, level.plan.domain, 0
    if spec.weighting.neighbors is not None:
        total = level.search.nearest.total_degree
        if not total:
            raise plan.neighbors.too_few()
    build.show(plan, spec.weighting.finding, 0, total)
    sampled = replace(plan.sampled, sampling=domain.celled)
    edges = spec.weighting.edges(spec, sampled, level.search)
    none = np.empty(0, np.int64)
    listed, dropped = edges[:3], edges.dropped or (none, none)
    if domain.celled is not domain:
        start, end, there = domain.edges(edges.rows, edges.columns)
        listed, dropped = (start, end, edges.weights[there]), domain.edges(*dropped)[:2]
    build.share(plan, dict(zip(LISTED, listed, strict=True)))
    return {"bandwidth": edges.bandwidth, "dropped_edges": len(dropped[0]) // 2}
