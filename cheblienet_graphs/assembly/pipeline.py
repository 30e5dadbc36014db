"""From a specification to a published version, in row blocks."""

import datetime as dt
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.assemble import assemble
from cheblienet_graphs.assembly.assemble_directional import assemble_directional
from cheblienet_graphs.assembly.checks import check
from cheblienet_graphs.assembly.driver import Driver
from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.own_points import share_own_points
from cheblienet_graphs.assembly.plan import Plan, check_spec, levels_of, planned
from cheblienet_graphs.assembly.sizes import rows_within, scratch_nbytes
from cheblienet_graphs.assembly.versions import (
    GENERATOR,
    Published,
    as_found,
    changes_of,
    published,
)
from cheblienet_graphs.errors import CheblienetError, OtherGraphWarning
from cheblienet_graphs.machine.threads import threads_each
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours.choice import Choice, choose
from cheblienet_graphs.pools.kept import Kept
from cheblienet_graphs.pools.opened import opened_pool
from cheblienet_graphs.pools.pool import Pool, software
from cheblienet_graphs.report.scale import eigenvalue_scale
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.facts import LevelFacts
from cheblienet_graphs.store.reader import MappedWeights
from cheblienet_graphs.store.staged import INT32_LIMIT, Writer, index_type
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.typing import Progress
from cheblienet_graphs.values import byte_count, callback, flag, integer


def build(
    spec: GraphSpec,
    store: str | Path = "graphs.zarr",
    *,
    name: str | None = None,
    force: bool = False,
    engine: str = "auto",
    device: str = "auto",
    workers: int | str | None = None,
    dask: str | None = None,
    memory_limit: int | str | None = None,
    resume: bool = False,
    block_rows: int | None = None,
    progress: Progress | None = None,
) -> Published:
    """Build a pyramid and publish it as the next version of its graph.

    Where this spec is already published by this version of the package, nothing is done. The bytes
    depend on the spec alone (on one machine, with the same versions of the libraries), not on any
    of the arguments below `force`, nor on the number of threads, unless numpy has another library
    for linear algebra than OpenBLAS: then the last bits of eigenpairs and matched weights can.

    Args:
        spec: what to build.
        store: where; made if need be.
        name: of the graph; default `spec.default_name`.
        force: build a new version even if an equal one is there.
        engine: "stencil" (lattices), "pruned" or "keops"; "auto" takes the fastest. All find the
            same edges.
        device: "cpu" or "cuda" for the two that search; "auto" is cuda where torch sees one. On a
            cluster a worker of its decides, and processes without one search on their CPU.
        workers: processes, in [1, 1024]; 1, the default, is this process alone.
        dask: address of a Dask scheduler, or the file it wrote, whose workers see the store's file
            system; or "local" for a cluster of `workers` processes here, by default one
            for each core.
        memory_limit: bytes, or text such as "2GB", that all processes here may take together, or
            each worker of a cluster elsewhere; makes blocks as large as that allows. Default:
            blocks of 65,536 vertices.
        resume: go on with an interrupted build of the same graph, if there is one.
        block_rows: vertices in a block, at least 1, instead of what the memory limit gives.
        progress: called as the work proceeds.

    Returns:
        The version.

    Warns:
        OtherGraphWarning: the name stands for another graph than this one, or it is the default and
            stood for another before.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: the neighbour rule gives no edge, weights vanish, an argument is out of range, or
            there is no such engine or device here.
        StoreError: the store can't be written, or holds something else of that name.
        CheblienetError: a library that this sampling or engine needs does not work here, or a
            worker vanished.
    """
    flag("force", force)
    flag("resume", resume)
    callback("progress", progress)
    default = name is None
    store, name = _place(spec, store, name)
    _check_sizes(memory_limit, block_rows)
    staging: Staging | None = None
    try:
        with Kept() as kept, opened_pool(workers, dask, kept) as pool:
            choice = pool.first(choose, spec.sampling, engine, device, weights=spec.weights)
            if not force and (found := published(spec, store, name)):
                return _warned(as_found(store, name, spec, *found), default=default)
            progress = progress or (lambda *_: None)
            levels = levels_of(spec, choice, progress)
            rows = _rows(block_rows, levels, memory_limit, pool)
            staging = _staging(spec, store, name, levels, choice, resume=resume)
            with staging:
                build = _Build(spec, choice, store, staging, pool, kept, rows, progress)
                facts = tuple(build.write(levels))
                version = staging.publish(_attributes(spec, facts))
            folder = store / name / version
            pairs = zip(levels, facts, strict=True)
            other, changes = changes_of(folder.parent, version, spec, built=True)
            result = Published(
                store,
                name,
                version,
                built=True,
                levels=facts,
                resumed=staging.resumed,
                checks=tuple(check(level, folder, known) for level, known in pairs),
                other=other,
                changes=changes,
                processes=pool.processes,
                threads=threads_each(choice.engine, pool.processes),
            )
        return _warned(result, default=default)  # after all is closed, as it may be an error
    except BaseException as error:
        # A second signal may have cut the exit of staging short, or come while the pool ended.
        if staging is not None:
            staging.close(error)
        raise


