"""From a specification to a published version, in row blocks; found by its digest, or built."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.assembly import versions
from cheblienet_graphs.assembly.assemble import write_level, write_map
from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.checks import LevelCheck
from cheblienet_graphs.assembly.level_plan import LevelPlan, level_plans, solved_plans
from cheblienet_graphs.assembly.plan import (
    Plan,
    check_spec,
    planned,
    rows_within,
    scratch_nbytes,
)
from cheblienet_graphs.assembly.versions import same_digest
from cheblienet_graphs.csr import INT32_LIMIT
from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.limits import byte_count, callback, flag, integer
from cheblienet_graphs.machine.processes import opened_pool
from cheblienet_graphs.machine.threads import threads_each
from cheblienet_graphs.measure.verdict import advice
from cheblienet_graphs.progress import progress_bar
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout, staged
from cheblienet_graphs.store.durable import check_writable
from cheblienet_graphs.store.facts import LevelFacts
from cheblienet_graphs.store.publishing import check_graph
from cheblienet_graphs.store.staging_folder import exclusively
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.typing import Progress

if TYPE_CHECKING:
    from cheblienet_models import Pyramid

KEY_DIGITS = 32
"""Number of the digest's digits in the name of the folder that the builder locks."""


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
) -> versions.Published:
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
        workers: processes, in [1, 1024]; 1, the default, is this process alone. A script that has
            several builds below `if __name__ == "__main__":`.
        dask: address of a Dask scheduler, or the file it wrote; its workers must see the store's
            file system; or "local" for a cluster of `workers` processes here, by default one for
            each core.
        memory_limit: bytes, or text such as "2GB", that all processes here may take together, or
            each worker of a cluster elsewhere; makes blocks as large as that allows. Default:
            blocks of 65,536 vertices, of 2^20 on whole lattices.
        resume: go on with an interrupted build of the same graph, if there is one.
        block_rows: vertices in a block, at least 1, instead of what the memory limit gives.
        progress: called as the work proceeds.

    Returns:
        The version.

    Warns:
        OtherGraphWarning: the name stands for another graph than this one, or stood for another
            before.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: the neighbor rule gives no edge, weights vanish, an argument is out of range, or
            there is no such engine or device here.
        StoreError: the store can't be written, or holds something else of that name.
        CheblienetError: a library that this sampling or engine needs does not work here, or a
            worker vanished.

    Example:
        >>> result = build(GraphSpec("r2", 16, weights="selling", levels=1), "graphs.zarr")
        >>> result.name, result.version, result.levels[0]["edges"]
        ('r2-16x16-selling-levels1', 'v001', 480)
    """
    flag("force", force)
    flag("resume", resume)
    callback("progress", progress)
    name = _checked_name(spec, name)
    store = _checked(store, name, memory_limit, block_rows)
    staging: Staging | None = None
    try:
        with opened_pool(workers, dask) as pool:
            choice = pool.first(spec.weighting.choose, spec.sampling_kind, engine, device)
            if not force and (found := versions.published(spec, store, name)):
                return versions.compared_by_name(found, spec)
            progress = progress or (lambda *_: None)
            levels = level_plans(spec, choice, progress)
            rows = int(block_rows or rows_within(levels[0], memory_limit, pool.processes))
            staging = _staging(store, name, levels, resume=resume)
            with staging:
                build = Build(store, staging, pool, rows, progress)
                facts, checks = zip(*_write(build, levels), strict=True)
                levels_of_it = {"levels": [of_level.to_dict() for of_level in facts]}
                find = None if force else partial(versions.newest_equal, spec, store, name)
                version = staging.publish(versions.recorded(spec) | levels_of_it, find)
            result = versions.Published(
                store,
                name,
                version,
                built=staging.published is not None,  # or another process was faster
                levels=facts,
                resumed=staging.resumed,
                checks=checks,
                processes=pool.processes,
                threads=threads_each(choice.engine, pool.processes),
            )
        return versions.compared_by_name(result, spec)  # after all is closed, as it may be an error
    except BaseException as error:
        # A second signal may have cut the exit of staging short, or come while the pool ended.
        if staging is not None:
            staging.close(error)
        raise


def dry_run(spec: GraphSpec, store: str | Path = "graphs.zarr", **given: Any) -> Plan:
    """The sizes of what `build` would publish; nothing is written.

    Arguments, defaults and refusals are the same as for `build`. No cluster is asked.

    Raises:
        SpecError, StoreError, CheblienetError: as `build`.
    """
    arguments = signature(build).bind(spec, store, **given)
    arguments.apply_defaults()
    how = SimpleNamespace(**arguments.arguments)
    name = _checked_name(spec, how.name)
    store = _checked(store, name, how.memory_limit, how.block_rows)
    with opened_pool(how.workers, how.dask, dry=True) as pool:
        choice = pool.first(spec.weighting.choose, spec.sampling_kind, how.engine, how.device)
        levels = level_plans(spec, choice)
        if how.force or not versions.published(spec, store, name):
            rows_within(levels[0], how.memory_limit, pool.processes)
            _staging(store, name, levels, resume=how.resume).check()
        return planned(levels)


def _checked_name(spec: GraphSpec, name: str | None) -> str:
    """The name of a build, by default its specification's; both are refused if they are none."""
    check_spec(spec)
    return layout.check_name(spec.default_name if name is None else name)


