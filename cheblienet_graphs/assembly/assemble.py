"""All that is written of a level, in its order, and what is recorded of it."""

from dataclasses import asdict, replace

import numpy as np

from cheblienet_graphs.assembly import sweeps
from cheblienet_graphs.assembly.building import CRS, Build, grid_mapping, named
from cheblienet_graphs.assembly.checks import LevelCheck, check
from cheblienet_graphs.assembly.gradients import write_gradients
from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.assembly.level import (
    CELLS,
    EDGE_ROWS,
    GIVEN_POINTS,
    LISTED,
    SOLUTION,
    SQUARED,
    Level,
    Place,
)
from cheblienet_graphs.assembly.rows import SearchedRows
from cheblienet_graphs.csr import Csr
from cheblienet_graphs.errors import CheblienetError, Found, Remedy, SpecError, Words
from cheblienet_graphs.machine import kept
from cheblienet_graphs.report.moments import WeightedLevel, eigenvalue_scale
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import CutSampling
from cheblienet_graphs.samplings.region import RegionSampling
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
from cheblienet_graphs.store.staged import Result, Writer, index_type
from cheblienet_graphs.weights.edges import vanishing

MANY = 2**17
"""Vertices from which the recursion takes seconds: so many have a bound by the symbol first."""


def write_level(build: Build, planned: Level) -> tuple[LevelFacts, LevelCheck]:
    """Stage a level, and look at it.

    Args:
        build: of the level.
        planned: the level, not staged, with all that was solved for already.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
        CheblienetError: eigenpairs did not converge.
    """
    spec = planned.spec
    xi = _xi(build, planned) if spec.geometry.oriented else None
    place = Place(build.store, build.staging.folder)
    level = replace(planned, spec=spec.recorded(), xi=xi, staged=place)
    _share(build, planned, level)
    facts = _assembled(build, level)
    _write_eigenpairs(build, level, facts.lambda_max)
    build.show(level, "measuring its metric")
    directed = {name: _assembled(build, of) for name, of in level.directed.items()}
    operators = {
        direction: OperatorFacts(of.edges, of.nnz, of.lambda_max, of.lambda_max_method)
        for direction, of in directed.items()
    }
    weights, arrays = level.weights(facts.lambda_max), map(level.dense, ("coordinates", "degree"))
    sampled = replace(level.sampled(), sampling=level.sampling)
    graph = WeightedLevel(spec, sampled, weights, *(array.mapped() for array in arrays))
    scale = eigenvalue_scale(graph)
    gradients = write_gradients(build, level) if spec.gradients else None
    facts = replace(
        facts, eigenvalue_scale=scale, directional=operators or None, gradients=gradients
    )
    return facts, check(level, graph, facts)


def write_map(build: Build, path: str, base_map: Csr, orientations: int) -> None:
    """Write a map of base points for each orientation."""
    (rows, columns), entries = base_map.shape, len(base_map.indices)
    shape = (orientations * rows, orientations * columns)
    csr = build.staging.csr(path, shape, orientations * entries)
    with write_errors(build.store), Writer(durable=False) as out:
        out.write(csr.indptr, 0, [0])
        for k in range(orientations):
            out.write(csr.indptr, k * rows + 1, base_map.indptr[1:] + k * entries)
            out.write(csr.indices, k * entries, base_map.indices + k * columns)
            out.write(csr.data, k * entries, base_map.data)


def _xi(build: Build, planned: Level) -> float:
    """That of the level's metric; solved for once only."""
    if planned.spec.xi != "auto":
        return planned.metric.xi
    key = f"{planned.number}-xi"
    solved = build.once(planned, key, lambda: {"xi": planned.metric.xi}, keep=True)
    xi: float = solved["xi"]
    return xi


def _share(build: Build, planned: Level, level: Level) -> None:
    """Write down, for all who do blocks, what the staged level knows from files alone.

    A resumed build writes the same again, but matched weights, which are solved for once only.
    """
    if planned.inside is not None:
        how, points = named(planned.spec, layout.BASE_INDEX), planned.inside.full.num_points
        build.staging.places(level.path, planned.inside.places, points, how)
    if isinstance(planned.inside, CutSampling):
        _share_cut(build, planned, planned.inside)
    if isinstance(planned.inside, RegionSampling):
        build.share(level, {CELLS: planned.inside.cells})
    if level.spec.coordinates is not None:
        given = planned.full.base_points, planned.full.areas(0, planned.full.num_points)
        build.share(level, dict(zip(GIVEN_POINTS, given, strict=True)))

    def solved() -> Result:
        weights = planned.offset_weights
        if weights is None or weights.solution is None:
            raise TypeError("matched weights are those of a lattice")
        build.share(level, {SOLUTION: weights.solution})
        return {}

    if level.spec.weights == "matched" and level.choice.engine == "stencil":
        build.once(level, level.key(SOLUTION), solved)