def _warned(result: Published, *, default: bool) -> Published:
    """The result, with a warning where its name gives or gave another graph.

    Args:
        result: of `build`.
        default: whether the name was not given.
    """
    if result.difference and (default or not result.built):
        remedy = f"Open {result.name}@{result.version}, or give each graph a `name` of its own."
        warnings.warn(f"{result.difference} {remedy}", OtherGraphWarning, stacklevel=3)
    return result


def dry_run(
    spec: GraphSpec,
    store: str | Path = "graphs.zarr",
    *,
    name: str | None = None,
    force: bool = False,
    engine: str = "auto",
    device: str = "auto",
    workers: int | str | None = None,
    dask: str | None = None,
    memory_limit: int | str | None = None,
    resume: bool = False,
) -> Plan:
    """What `build` would publish; it stops before anything is written.

    Arguments are those of `build`, and refused alike. No cluster is asked.

    Raises:
        SpecError, StoreError, CheblienetError: as `build`.
    """
    store, name = _place(spec, store, name)
    _check_sizes(memory_limit)
    with Kept() as kept, opened_pool(workers, dask, kept, dry=True) as pool:
        choice = pool.first(choose, spec.sampling, engine, device, weights=spec.weights)
        levels = levels_of(spec, choice)
        if force or not published(spec, store, name):
            _rows(None, levels, memory_limit, pool)
            _staging(spec, store, name, levels, choice, resume=resume).check()
        return planned(spec, levels)


def _place(spec: GraphSpec, store: str | Path, name: str | None) -> tuple[Path, str]:
    """Where a build is published: the store, and the name of the graph."""
    check_spec(spec)
    named = layout.check_name(spec.default_name if name is None else name)
    return layout.store_path(store), named


def _check_sizes(memory_limit: int | str | None, block_rows: int | None = None) -> None:
    """Refuse what is no size, also where nothing has to be built."""
    if memory_limit is not None:
        byte_count("memory_limit", memory_limit)
    if block_rows is not None:
        integer("block_rows", block_rows, 1, INT32_LIMIT)


def _rows(
    block_rows: int | None, levels: list[Level], memory_limit: int | str | None, pool: Pool
) -> int:
    """Vertices in a block."""
    return int(block_rows or rows_within(levels[0], memory_limit, pool.processes))


def _staging(
    spec: GraphSpec, store: Path, name: str, levels: list[Level], choice: Choice, *, resume: bool
) -> Staging:
    """The staged version of a build, not yet made."""
    software_of = software(spec.sampling, choice.engine)
    identity = {"name": name, "spec_sha256": spec.sha256, "software": software_of}
    nbytes = planned(spec, levels).nbytes + sum(map(scratch_nbytes, levels))
    return Staging(store, name, nbytes, identity=identity, resume=resume)


def _attributes(spec: GraphSpec, levels: Sequence[LevelFacts]) -> layout.Attributes:
    """The attributes of a version, but for its manifest."""
    return {
        "schema": spec.schema,
        "spec": spec.to_dict(),
        "spec_sha256": spec.sha256,
        "generator": GENERATOR,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "levels": [facts.to_dict() for facts in levels],
    }


def _eigenvalue_scale(level: Level, job: Job, lambda_max: float) -> float | None:
    """The level's, from the arrays that will be published."""
    spec, sampled = (
        level.spec,
        SampledManifold(level.sampling, level.spec.geometry, Metric(level.spec.eps, job.xi or 0.0)),
    )
    degree, coordinates = job.dense("degree").mapped(), job.dense("coordinates").mapped()
    mass = degree if spec.laplacian == "normalized" else job.dense("area").mapped()
    weights = MappedWeights(job.matrix(job.csr.data), lambda_max, mass)
    return eigenvalue_scale(spec, sampled, weights, coordinates, degree)