def _checked(
    store: str | Path, name: str, memory_limit: int | str | None, block_rows: int | None
) -> Path:
    """The path of a build's store; wrong arguments are refused also where nothing is built."""
    path = layout.store_path(store)
    check_graph(path, name, is_map=False)
    if memory_limit is not None:
        byte_count("memory_limit", memory_limit)
    if block_rows is not None:
        integer("block_rows", block_rows, 1, INT32_LIMIT)
    return path


def _staging(store: Path, name: str, levels: list[LevelPlan], *, resume: bool) -> Staging:
    """The staged version of a build, not yet made."""
    spec = levels[0].spec
    engine = levels[0].choice.engine
    software_of = versions.software(engine)
    graph = {"name": name, "spec_sha256": spec.sha256}
    identity = {**graph, "software": software_of, "kind": staged.KIND}
    nbytes = planned(levels).nbytes + sum(map(scratch_nbytes, levels))
    return Staging(store, name, nbytes, identity=identity, resume=resume)


def _write(build: Build, plans: Sequence[LevelPlan]) -> Iterator[tuple[LevelFacts, LevelCheck]]:
    """Stage all levels with the maps between them."""
    advise = cache(partial(advice, plans[0].spec))
    plans = solved_plans(plans, build.alpha, build.search_lists, build.progress)
    for plan in plans:
        yield write_level(build, plan, advise)
        if plan.number + 1 < len(plans):
            domain = plan.domain
            fine = plan.number
            coarse = plan.number + 1
            orientations = domain.orientations
            write_map(build, f"pooling/{fine}to{coarse}", domain.pooling(), orientations)
            write_map(build, f"unpooling/{coarse}to{fine}", domain.unpooling(), orientations)


def open_or_build(
    spec: GraphSpec,
    store: str | Path = "graphs.zarr",
    *,
    name: str | None = None,
    device: str = "auto",
    workers: int | str | None = None,
) -> "Pyramid":
    """Open the pyramid of a specification; build it first where the store does not have it.

    A version is found by the specification's digest, whatever the name of its graph and whichever
    version of the package built it. Processes that call at once build once: one does, the others
    wait. A build shows a progress bar where stderr is a terminal.

    Args:
        spec: what to open.
        store: where; made if need be. One that can't be written is enough where it has the graph.
        name: of the graph if it is built, and the first place to look; default `spec.default_name`.
        device: "auto", "cpu" or "cuda", for a build that searches.
        workers: processes that build, in [1, 1024]; default 1.

    Returns:
        A pyramid of `cheblienet_models`, its arrays mapped from the store.

    Warns:
        OtherGraphWarning: a build took a name that stood for another graph.

    Raises:
        TypeError: spec is no GraphSpec.
        SpecError: as `build`.
        StoreError: the store holds something else, or does not have the graph and can't be written.
        CheblienetError: as `build`.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> [graph.num_vertices for graph in pyramid.levels]
        [1024, 256]
    """
    name, store = _checked_name(spec, name), layout.store_path(store)
    if found := same_digest(spec, store, name):
        return found.open()
    with ExitStack() as turn:
        try:
            check_writable(store)
            turn.enter_context(exclusively(store, f"opening-{spec.sha256[:KEY_DIGITS]}"))
        except OSError as error:
            why = error.strerror or error
            absent = f"{store} has no graph of this specification and can't be written: {why}; "
            raise StoreError(f"{absent}choose another `store`.") from error
        if not (found := same_digest(spec, store, name)):
            with progress_bar() as progress:
                found = build(
                    spec, store, name=name, device=device, workers=workers, progress=progress
                )
    return found.open()