def _share_cut(build: Build, planned: Level, cut: CutSampling) -> None:
    """Write down the parts of pixels in the domain, what they show, and the rows at its edge."""
    fraction = build.dense(planned, layout.FRACTION, cut.fraction.shape, "float32")
    build.staging.fill(fraction, cut.fraction)
    write_map(build, f"{planned.path}/{layout.FILLING}", cut.filling, 1)
    for level in (planned, *planned.directed.values()):
        rows = {name: getattr(level.edge_rows, name.removeprefix("edge-")) for name in EDGE_ROWS}
        build.share(level, rows)


def _assembled(build: Build, level: Level) -> LevelFacts:
    """Do all sweeps of one Laplacian; its facts, as far as they follow from these.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
    """
    listed: Result | None = None
    if level.choice.engine != "stencil":
        level, listed = _searched(build, level)
    rows, vertices = sweeps.rows_of(level), level.num_vertices
    _reserve_vertices(build, level)
    if isinstance(rows, LatticeRows):
        weighed = [rows.totals]
    else:
        weighed = build.sweep(sweeps.Weighed(level), rows.level.degree_bound + vertices)
    nnz = sum(result["entries"] for result in weighed)
    _check(level, nnz - vertices, sum(result["vanished"] for result in weighed))
    build.staging.csr(level.matrix_path, (vertices, vertices), nnz)
    build.write_row_pointers(rows.counts, level.csr.indptr)
    limit, bound = max(result["largest"] for result in weighed), None
    if level.lambda_max_known:
        bound = SpectralBound(limit, "bound")
    else:
        build.scratch(level, "unscaled", (nnz,), "float32")
    filled = build.sweep(sweeps.Filled(level, None if bound is None else bound.value), nnz)
    if bound is None:
        bound = _computed_bound(build, level, limit)
        build.sweep(sweeps.Rescaled(level, bound.value), nnz)
    if listed is None:
        listed = {"bandwidth": rows.bandwidth, "dropped_edges": level.dropped_edges}
    return LevelFacts(
        grid=level.spec.grid(level.number),
        vertices=vertices,
        edges=(nnz - vertices) // 2,
        nnz=nnz,
        isolated=sum(result["isolated"] for result in weighed),
        in_plane_fraction=sum(result["in_plane"] for result in filled) / (nnz - vertices),
        xi=level.xi,
        xi_squared=None if level.xi is None else level.xi**2,
        lambda_max=bound.value,
        lambda_max_method=bound.method,
        **listed,
    )


def _reserve_vertices(build: Build, level: Level) -> None:
    """Reserve the arrays of the vertices; those of the points come with the metric's Laplacian."""
    vertices, columns = level.num_vertices, level.spec.geometry.columns
    for name, dtype in {} if level.copied else sweeps.SUMS.items():
        build.scratch(level, name, (vertices,), dtype)
    if level.direction is not None:
        return
    for name in ("degree", "area"):
        build.dense(level, name, (vertices,), "float32")
    build.dense(level, "coordinates", (vertices, len(columns)), "float64", columns)
    if mapping := grid_mapping(level.spec, level.number):
        build.staging.empty(f"{level.path}/{CRS}", mapping)


def _check(level: Level, entries: int, vanished: int) -> None:
    """Refuse a level of which no edge is inside the mask, or whose weights vanish.

    Raises:
        SpecError: it is one.
    """
    spec, number = level.spec, level.number
    if not entries:
        points = spec.base_points(number)
        along = "" if level.direction is None else f"{level.direction} "
        raise SpecError(
            "region" if spec.region is not None else "mask",
            f"such that level {number} has {along}edges inside",
            Found(f"none between {points:,} point{'s'[: points > 1]} inside"),
            Words("Give a larger one", *((", or fewer ", Remedy("levels")) if number else ()), "."),
        )
    if vanished:
        raise SpecError("bandwidth", vanishing(vanished), spec.bandwidth)


def _computed_bound(build: Build, level: Level, limit: float) -> SpectralBound:
    """An upper bound of the spectrum of Delta, itself at most `limit`."""

    def compute() -> Result:
        matrix = level.matrix(level.scratch("unscaled"))
        build.show(level, "finding the largest eigenvalue", 0, matrix.nnz)
        product, lattice = mapped_product(matrix), level.full
        if isinstance(lattice, Lattice) and _has_symbol(level):
            proven = _bounded_inside(level)
            value = bound_by_symbols(matrix, lattice, product, proven=proven)
            if value is not None:
                return asdict(stored_bound(value / (limit / NORMALIZED), limit, proven=proven))
        return asdict(largest_eigenvalue_bound(product, level.num_vertices, limit=limit))

    return SpectralBound(**build.once(level, level.key("largest-eigenvalue"), compute))


