"""From a specification to a published version, in row blocks."""

import datetime as dt
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import cheblienet_graphs
from cheblienet_graphs.engines import Choice, choose
from cheblienet_graphs.errors import CheblienetError, SpecError, StoreError
from cheblienet_graphs.laplacian import (
    RowBlock,
    inverse_root,
    laplacian,
    rescaled,
    with_diagonal,
)
from cheblienet_graphs.levels import Level
from cheblienet_graphs.neighbours import Floats
from cheblienet_graphs.pooling import LevelMap
from cheblienet_graphs.samplings.healpix import check_library
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spectrum.bound import (
    SpectralBound,
    largest_eigenvalue_bound,
    largest_possible,
)
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.writer import Staging, csr_nbytes
from cheblienet_graphs.weights.of_length import KernelWeights

BLOCK_ROWS = 65_536
GENERATOR = {"name": "cheblienet", "version": cheblienet_graphs.__version__}

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, vertices or stored entries done, altogether)."""


@dataclass(frozen=True)
class Published:
    """A version in a store.

    Args:
        store, name, version: where it is.
        built: False where it was there already.
        levels: what was recorded of each level, finest first, as `LevelFacts`.
    """

    store: Path
    name: str
    version: str
    built: bool
    levels: tuple[dict[str, Any], ...]


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


@dataclass(frozen=True)
class LevelFacts:
    """What a build records of a level; `xi` and `xi_squared` are None without orientations.

    `grid` is the shape of a signal, orientations first: (n_o, height, width) on a lattice.
    `bandwidth` is None where no kernel is involved; `dropped_edges` are those whose matched weight
    came out 0.
    """

    grid: tuple[int, ...]
    vertices: int
    edges: int
    nnz: int
    isolated: int
    dropped_edges: int
    in_plane_fraction: float
    xi: float | None
    xi_squared: float | None
    bandwidth: float | None
    lambda_max: float
    lambda_max_method: str


def build(
    spec: GraphSpec,
    store: str | Path = "graphs.zarr",
    *,
    name: str | None = None,
    force: bool = False,
    engine: str = "auto",
    device: str = "auto",
    block_rows: int = BLOCK_ROWS,
    progress: Progress | None = None,
) -> Published:
    """Build a pyramid and publish it as the next version of its graph.

    Where this spec is already published by this version of the package, nothing is done.

    Args:
        spec: what to build.
        store: where; made if need be.
        name: of the graph; default `spec.default_name`.
        force: build a new version even if an equal one is there.
        engine: "stencil" (lattices), "pruned" or "keops"; "auto" takes the fastest. All find the
            same edges.
        device: "cpu" or "cuda" for the two that search; "auto" is cuda where torch sees one.
        block_rows: vertices worked on at a time; sets the memory, not the result.
        progress: called as the work proceeds.

    Returns:
        The version.

    Raises:
        SpecError: the neighbour rule gives no edge, weights vanish, or there is no such engine or
            device here.
        StoreError: the store can't be written, or holds something else of that name.
        CheblienetError: a library that this sampling or engine needs does not work here.
    """
    store = Path(store).expanduser().absolute()
    name = layout.check_name(spec.default_name if name is None else name)
    choice = choose(spec.sampling, engine, device, weights=spec.weights)
    if not force and (version := published(spec, store, name)):
        facts = layout.check_version(store / name / version)["levels"]
        return Published(store, name, version, built=False, levels=tuple(facts))
    progress = progress or (lambda *_: None)
    levels = _levels(spec, choice, progress)
    lists = 0 if choice.engine == "stencil" else levels[0].num_vertices * spec.neighbors * 8
    with Staging(store, name, _plan(spec, levels).nbytes + lists) as staging:
        for level in levels:
            level.scratch = staging.scratch
        work = _Work(spec, staging, block_rows, progress)
        attributes: dict[str, Any] = {
            "schema": layout.SCHEMA,
            "spec": spec.to_dict(),
            "spec_sha256": spec.sha256,
            "generator": GENERATOR,
            "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "levels": [asdict(facts) for facts in _write_levels(levels, work)],
        }
        version = staging.publish(attributes)
        return Published(store, name, version, built=True, levels=tuple(attributes["levels"]))


def published(spec: GraphSpec, store: Path, name: str) -> str | None:
    """The newest version of a graph with this spec and this version of the package, if any.

    Raises:
        StoreError: the store can't be read.
    """
    graph = store / name
    if not layout.check_store(store) or name not in layout.graph_names(store):
        return None
    for version in reversed(layout.versions(graph)):
        try:
            found = layout.check_version(graph / version)
        except StoreError:
            continue  # `clg verify` says what is wrong with it
        if found.get("spec_sha256") == spec.sha256 and found.get("generator") == GENERATOR:
            return version
    return None


def plan(spec: GraphSpec) -> Plan:
    """What building a spec would publish, without building it.

    Raises:
        SpecError: the neighbour rule gives no edge, which is known beforehand on lattices.
    """
    return _plan(spec, _levels(spec, choose(spec.sampling, device="cpu")))


def _levels(spec: GraphSpec, choice: Choice, progress: Progress = lambda *_: None) -> list[Level]:
    if spec.sampling == "healpix":
        check_library()
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
            # On the icosphere the midpoints have two parents, elsewhere each point has one.
            links = 2 * fine - vertices if spec.sampling == "icosahedral" else fine
            nbytes += csr_nbytes((vertices, fine), links) + csr_nbytes((fine, vertices), links)
        planned.append(PlannedLevel(vertices, entries // 2, nnz))
        nbytes += csr_nbytes((vertices, vertices), nnz)
        nbytes += vertices * (8 * len(spec.geometry.columns) + 4 + 4)  # coordinates, degree, area
        nbytes += (spec.eigenpairs or 0) * (8 + 4 * vertices)
    return Plan(spec, tuple(planned), nbytes, exact=spec.sampling == "lattice")


@dataclass(frozen=True)
class _Work:
    """How a build is carried out."""

    spec: GraphSpec
    staging: Staging
    block_rows: int
    progress: Progress


def _write_levels(levels: list[Level], work: _Work) -> Iterator[LevelFacts]:
    for level in levels:
        yield _Assembly(level, work).write()
        if level.number + 1 < len(levels):
            sampling, fine, coarse = level.sampling, level.number, level.number + 1
            for path, base_map in (
                (f"pooling/{fine}to{coarse}", sampling.pooling()),
                (f"unpooling/{coarse}to{fine}", sampling.unpooling()),
            ):
                _write_map(work.staging, path, base_map.repeated(sampling.orientations))


def _write_map(staging: Staging, path: str, level_map: LevelMap) -> None:
    arrays = staging.csr(path, level_map.shape, len(level_map.data))
    arrays.indptr[:] = level_map.indptr
    arrays.indices[:] = level_map.indices
    arrays.data[:] = level_map.data


class _Assembly:
    """One level, written block by block into its staged files.

    Four sweeps over the rows: columns and, for a kernel, the mean squared distance; degrees, which
    need the mean; the Laplacian, which needs the degrees of all vertices; its rescaling, which
    needs its spectrum. Between sweeps only O(V) numbers are kept, besides one block.
    """

    def __init__(self, level: Level, work: _Work) -> None:
        self.level, self.sampling, self.spec = level, level.sampling, work.spec
        self.staging = work.staging
        vertices, step = level.num_vertices, work.block_rows
        self.blocks = [(lo, min(lo + step, vertices)) for lo in range(0, vertices, step)]
        self.progress = work.progress
        edges = level.edges()
        self.engine, self.weights = edges.engine, edges.weights
        self.block = lru_cache(maxsize=1)(self._block)

    def write(self) -> LevelFacts:
        """Stage the level's arrays and return what is to be recorded of it."""
        folder, staging = f"levels/{self.level.number}", self.staging
        vertices = self.level.num_vertices
        degrees = np.concatenate([self.engine.degrees(*rows) for rows in self.blocks])
        self.indptr = np.concatenate([[0], np.cumsum(degrees + 1)])
        nnz = int(self.indptr[-1])
        self.csr = staging.csr(f"{folder}/laplacian", (vertices, vertices), nnz)
        self.csr.indptr[:] = self.indptr
        edges, in_plane = nnz - vertices, self._write_columns()
        degree = self._write_degree(staging.dense(f"{folder}/degree", (vertices,), "float32"))
        areas = self.sampling.areas()
        bound = self._write_laplacian(degree, areas)
        self._write_points(folder, areas)
        self._write_eigenpairs(folder, bound.value)
        metric, oriented = self.level.metric, self.spec.geometry.oriented
        return LevelFacts(
            grid=self.spec.grid(self.level.number),
            vertices=vertices,
            edges=edges // 2,
            nnz=nnz,
            isolated=int((degrees == 0).sum()),
            dropped_edges=self.weights.dropped_edges,
            in_plane_fraction=in_plane / edges,
            xi=metric.xi if oriented else None,
            xi_squared=metric.xi**2 if oriented else None,
            bandwidth=self.weights.bandwidth,
            lambda_max=bound.value,
            lambda_max_method=bound.method,
        )

    def _write_columns(self) -> int:
        """Sweep 1; sets a kernel's bandwidth, returns how many entries keep the orientation."""
        kernel = self.weights if isinstance(self.weights, KernelWeights) else None
        totals: list[float] = []
        in_plane, points = 0, self.sampling.num_points
        for start, stop in self._reported("neighbours"):
            degrees = np.diff(self.indptr[start : stop + 1]) - 1
            columns = self.engine.columns(start, stop)
            merged = with_diagonal(start, degrees, columns).columns
            self.csr.indices[self._entries(start, stop)] = merged
            block = self.block(start, stop)
            if kernel:
                totals.extend(block.sums(kernel.squared_distances(block)))
            in_plane += int((block.rows // points == merged // points).sum()) - (stop - start)
        if kernel:
            kernel.set_mean(math.fsum(totals) / (int(self.indptr[-1]) - self.level.num_vertices))
        return in_plane

    def _write_degree(self, stored: Floats) -> Floats:
        """Sweep 2; degrees of all vertices in float64, stored in float32."""
        degree = np.empty(self.level.num_vertices)
        for start, stop in self._reported("degrees"):
            block = self.block(start, stop)
            degree[start:stop] = block.sums(self.weights.weights(block))
        stored[:] = degree
        vanished = int(((stored == 0) & (np.diff(self.indptr) > 1)).sum())
        if vanished:
            raise SpecError(
                "bandwidth",
                f"larger here, since the weights of {vanished} vertices vanish in float32",
                self.spec.bandwidth,
            )
        return degree

    def _write_laplacian(self, degree: Floats, areas: Floats) -> SpectralBound:
        """Sweeps 3 and 4, and the bound of the spectrum between them."""
        combinatorial = self.spec.laplacian == "combinatorial"
        inverse_root_mass = inverse_root(areas if combinatorial else degree)
        for start, stop in self._reported("Laplacian"):
            block = self.block(start, stop)
            values = laplacian(block, self.weights.weights(block), degree, inverse_root_mass)
            self.csr.data[self._entries(start, stop)] = values
        bound = self._bound(largest_possible(degree, areas) if combinatorial else 2.0)
        for start, stop in self._reported("rescaling"):
            entries, block = self._entries(start, stop), self.block(start, stop)
            self.csr.data[entries] = rescaled(block, self.csr.data[entries], bound.value)
        return bound

    def _write_points(self, folder: str, areas: Floats) -> None:
        columns, vertices = self.spec.geometry.columns, self.level.num_vertices
        shape = (vertices, len(columns))
        coordinates = self.staging.dense(f"{folder}/coordinates", shape, "float64", columns)
        coordinates[:] = self.sampling.coordinates()
        self.staging.dense(f"{folder}/area", (vertices,), "float32")[:] = areas

    def _write_eigenpairs(self, folder: str, lambda_max: float) -> None:
        count, vertices = self.spec.eigenpairs, self.level.num_vertices
        if count is None:
            return
        from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs

        self.progress(f"level {self.level.number}: eigenpairs", 0, int(self.indptr[-1]))
        pairs = extreme_eigenpairs(
            self._rows(0, vertices), lambda_max, count, sampling=self.sampling
        )
        if not pairs.converged:
            raise CheblienetError(
                f"The {count} smallest eigenpairs of level {self.level.number} did not converge; "
                "nothing was published. Ask for fewer."
            )
        self.staging.dense(f"{folder}/eigenvalues", (count,), "float64")[:] = pairs.values
        self.staging.dense(f"{folder}/eigenvectors", (vertices, count), "float32")[:] = (
            pairs.vectors
        )

    def _bound(self, limit: float) -> SpectralBound:
        """An upper bound of the spectrum, itself at most `limit`."""
        if self.spec.lambda_max == 2:
            return SpectralBound(limit, "bound")
        self.progress(f"level {self.level.number}: largest eigenvalue", 0, int(self.indptr[-1]))

        # Views of the mapped files; a product copies a block's values to float64 and drops them.
        rows = [self._rows(*block) for block in self.blocks]

        def product(x: Floats) -> Floats:
            return np.concatenate([block @ x for block in rows])

        return largest_eigenvalue_bound(product, self.level.num_vertices, limit=limit)

    def _rows(self, start: int, stop: int) -> scipy.sparse.csr_array:
        """Rows of Delta as a matrix over the mapped entries."""
        entries = self._entries(start, stop)
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        parts = (
            self.csr.data[entries].view(np.ndarray),
            self.csr.indices[entries].view(np.ndarray),
            indptr.astype(self.csr.indices.dtype),
        )
        return scipy.sparse.csr_array(parts, shape=(stop - start, self.level.num_vertices))

    def _block(self, start: int, stop: int) -> RowBlock:
        """The rows as they are stored; the last ones are kept, as a level often is one block."""
        entries = self._entries(start, stop)
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        return RowBlock(start, stop, indptr, self.csr.indices[entries].astype(np.int64))

    def _entries(self, start: int, stop: int) -> slice:
        return slice(int(self.indptr[start]), int(self.indptr[stop]))

    def _reported(self, sweep: str) -> Iterator[tuple[int, int]]:
        nnz = int(self.indptr[-1])
        for start, stop in self.blocks:
            yield start, stop
            self.progress(f"level {self.level.number}: {sweep}", int(self.indptr[stop]), nnz)
