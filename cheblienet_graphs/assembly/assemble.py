"""All that is written of a level, in its order, and what is recorded of it."""

from dataclasses import dataclass, replace

import numpy as np

from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.level import GIVEN_POINTS, SOLUTION, Level, Place
from cheblienet_graphs.assembly.searching import searched
from cheblienet_graphs.assembly.sweeps import (
    Filled,
    Rescaled,
    Weighed,
    rows_of,
)
from cheblienet_graphs.errors import CheblienetError, Found, SpecError
from cheblienet_graphs.report.moments import WeightedLevel, eigenvalue_scale
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.sparse.products import mapped_product
from cheblienet_graphs.spectrum.bound import SpectralBound, largest_eigenvalue_bound
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.facts import LevelFacts, OperatorFacts
from cheblienet_graphs.store.reader import MappedWeights
from cheblienet_graphs.store.records import Result
from cheblienet_graphs.store.staged import Writer, index_type

SCRATCH = {"degree": "float64", "inverse-root-mass": "float64"}
"""Arrays of the vertices from which rows are made that are no copies."""


@dataclass(frozen=True)
class Assembled:
    """What is known of a level once its Laplacian is written; names as in `LevelFacts`."""

    level: Level
    edges: int
    nnz: int
    in_plane: int
    isolated: int
    bandwidth: float | None
    dropped_edges: int
    bound: SpectralBound


def write_level(build: Build, planned: Level) -> LevelFacts:
    """Stage a level.

    Args:
        build: of the level.
        planned: the level, not staged, with all that was solved for already.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
        CheblienetError: eigenpairs did not converge.
    """
    spec, number = planned.spec, planned.number
    xi = _xi(build, planned) if spec.geometry.oriented else None
    place = Place(build.store, build.staging.folder)
    level = replace(planned, spec=spec.recorded(), xi=xi, staged=place)
    _share(build, planned, level)
    made = _assembled(build, level)
    level, bound = made.level, made.bound
    _write_eigenpairs(build, level, bound.value)
    build.show(level, "measuring its metric")
    directed = {
        name: _assembled(build, replace(of_direction, rings=0, mean=None))
        for name, of_direction in level.directed.items()
    }
    return LevelFacts(
        grid=spec.grid(number),
        vertices=level.num_vertices,
        edges=made.edges,
        nnz=made.nnz,
        isolated=made.isolated,
        dropped_edges=made.dropped_edges,
        in_plane_fraction=made.in_plane / (2 * made.edges),
        xi=xi,
        xi_squared=None if xi is None else xi**2,
        bandwidth=made.bandwidth,
        lambda_max=bound.value,
        lambda_max_method=bound.method,
        eigenvalue_scale=_eigenvalue_scale(level, bound.value),
        directional={
            name: OperatorFacts(of.edges, of.nnz, of.bound.value, of.bound.method)
            for name, of in directed.items()
        }
        or None,
    )


def write_map(build: Build, path: str, base_map: LevelMap, orientations: int) -> None:
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
    found = build.once(planned, key, lambda: {"xi": planned.metric.xi}, keep=True)
    xi: float = found["xi"]
    return xi


def _share(build: Build, planned: Level, level: Level) -> None:
    """Write down, for all who do blocks, what the staged level knows from files alone.

    A resumed build writes the same again, but matched weights, which are solved for once only.
    """
    if planned.inside is not None:
        places = planned.inside.places
        path = f"levels/{level.number}/{layout.BASE_INDEX}"
        kind = index_type((planned.inside.points, 1), len(places))
        build.write(build.staging.dense(path, places.shape, kind), places)
    if level.spec.coordinates is not None:
        points = np.asarray(planned.full.base_points)
        areas = planned.full.areas(0, len(points))
        for name, values in zip(GIVEN_POINTS, (points, areas), strict=True):
            build.write(build.scratch(level, name, values.shape, "float64"), values, durable=True)

    def solved() -> Result:
        weights = planned.offset_weights
        if weights is None or weights.solution is None:
            raise TypeError("matched weights are those of a lattice")
        target = build.scratch(level, SOLUTION, weights.solution.shape, "float64")
        build.write(target, weights.solution, durable=True)
        return {}

    if level.spec.weights == "matched" and level.choice.engine == "stencil":
        build.once(level, level.key(SOLUTION), solved)