@dataclass(frozen=True)
class _Build:
    """How a build is carried out."""

    spec: GraphSpec
    choice: Choice
    store: Path
    staging: Staging
    pool: Pool
    kept: Kept
    block_rows: int
    progress: Progress

    def write(self, levels: list[Level]) -> Iterator[LevelFacts]:
        """Stage all levels with the maps between them."""
        for level in levels:  # those that are not written yet help to solve for xi, too
            level.scratch = self._search_lists
        for level in levels:
            yield self._write_level(level)
            if level.number + 1 < len(levels):
                sampling, fine, coarse = level.sampling, level.number, level.number + 1
                self._write_map(f"pooling/{fine}to{coarse}", sampling.pooling(), sampling)
                self._write_map(f"unpooling/{coarse}to{fine}", sampling.unpooling(), sampling)

    def _write_level(self, level: Level) -> LevelFacts:
        oriented = self.spec.geometry.oriented
        xi = self._xi(level) if oriented else None
        made_by = tuple(software(self.spec.sampling, self.choice.engine).items())
        spec, folder = self.spec.recorded(), self.staging.folder
        job = Job(spec, self.choice, level.number, xi, self.store, folder, made_by)
        driver = Driver(
            job, level, self.staging, self.pool, self.kept, self.block_rows, self.progress
        )
        self._write_places(level)
        share_own_points(driver, level.full)
        assembled = assemble(driver)
        bound = assembled.bound
        self._write_eigenpairs(job, level.sampling, bound.value)
        self.progress(f"level {level.number}: measuring its metric", 0, 0)
        return LevelFacts(
            grid=self.spec.grid(level.number),
            vertices=level.num_vertices,
            edges=assembled.edges,
            nnz=assembled.nnz,
            isolated=assembled.isolated,
            dropped_edges=assembled.dropped_edges,
            in_plane_fraction=assembled.in_plane / (2 * assembled.edges),
            xi=xi,
            xi_squared=None if xi is None else xi**2,
            bandwidth=assembled.bandwidth,
            lambda_max=bound.value,
            lambda_max_method=bound.method,
            eigenvalue_scale=_eigenvalue_scale(level, job, bound.value),
            directional=assemble_directional(driver),
        )

    def _write_places(self, level: Level) -> None:
        """Write where the points inside the mask are, which all who do blocks read."""
        if level.inside is None:
            return
        places, points = level.inside.places, level.inside.points
        kind = index_type((points, 1), len(places))
        path = f"levels/{level.number}/{layout.BASE_INDEX}"
        with write_errors(self.store), Writer(durable=False) as out:
            out.write(self.staging.dense(path, places.shape, kind), 0, places)

    def _xi(self, level: Level) -> float:
        """That of the level's metric; solved for once only."""
        sweep = f"{level.number}-xi"
        if self.spec.xi != "auto":
            return level.metric.xi
        found = self.staging.records.result(sweep, (0, 1))
        if found is None:
            found = {"xi": level.metric.xi}
            with write_errors(self.store):
                self.staging.records.keep(sweep, (0, 1), found)
        xi: float = found["xi"]
        return xi

    def _search_lists(self, shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
        """An array for searches that solve for xi, which vanishes with its last use."""
        array = self.staging.scratch("xi", shape, dtype)
        mapped = np.memmap(array.chunk, array.kind, "r+", shape=shape)
        array.chunk.unlink()
        return mapped

    def _write_map(self, path: str, base_map: LevelMap, sampling: Sampling) -> None:
        """Write a map of base points for each orientation."""
        (rows, columns), entries = base_map.shape, len(base_map.indices)
        orientations = sampling.orientations
        shape = (orientations * rows, orientations * columns)
        csr = self.staging.csr(path, shape, orientations * entries)
        with write_errors(self.store), Writer(durable=False) as out:
            out.write(csr.indptr, 0, [0])
            for k in range(orientations):
                out.write(csr.indptr, k * rows + 1, base_map.indptr[1:] + k * entries)
                out.write(csr.indices, k * entries, base_map.indices + k * columns)
                out.write(csr.data, k * entries, base_map.data)

    def _write_eigenpairs(self, job: Job, sampling: Sampling, lambda_max: float) -> None:
        count = self.spec.eigenpairs
        if count is None:
            return
        # Solvers are slow to import, and few builds store eigenpairs.
        from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs

        matrix = job.matrix(job.csr.data)
        self.progress(f"level {job.number}: finding eigenpairs", 0, matrix.nnz)
        pairs = extreme_eigenpairs(matrix, lambda_max, count, sampling=sampling)
        if not pairs.converged:
            raise CheblienetError(
                f"The {count} smallest eigenpairs of level {job.number} did not converge; nothing "
                "was published. Ask for fewer."
            )
        folder = f"levels/{job.number}"
        values = self.staging.dense(f"{folder}/eigenvalues", (count,), "float64")
        vectors = self.staging.dense(f"{folder}/eigenvectors", (job.num_vertices, count), "float32")
        with write_errors(self.store), Writer(durable=False) as out:
            out.write(values, 0, pairs.values)
            out.write(vectors, 0, pairs.vectors)
