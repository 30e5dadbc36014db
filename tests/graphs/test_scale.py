"""Builds in blocks: by whom, in how many, interrupted or not, the bytes are the same."""

import itertools
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from builds import inodes, interrupted, manifest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, StoreError, build
from cheblienet_graphs.assembly import sizes
from cheblienet_graphs.assembly.blocks import do_block
from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.lattice_rows import Axis, LatticeRows
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.machine.devices import free_index
from cheblienet_graphs.neighbours.choice import Choice, choose
from cheblienet_graphs.pools.pool import software
from cheblienet_graphs.sparse.blocks import with_diagonal
from cheblienet_graphs.sparse.laplacian import inverse_root, laplacian, rescaled
from cheblienet_graphs.sparse.sums import exact_sum, rounded
from cheblienet_graphs.store.layout import check_version
from cheblienet_graphs.store.records import Records, cut, gaps
from cheblienet_graphs.store.staged import StagedArray, Writer
from cheblienet_graphs.store.verify import leftovers, verify
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.values import byte_count
from cheblienet_graphs.weights.kernel import KernelWeights

SPECS = {
    "lattice": GraphSpec("se2", "30x26", orientations=4, levels=2),
    "torus": GraphSpec("se2", 24, orientations=4, boundary="periodic", lambda_max=2, levels=1),
    "selling": GraphSpec("se2", 32, orientations=4, weights="selling", levels=1),
    "sphere": GraphSpec("so3", subdivisions=2, orientations=4, levels=2),
    "matched": GraphSpec(
        "so3", subdivisions=2, orientations=4, levels=1, weights="matched", neighbors=32
    ),
    "random torus": GraphSpec("se2", points=150, orientations=4, boundary="periodic"),
    "fraction": GraphSpec("so3", subdivisions=2, orientations=4, levels=1, xi="auto"),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("expected")
    found = {}
    for name, spec in SPECS.items():
        build(spec, folder / name)
        found[name] = manifest(folder / name)
    return found


# Lattices


@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(st.integers(9, 40), st.integers(9, 40)),
    orientations=st.integers(1, 5),
    boundary=st.sampled_from(["open", "periodic"]),
    neighbors=st.integers(8, 12),
    weights=st.sampled_from(["kernel", "selling", "matched"]),
    laplacian_kind=st.sampled_from(["normalized", "combinatorial"]),
    block=st.integers(1, 50),
)
def test_rows_written_from_a_small_lattice_are_those_of_the_large_one(
    tmp_path_factory: pytest.TempPathFactory,
    size: tuple[int, int],
    orientations: int,
    boundary: str,
    neighbors: int,
    weights: str,
    laplacian_kind: str,
    block: int,
) -> None:
    """Against the same formulas on all rows of the lattice at once."""
    manifold = {"manifold": "se2", "orientations": orientations, "eps": 0.5}
    if orientations == 1:
        manifold = {"manifold": "r2"}
    try:
        spec = GraphSpec(
            **manifold,
            size=size,
            boundary=boundary,
            neighbors=neighbors,
            weights=weights,
            laplacian=laplacian_kind,
            levels=1,
        )
        level = Level(spec, Choice("stencil", "cpu"))
        edges = level.edges()
    except SpecError:
        return  # too small for the stencils, or no such weights
    vertices = spec.num_vertices
    engine = edges.engine
    rows = with_diagonal(0, engine.degrees(0, vertices), engine.columns(0, vertices))
    if weights == "kernel":
        squared = edges.weights.squared_distances(rows)
        edges.weights.set_mean(math.fsum(rows.sums(squared)) / engine.total_degree)
    values = edges.weights.weights(rows)
    degree = rows.sums(values)
    mass = degree if laplacian_kind == "normalized" else np.ones(vertices)
    delta = laplacian(rows, values, degree, inverse_root(mass)).astype(np.float32)
    store = tmp_path_factory.mktemp("rows") / "g.zarr"
    build(spec, store, name="g", block_rows=block * size[0])
    version = store / "g" / "v001"
    facts = check_version(version)["levels"][0]
    scaled = rescaled(delta, rows.rows == rows.columns, facts["lambda_max"])
    folder = version / "levels" / "0"
    for name, array in {
        "laplacian/indptr": rows.indptr.astype(np.int32),
        "laplacian/indices": rows.columns.astype(np.int32),
        "laplacian/data": scaled.astype(np.float32),
        "degree": degree.astype(np.float32),
        "area": np.ones(vertices, np.float32),
    }.items():
        assert (folder / name / "c" / "0").read_bytes() == array.tobytes(), name
    assert facts["isolated"] == int((np.diff(rows.indptr) == 1).sum())
    points = size[0] * size[1]
    in_plane = int((rows.rows // points == rows.columns // points).sum()) - vertices
    assert facts["in_plane_fraction"] == in_plane / (2 * facts["edges"])


@given(st.integers(1, 60), st.integers(0, 9))
def test_places_look_like_those_of_a_small_side(size: int, reach: int) -> None:
    axis = Axis(size, reach)
    assert len(axis.like) == size
    assert axis.times.sum() == size
    assert axis.small == len(axis.times) <= 4 * reach + 1
    for place, like in enumerate(axis.like):
        assert min(place, 2 * reach) == min(like, 2 * reach)  # as far from this boundary
        assert min(size - 1 - place, 2 * reach) == min(axis.small - 1 - like, 2 * reach)


# Sums


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40),
    st.integers(0, 40),
)
def test_exact_sums(values: list[float], split: int) -> None:
    array = np.array(values, float)
    exact = sum((Fraction(value) for value in values), Fraction())
    assert Fraction(exact_sum(array), 2**1127) == exact
    assert exact_sum(array) == exact_sum(array[:split]) + exact_sum(array[split:])
    times = np.arange(len(array)) % 3
    assert exact_sum(array, times) == exact_sum(np.repeat(array, times))
    if abs(exact) < Fraction(2) ** 1000:
        assert rounded(exact_sum(array)) == math.fsum(values)