def _has_symbol(level: Level) -> bool:
    """Whether symbols of a level's lattice are to bound its eigenvalues: it is whole, and large."""
    if not level.whole_lattice or level.num_vertices < MANY:
        return False
    lattice, reach = level.stencils.lattice, level.stencils.reach
    wide = all(n > 2 * most for n, most in zip(lattice.shape, reach, strict=True))
    return wide and (len(lattice.shape) == 2 or _bounded_inside(level))


def _bounded_inside(level: Level) -> bool:
    """Whether no eigenvalue is beyond those of the infinite lattice.

    Degrees, by which the Laplacian may be normalized, are smaller at open sides.
    """
    if level.stencils.lattice.periodic:
        return True
    weights = level.offset_weights
    return level.laplacian == "combinatorial" and (weights is None or weights.outweighed_at_sides)


def _write_eigenpairs(build: Build, level: Level, lambda_max: float) -> None:
    count = level.spec.eigenpairs
    if count is None:
        return
    # Solvers are slow to import, and few builds store eigenpairs.
    from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs

    matrix = level.matrix(level.csr.data)
    build.show(level, "finding eigenpairs", 0, matrix.nnz)
    pairs = extreme_eigenpairs(matrix, lambda_max, count, sampling=level.sampling)
    if not pairs.converged:
        raise CheblienetError(
            f"The {count} smallest eigenpairs of level {level.number} did not converge; nothing "
            "was published. Ask for fewer."
        )
    values = build.dense(level, "eigenvalues", (count,), "float64")
    vectors = build.dense(level, "eigenvectors", (level.num_vertices, count), "float32")
    build.staging.fill(values, pairs.values)
    build.staging.fill(vectors, pairs.vectors)


def _searched(build: Build, level: Level) -> tuple[Level, Result | None]:
    """Find the edges of a level: search for them, then measure them or list them with weights.

    Returns:
        The level as far as it is known then; bandwidth and dropped edges where edges are listed.

    Raises:
        SpecError: there are none, or no such weights.
    """
    if level.spec.weights != "voronoi":
        level = _with_lists(build, level)
    if level.weights_listed:
        key = level.key(level.spec.weights)
        return level, build.once(level, key, lambda: _listed(build, level))
    shape = level.full_vertices, level.spec.searched_neighbors
    build.scratch(level, SQUARED, shape, "float64")
    measured = build.sweep(sweeps.Measured(level), shape[0] * shape[1])
    entries = sum(result["entries"] for result in measured)
    if not entries:
        raise level.neighbors.too_few()
    mean = rounded(sum(result["squared_lengths"] for result in measured)) / entries
    return replace(level, mean=mean), None


def _with_lists(build: Build, level: Level) -> Level:
    """The level with the rings of images that its lists of nearest vertices take."""
    shape = (level.full_vertices, level.spec.searched_neighbors)

    def search(rings: int) -> float:
        among = replace(level, rings=rings)
        build.scratch(among, among.lists_name, shape, index_type((shape[0], 1), 0))
        listed = build.sweep(sweeps.Lists(among), shape[0] * shape[1])
        return float(max(result["farthest"] for result in listed))

    return replace(level, rings=level.neighbors.enough_rings(search))


def _listed(build: Build, level: Level) -> Result:
    """List the edges inside with their weights, in one piece.

    Raises:
        SpecError: there are none, or no such weights.
    """
    inside, bandwidth = level.inside, None
    dropped = np.empty(0, np.int64), np.empty(0, np.int64)
    if level.spec.weights == "voronoi":
        # Neither this nor matching is quick to import.
        from cheblienet_graphs.weights.edges import voronoi_entries

        build.show(level, "finding Voronoi cells")
        clipped = isinstance(inside, RegionSampling)
        edges = voronoi_entries(level.sampling if clipped else level.full, level.number)
        inside = None if clipped else inside
    else:
        from cheblienet_graphs.weights.scattered import matched_edges

        rows = kept(SearchedRows, level)
        if rows.nearest.total_degree == 0:
            raise level.neighbors.too_few()
        build.show(level, "matching weights to the metric", 0, rows.nearest.total_degree)
        matched = matched_edges(level.spec, level.sampled(), rows.nearest, rows.lengths)
        edges, dropped, bandwidth = matched
    if inside is not None:
        start, end, there = inside.edges(*edges[:2])
        edges, dropped = (start, end, edges[2][there]), inside.edges(*dropped)[:2]
    build.share(level, dict(zip(LISTED, edges, strict=True)))
    return {"bandwidth": bandwidth, "dropped_edges": len(dropped[0]) // 2}