def _assembled(build: Build, level: Level) -> Assembled:
    """Do all sweeps of one Laplacian.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
    """
    listed: Result | None = None
    if level.choice.engine != "stencil":
        level, listed = searched(build, level)
    rows, vertices = rows_of(build.kept, level), level.num_vertices
    _reserve_vertices(build, level)
    weighed = build.sweep(Weighed(level), rows.level.degree_bound + vertices)
    nnz = sum(result["entries"] for result in weighed)
    _check(level, nnz - vertices, sum(result["vanished"] for result in weighed))
    build.staging.csr(level.matrix_path, (vertices, vertices), nnz)
    build.write_row_pointers(level)
    limit, bound = max(result["largest"] for result in weighed), None
    if level.lambda_max_known:
        bound = SpectralBound(limit, "bound")
    else:
        build.scratch(level, "unscaled", (nnz,), "float32")
    filled = build.sweep(Filled(level, None if bound is None else bound.value), nnz)
    if bound is None:
        bound = _computed_bound(build, level, limit)
        build.sweep(Rescaled(level, bound.value), nnz)
    if listed is None:
        listed = {"bandwidth": rows.bandwidth, "dropped_edges": rows.dropped_edges}
    return Assembled(
        level,
        edges=(nnz - vertices) // 2,
        nnz=nnz,
        in_plane=sum(result["in_plane"] for result in filled),
        isolated=sum(result["isolated"] for result in weighed),
        bandwidth=listed["bandwidth"],
        dropped_edges=listed["dropped_edges"],
        bound=bound,
    )


def _reserve_vertices(build: Build, level: Level) -> None:
    """Reserve the arrays of the vertices; those of the points come with the metric's Laplacian."""
    vertices, columns = level.num_vertices, level.spec.geometry.columns
    for name, dtype in {"counts": "int64", **({} if level.copied else SCRATCH)}.items():
        build.scratch(level, name, (vertices,), dtype)
    if level.direction is not None:
        return
    folder = f"levels/{level.number}"
    for name in ("degree", "area"):
        build.staging.dense(f"{folder}/{name}", (vertices,), "float32")
    build.staging.dense(f"{folder}/coordinates", (vertices, len(columns)), "float64", columns)


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
            "Give a larger one, or fewer `levels`." if number else "Give a larger one.",
        )
    if vanished:
        accepted = f"larger here, since the weights of {vanished} vertices vanish in float32"
        raise SpecError("bandwidth", accepted, spec.bandwidth)


def _computed_bound(build: Build, level: Level, limit: float) -> SpectralBound:
    """An upper bound of the spectrum of Delta, itself at most `limit`."""

    def compute() -> Result:
        matrix = level.matrix(level.scratch("unscaled"))
        build.show(level, "finding the largest eigenvalue", 0, matrix.nnz)
        bound = largest_eigenvalue_bound(mapped_product(matrix), level.num_vertices, limit=limit)
        return {"value": bound.value, "method": bound.method}

    return SpectralBound(**build.once(level, level.key("largest-eigenvalue"), compute))


def _eigenvalue_scale(level: Level, lambda_max: float) -> float | None:
    """The level's, from the arrays that will be published."""
    spec, sampled = level.spec, SampledManifold(level.sampling, level.spec.geometry, level.metric)
    degree, coordinates = level.dense("degree").mapped(), level.dense("coordinates").mapped()
    mass = degree if spec.laplacian == "normalized" else level.dense("area").mapped()
    weights = MappedWeights(level.matrix(level.csr.data), lambda_max, mass)
    return eigenvalue_scale(WeightedLevel(spec, sampled, weights, coordinates, degree))


def _write_eigenpairs(build: Build, level: Level, lambda_max: float) -> None:
    count, folder = level.spec.eigenpairs, f"levels/{level.number}"
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
    vertices = level.num_vertices
    values = build.staging.dense(f"{folder}/eigenvalues", (count,), "float64")
    vectors = build.staging.dense(f"{folder}/eigenvectors", (vertices, count), "float32")
    build.write(values, pairs.values)
    build.write(vectors, pairs.vectors)