# Records


@given(st.sets(st.integers(0, 50)), st.integers(1, 9))
def test_gaps_and_ranges_make_the_whole(ends: set[int], step: int) -> None:
    edges = sorted(ends | {0, 50})
    ranges = [pair for n, pair in enumerate(itertools.pairwise(edges)) if n % 2]
    pieces = cut(gaps(ranges, 50), step)
    assert sorted([row for start, stop in [*pieces, *ranges] for row in range(start, stop)]) == [
        *range(50)
    ]
    assert all(0 < stop - start <= step for start, stop in pieces)


def test_overlapping_records_are_counted_once(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for rows in ((0, 10), (5, 15), (10, 12), (20, 30)):
        records.keep("s", rows, {"entries": rows[1] - rows[0]})
    (tmp_path / "s" / "torn-name").write_text("{")  # not yet renamed
    assert records.finished("s") == {
        (0, 10): {"entries": 10},
        (10, 12): {"entries": 2},
        (20, 30): {"entries": 10},
    }
    assert records.result("s", (5, 15)) == {"entries": 10}
    assert records.result("s", (0, 15)) is None
    assert records.finished("t") == {}
    assert len(records) == 4


def test_parts_written_in_any_order_make_the_array(tmp_path: Path) -> None:
    array = StagedArray(tmp_path / "a", (7, 2), "int32").reserve({})
    whole = np.arange(14, dtype=np.int32).reshape(7, 2)
    for start, stop in ((5, 7), (0, 2), (2, 5), (2, 5)):
        with Writer() as out:
            out.write(array, start, whole[start:stop].astype(np.int64))
    assert (array.mapped() == whole).all()
    assert (array.part(3, 6) == whole[3:6]).all()
    assert (array.reserve({}).mapped() == whole).all()  # what is there stays
    assert StagedArray(tmp_path / "a", (8, 2), "int32").reserve({}).mapped().shape == (8, 2)


# Whoever does the work


@pytest.mark.parametrize("name", SPECS)
def test_bytes_do_not_depend_on_processes(
    tmp_path: Path, name: str, expected: dict[str, dict[str, object]]
) -> None:
    build(SPECS[name], tmp_path / "g", workers=2, block_rows=211)
    assert manifest(tmp_path / "g") == expected[name]


@pytest.mark.parametrize("name", ["lattice", "torus"])
@pytest.mark.parametrize("engine", ["pruned", "keops"])
def test_bytes_do_not_depend_on_the_engine_and_its_blocks(
    tmp_path: Path, name: str, engine: str, expected: dict[str, dict[str, object]]
) -> None:
    build(SPECS[name], tmp_path / "g", engine=engine, device="cpu", block_rows=500)
    assert manifest(tmp_path / "g") == expected[name]


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs="CRITICAL",
    ) as cluster:
        yield cluster


