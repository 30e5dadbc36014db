"""From a specification to a published version, in row blocks."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

import cheblienet_graphs
from cheblienet_graphs.assembly.blocks import forget
from cheblienet_graphs.assembly.checks import LevelCheck, check
from cheblienet_graphs.assembly.driver import Driver
from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.sizes import rows_within, scratch_nbytes
from cheblienet_graphs.assembly.sweeps import assemble
from cheblienet_graphs.errors import CheblienetError, StoreError
from cheblienet_graphs.machine.threads import threads_each
from cheblienet_graphs.neighbours.choice import Choice, choose
from cheblienet_graphs.pools.opened import opened_pool
from cheblienet_graphs.pools.pool import Pool, software
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.facts import LevelFacts, VersionFacts, read_facts
from cheblienet_graphs.store.staged import INT32_LIMIT, Writer, csr_nbytes
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.typing import Progress
from cheblienet_graphs.values import integer

GENERATOR = {"name": "cheblienet", "version": cheblienet_graphs.__version__}


@dataclass(frozen=True)
class Published:
    """A version in a store.

    Args:
        store, name, version: where it is.
        built: False where it was there already.
        levels: what was recorded of each level, finest first.
        resumed: whether an interrupted build was gone on with.
        checks: what to know of each level, finest first; empty where nothing was built.
        other: the version that the name stood for before, or stands for where nothing was built;
            None where there is no other than this one.
        changes: field -> (its value in that other version's spec, its value in this one's), for
            those that differ.
        processes: how many of this machine did the work, those of a cluster elsewhere left out;
            0 where nothing was built.
        threads: that each of them searched with.
    """

    store: Path
    name: str
    version: str
    built: bool
    levels: tuple[LevelFacts, ...]
    resumed: bool = False
    checks: tuple[LevelCheck, ...] = ()
    other: str | None = None
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    processes: int = 0
    threads: int = 0


@dataclass(frozen=True)
class PlannedLevel:
    """Size of a level before it is built: vertices, undirected edges, stored entries."""

    vertices: int
    edges: int
    nnz: int


@dataclass(frozen=True)
class Plan:
    """What a build would publish: `nbytes` is the size of its arrays.

    On lattices the numbers are exact; elsewhere, where neighbours have to be searched for, edges,
    entries and bytes are upper bounds.
    """

    spec: GraphSpec
    levels: tuple[PlannedLevel, ...]
    nbytes: int
    exact: bool


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

    Raises:
        SpecError: the neighbour rule gives no edge, weights vanish, an argument is out of range, or
            there is no such engine or device here.
        StoreError: the store can't be written, or holds something else of that name.
        CheblienetError: a library that this sampling or engine needs does not work here, or a
            worker vanished.
    """
    store = layout.store_path(store)
    name = layout.check_name(spec.default_name if name is None else name)
    if block_rows is not None:
        block_rows = integer("block_rows", block_rows, 1, INT32_LIMIT)
    staging: Staging | None = None
    try:
        with opened_pool(workers, dask, forget) as pool, _forgetting():
            choice = pool.first(choose, spec.sampling, engine, device, weights=spec.weights)
            if not force and (found := published(spec, store, name)):
                return _as_found(store, name, spec, *found)
            progress = progress or (lambda *_: None)
            levels = _levels(spec, choice, progress)
            rows = block_rows or rows_within(levels[0], memory_limit, pool.processes)
            identity = {
                "name": name,
                "spec_sha256": spec.sha256,
                "software": software(spec.sampling),
            }
            nbytes = _plan(spec, levels).nbytes + sum(map(scratch_nbytes, levels))
            staging = Staging(store, name, nbytes, identity=identity, resume=resume)
            with staging:
                build = _Build(spec, choice, store, staging, pool, rows, progress)
                facts = tuple(build.write(levels))
                version = staging.publish(_attributes(spec, facts))
            folder = store / name / version
            pairs = zip(levels, facts, strict=True)
            other, changes = changes_of(folder.parent, version, spec, built=True)
            return Published(
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
    except BaseException as error:
        # A second signal may have cut the exit of staging short, or come while the pool ended.
        if staging is not None:
            staging.close(error)
        raise


def _as_found(
    store: Path, name: str, spec: GraphSpec, version: str, known: VersionFacts
) -> Published:
    """A version that was there already."""
    other, changes = changes_of(store / name, version, spec, built=False)
    return Published(
        store, name, version, built=False, levels=known.levels, other=other, changes=changes
    )


def _attributes(spec: GraphSpec, levels: Sequence[LevelFacts]) -> layout.Attributes:
    """What a version says of itself, but for its manifest."""
    return {
        "schema": layout.SCHEMA,
        "spec": spec.to_dict(),
        "spec_sha256": spec.sha256,
        "generator": GENERATOR,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "levels": [asdict(facts) for facts in levels],
    }


@contextmanager
def _forgetting() -> Iterator[None]:
    """Keep nothing of a build in this process once it has ended."""
    try:
        yield
    finally:
        forget()


def published(spec: GraphSpec, store: Path, name: str) -> tuple[str, VersionFacts] | None:
    """The newest version of a graph with this spec and this version of the package, if any.

    Returns:
        Its name and its facts.

    Raises:
        StoreError: the store can't be read.
    """
    graph = store / name
    if not layout.check_store(store) or name not in layout.graph_names(store):
        return None
    for version in reversed(layout.versions(graph)):
        try:
            facts = read_facts(graph / version)
        except StoreError:
            continue  # `clg verify` says what is wrong with it
        if facts.spec_sha256 == spec.sha256 and facts.generator == GENERATOR:
            return version, facts
    return None


def changes_of(
    graph: Path, version: str, spec: GraphSpec, *, built: bool
) -> tuple[str | None, dict[str, tuple[Any, Any]]]:
    """How a version's spec differs from that of the one its name stood for, or stands for.

    Args:
        graph: folder of the graph.
        version: the one published or found.
        spec: of that version.
        built: whether it was published just now.

    Returns:
        The newest readable one of the older versions, or of the newer ones where nothing was built;
        and for each field that differs its values there and here. None and nothing where there is
        no such version.
    """
    number = layout.version_number(version)
    for other in reversed(layout.versions(graph)):
        is_older = layout.version_number(other) < number
        if other == version or is_older != built:
            continue
        try:
            before, now = read_facts(graph / other).spec.to_dict(), spec.to_dict()
        except StoreError:
            continue
        differ = [key for key in now | before if before.get(key) != now.get(key)]
        return other, {key: (before.get(key), now.get(key)) for key in differ}
    return None, {}


def plan(spec: GraphSpec) -> Plan:
    """What building a spec would publish, without building it.

    Raises:
        SpecError: the neighbour rule gives no edge, which is known beforehand on lattices.
    """
    return _plan(spec, _levels(spec, choose(spec.sampling, device="cpu")))


def _levels(spec: GraphSpec, choice: Choice, progress: Progress = lambda *_: None) -> list[Level]:
    spec.sampling_kind.check_library()
    levels = [Level(spec, choice, progress=progress)]
    while len(levels) < spec.levels:
        levels.append(levels[-1].coarser)
    return levels


def _plan(spec: GraphSpec, levels: list[Level]) -> Plan:
    planned: list[PlannedLevel] = []
    nbytes = 0
    for level in levels:
        vertices, entries = level.num_vertices, level.degree_bound
        nnz = entries + vertices
        if planned:
            fine = planned[-1].vertices
            sizes = (spec.level_size(len(planned) - 1), spec.level_size(len(planned)))
            links = spec.orientations * spec.sampling_kind.links(*sizes)
            nbytes += csr_nbytes((vertices, fine), links) + csr_nbytes((fine, vertices), links)
        planned.append(PlannedLevel(vertices, entries // 2, nnz))
        nbytes += csr_nbytes((vertices, vertices), nnz)
        nbytes += vertices * (8 * len(spec.geometry.columns) + 4 + 4)  # coordinates, degree, area
        nbytes += (spec.eigenpairs or 0) * (8 + 4 * vertices)
    return Plan(spec, tuple(planned), nbytes, exact=spec.sampling_kind.regular)


@dataclass(frozen=True)
class _Build:
    """How a build is carried out."""

    spec: GraphSpec
    choice: Choice
    store: Path
    staging: Staging
    pool: Pool
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
        folder, made_by = self.staging.folder, tuple(software(self.spec.sampling).items())
        job = Job(self.spec, self.choice, level.number, xi, self.store, folder, made_by)
        assembled = assemble(
            Driver(job, level, self.staging, self.pool, self.block_rows, self.progress)
        )
        bound = assembled.bound
        self._write_eigenpairs(job, bound.value)
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
        )

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

    def _write_eigenpairs(self, job: Job, lambda_max: float) -> None:
        count, level = self.spec.eigenpairs, job.level
        if count is None:
            return
        from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs

        vertices, csr = level.num_vertices, job.csr
        self.progress(f"level {job.number}: finding eigenpairs", 0, csr.data.shape[0])
        parts = (csr.data.mapped(), csr.indices.mapped(), csr.indptr.mapped())
        matrix = scipy.sparse.csr_array(parts, shape=(vertices, vertices))
        pairs = extreme_eigenpairs(matrix, lambda_max, count, sampling=level.sampling)
        if not pairs.converged:
            raise CheblienetError(
                f"The {count} smallest eigenpairs of level {job.number} did not converge; nothing "
                "was published. Ask for fewer."
            )
        folder = f"levels/{job.number}"
        values = self.staging.dense(f"{folder}/eigenvalues", (count,), "float64")
        vectors = self.staging.dense(f"{folder}/eigenvectors", (vertices, count), "float32")
        with write_errors(self.store), Writer(durable=False) as out:
            out.write(values, 0, pairs.values)
            out.write(vectors, 0, pairs.vectors)