@pytest.mark.parametrize("name", ["lattice", "sphere", "matched"])
def test_dask_cluster_of_which_a_worker_is_killed(
    tmp_path: Path, name: str, cluster: object, expected: dict[str, dict[str, object]]
) -> None:
    """Blocks of the dead worker go to others, finished ones are not done again."""
    distributed = pytest.importorskip("distributed")
    store, before = tmp_path / "g", dict[Path, int]()
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)  # one may just have been killed by another test
        pids = list(client.run(os.getpid).values())
    killed = []

    def watch(_what: str, done: int, total: int) -> None:
        found = inodes(store)
        assert found.items() >= before.items()
        before.update(found)
        if not killed and 0 < done < total:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    build(SPECS[name], store, dask=cluster.scheduler_address, block_rows=211, progress=watch)
    assert len(killed) == 1
    assert len(before) > 10
    assert manifest(store) == expected[name]
    assert leftovers(store) == []


def test_dask_scheduler_file(
    tmp_path: Path, cluster: object, expected: dict[str, dict[str, object]]
) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"type": "Scheduler", "address": cluster.scheduler_address}))
    build(SPECS["torus"], tmp_path / "g", dask=str(file), block_rows=500)
    assert manifest(tmp_path / "g") == expected["torus"]


def test_dask_workers_keep_nothing_of_a_build(tmp_path: Path, cluster: object) -> None:
    """They outlive it."""
    import distributed

    def kept_jobs() -> int:  # sent as it is: workers need not find these tests
        from cheblienet_graphs.assembly.blocks import rows_of

        return rows_of.cache_info().currsize

    during = []

    def watch(*_: object) -> None:
        during.append(sum(client.run(kept_jobs).values()))

    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        build(
            SPECS["sphere"],
            tmp_path / "g",
            dask=cluster.scheduler_address,
            block_rows=500,
            progress=watch,
        )
        assert max(during) > 0
        for _ in range(600):  # the builder tells them without waiting for an answer
            if not sum(client.run(kept_jobs).values()):
                break
            time.sleep(0.1)
        else:
            pytest.fail("a worker still has what it kept for the build")


def test_local_dask_cluster(tmp_path: Path, expected: dict[str, dict[str, object]]) -> None:
    pytest.importorskip("distributed")
    build(SPECS["torus"], tmp_path / "g", dask="local", workers=2, block_rows=500)
    assert manifest(tmp_path / "g") == expected["torus"]


def test_error_of_a_dask_worker_is_that_of_a_build(tmp_path: Path, cluster: object) -> None:
    spec = GraphSpec("se2", 24, neighbors=1, levels=1)
    with pytest.raises(SpecError) as here:
        build(spec, tmp_path / "g")
    with pytest.raises(SpecError) as there:
        build(spec, tmp_path / "g", engine="pruned", dask=cluster.scheduler_address, block_rows=50)
    assert str(here.value) == str(there.value)
    assert list(tmp_path.iterdir()) == []


# Interrupted and resumed


OTHER_WAYS = [
    {},
    {"block_rows": 97},
    {"block_rows": 100_000},
    {"workers": 2, "block_rows": 300},
]


@pytest.mark.parametrize("name", SPECS)
def test_interrupted_anywhere_and_resumed(
    tmp_path: Path, name: str, expected: dict[str, dict[str, object]]
) -> None:
    """Also twice, with blocks of other sizes and by other processes."""
    spec = SPECS[name]
    for way, after in enumerate(range(0, 400, 7)):
        store = tmp_path / str(after)
        stop = interrupted(spec, store, after, block_rows=211)
        if stop is None:
            break
        kept = inodes(store)
        if kept:
            assert f"{len(kept):,} finished block" in stop.__notes__[0]
            assert "`resume=True`" in stop.__notes__[0]
        else:
            assert leftovers(store) == []
        interrupted(spec, store, 3, block_rows=150, resume=True)
        assert inodes(store).items() >= kept.items()
        kept = inodes(store)
        result = build(
            spec, store, resume=True, **({"block_rows": 211} | OTHER_WAYS[way % len(OTHER_WAYS)])
        )
        assert result.resumed == bool(kept)
        assert manifest(store) == expected[name]
        assert leftovers(store) == []
    assert after >= 14


@pytest.mark.parametrize("engines", [("pruned", "stencil"), ("stencil", "pruned")])
def test_resumed_by_the_other_engine_anywhere(
    tmp_path: Path, engines: tuple[str, str], expected: dict[str, dict[str, object]]
) -> None:
    first, then = ({"engine": engine, "device": "cpu"} for engine in engines)
    for after in range(0, 400, 5):
        store = tmp_path / str(after)
        if interrupted(SPECS["lattice"], store, after, block_rows=500, **first) is None:
            break
        build(SPECS["lattice"], store, resume=True, block_rows=500, **then)
        assert manifest(store) == expected["lattice"]
    assert after > 10


def test_ctrl_c_ends_a_build_by_local_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    program = (
        "import os, signal\n"
        "from cheblienet_graphs import GraphSpec, build\n"
        "def stop(_what, done, total):\n"
        "    if done: os.kill(os.getpid(), signal.SIGINT)\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"    spec = GraphSpec.from_dict({SPECS['lattice'].to_dict()!r})\n"
        f"    build(spec, {str(tmp_path / 'g')!r}, dask='local', workers=1, block_rows=211,\n"
        "          progress=stop)\n"
    )
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, str(tmp_path / "program.py")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert "KeyboardInterrupt" in ended.stderr
    assert len(leftovers(tmp_path / "g")) == 1


def test_nothing_comes_back_once_a_build_is_gone(tmp_path: Path) -> None:
    """A block that ends after its build was removed records nothing."""
    records = Records(tmp_path / "gone" / "finished")
    with pytest.raises(FileNotFoundError):
        records.keep("s", (0, 1), {})
    assert list(tmp_path.iterdir()) == []


def test_resumed_by_another_engine(tmp_path: Path, expected: dict[str, dict[str, object]]) -> None:
    interrupted(SPECS["lattice"], tmp_path / "g", 9, block_rows=211)
    assert inodes(tmp_path / "g")
    build(SPECS["lattice"], tmp_path / "g", resume=True, engine="pruned", block_rows=500)
    assert manifest(tmp_path / "g") == expected["lattice"]


def test_resume_finds_its_own_build_only(tmp_path: Path) -> None:
    store = tmp_path / "g"
    interrupted(SPECS["lattice"], store, 9, block_rows=211)
    [left] = leftovers(store)
    for spec, name in ((SPECS["torus"], None), (SPECS["lattice"], "other")):
        assert not build(spec, store, name=name, resume=True).resumed
        assert leftovers(store) == [left]
    identity = json.loads((left / "build.json").read_text())
    identity["software"]["numpy"] = "1.0"
    (left / "build.json").write_text(json.dumps(identity))
    assert not build(SPECS["lattice"], store, resume=True).resumed
    assert leftovers(store) == [left]


def test_build_at_work_is_not_resumed(tmp_path: Path) -> None:
    spec, store = SPECS["lattice"], tmp_path / "g"
    second = []

    def meanwhile(*_: object) -> None:
        if not second and inodes(store):
            second.append(build(spec, store, resume=True, force=True))

    first = build(spec, store, block_rows=211, progress=meanwhile)
    assert not second[0].resumed
    assert {first.version, second[0].version} == {"v001", "v002"}


@pytest.mark.parametrize("name", ["lattice", "sphere"])
@pytest.mark.parametrize("moment", ["sealed", "half of a record"])
def test_killed_while_publishing(
    tmp_path: Path,
    name: str,
    moment: str,
    expected: dict[str, dict[str, object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process ends there and then: nothing is tidied up."""
    store = tmp_path / "g"
    program = (
        "import os, sys\n"
        "from cheblienet_graphs.store import records, writer\n"
        "from cheblienet_graphs import GraphSpec, build\n"
        f"spec = GraphSpec.from_dict({SPECS[name].to_dict()!r})\n"
    )
    if moment == "sealed":
        program += "writer.publish = lambda *_: os._exit(9)\n"
    else:
        program += (
            "calls, replace = [], records.replace\n"
            "def torn(file, contents, temporary):\n"
            "    calls.append(file)\n"
            "    if len(calls) == 5:\n"
            "        temporary.write_bytes(contents[:1]); os._exit(9)\n"
            "    replace(file, contents, temporary)\n"
            "records.replace = torn\n"
        )
    program += f"build(spec, {str(store)!r}, block_rows=211)"
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == 9
    assert len(leftovers(store)) == 1
    assert build(SPECS[name], store, resume=True, block_rows=211).resumed
    assert manifest(store) == expected[name]
    assert verify(store) == []
    assert leftovers(store) == []


def test_vanished_worker(
    tmp_path: Path, expected: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import multiprocessing

    others = {child.pid for child in multiprocessing.active_children()}

    def kill(_what: str, done: int, total: int) -> None:
        if 0 < done < total:
            for child in multiprocessing.active_children():
                if child.pid not in others:
                    os.kill(child.pid, signal.SIGKILL)

    store = tmp_path / "g"
    with pytest.raises(CheblienetError, match="A worker process vanished") as caught:
        build(SPECS["sphere"], store, workers=2, block_rows=50, progress=kill)
    assert "`resume=True`" in caught.value.__notes__[0]
    assert build(SPECS["sphere"], store, resume=True).resumed
    assert manifest(store) == expected["sphere"]


def test_refused_build_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't succeed is nothing to resume."""
    monkeypatch.setattr(KernelWeights, "weights", lambda _, block: np.zeros(len(block.columns)))
    with pytest.raises(SpecError, match="weights of 648 vertices vanish"):
        build(SPECS["sphere"], tmp_path / "g", block_rows=100)
    assert list(tmp_path.iterdir()) == []


# What workers must have in common


@pytest.fixture
def sent(tmp_path: Path) -> Iterator[Job]:
    spec, made_by = SPECS["lattice"], tuple(software("lattice").items())
    with Staging(tmp_path / "g", "g", 0) as staging:
        yield Job(spec, choose("lattice"), 0, 0.1, tmp_path / "g", staging.folder, made_by)


def test_jobs_travel(sent: Job) -> None:
    assert LatticeRows(sent).nnz
    assert sent.level
    assert pickle.loads(pickle.dumps(sent)) == sent
    assert len(pickle.dumps(sent)) < 4096


def test_worker_with_other_libraries(sent: Job) -> None:
    older = tuple((name, "1.0" if name == "numpy" else found) for name, found in sent.software)
    with pytest.raises(CheblienetError, match=r"worker has numpy .*another version"):
        do_block(replace(sent, software=older), "rows", (0, 1), {"lambda_max": None})


def test_worker_without_the_file_system(sent: Job, tmp_path: Path) -> None:
    sent = replace(sent, folder=tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="must see the store's file system"):
        do_block(sent, "rows", (0, 1), {"lambda_max": None})


def test_every_process_has_its_device(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from cheblienet_graphs.machine.devices import free_index\n"
        f"print(free_index(3, Path({str(tmp_path)!r})), flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    found, processes = [], []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", program], **pipes)
        found.append(int(process.stdout.readline()))
        processes.append(process)
    assert found == [0, 1, 2]
    assert free_index(3, tmp_path) in {0, 1, 2}  # shared
    processes[1].communicate("\n")
    assert free_index(3, tmp_path) == 1
    for process in (processes[0], processes[2]):
        process.communicate("\n")


# Memory


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2GB", 2e9), ("500 MB", 5e8), ("1.5GiB", 1.5 * 2**30), (10**9, 1e9), ("64k", 64e3)],
)
def test_sizes_in_bytes(text: object, expected: float) -> None:
    assert byte_count("memory_limit", text) == expected


@pytest.mark.parametrize("text", ["", "2 cats", "-1GB", "0", "1.2.3MB", "nan", "infGB"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(SpecError, match="memory_limit must be a size such as 500MB or 2GB"):
        byte_count("memory_limit", text)


@pytest.mark.parametrize("spec", [SPECS["lattice"], SPECS["sphere"]])
def test_memory_limit_sets_the_block(spec: GraphSpec) -> None:
    level = Level(spec, choose(spec.sampling, device="cpu"))
    assert sizes.rows_within(level, None, 2) == sizes.BLOCK_ROWS
    rows = [sizes.rows_within(level, limit, 2) for limit in ("900MB", "2GB", "1TB")]
    assert rows == sorted(rows)
    assert rows[0] >= sizes.LEAST_BLOCK_ROWS
    assert rows[-1] == sizes.MOST_BLOCK_ROWS
    with pytest.raises(SpecError, match=r"at least .*B here, with 4 workers.*fewer `workers`"):
        sizes.rows_within(level, "100MB", 4)
    with pytest.raises(SpecError, match="Got '1 B'"):
        sizes.rows_within(level, 1, 1)


def test_block_rows_out_of_range(tmp_path: Path) -> None:
    for rows in (0, -1, 1.5, "two", True):
        with pytest.raises(SpecError, match=r"block_rows must be an integer in \[1, "):
            build(SPECS["torus"], tmp_path / "g", block_rows=rows)
    assert list(tmp_path.iterdir()) == []


def test_workers_out_of_range(tmp_path: Path) -> None:
    for workers in (0, -1, 1025, 1.5, "two", True):
        with pytest.raises(SpecError, match=r"workers must be an integer in \[1, 1024\]"):
            build(SPECS["torus"], tmp_path / "g", workers=workers)
