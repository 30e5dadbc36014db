"""Blocks done by a dask cluster that loses a worker, outlives the build, or is local."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from builds import SPECS, inodes, manifest
from marks import slow_but

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.store.verify import leftovers


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    quietly = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quietly) as cluster:
        yield cluster


@pytest.mark.parametrize("name", slow_but(["lattice"], ["lattice", "matched", "sphere"]))
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


@pytest.mark.parametrize("name", ["mask"])
def test_a_scheduler_file_and_a_local_cluster(
    tmp_path: Path, name: str, cluster: object, expected: dict[str, dict[str, object]]
) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"type": "Scheduler", "address": cluster.scheduler_address}))
    for dask, workers in ((str(file), None), ("local", 2)):
        build(SPECS[name], tmp_path / dask[-5:], dask=dask, workers=workers, block_rows=500)
        assert manifest(tmp_path / dask[-5:]) == expected[name]


@pytest.mark.slow
def test_points_of_ones_own_travel(tmp_path: Path, cluster: object) -> None:
    """What is sent has their digest; workers find the points in the store."""
    points = np.random.default_rng(4).random((150, 2)) * [5, 3]
    spec = GraphSpec("se2", coordinates=[points, points[100:]], orientations=4)
    build(spec, tmp_path / "whole")
    build(spec, tmp_path / "g", dask=cluster.scheduler_address, block_rows=150)
    assert manifest(tmp_path / "g") == manifest(tmp_path / "whole")


def test_dask_workers_keep_nothing_of_a_build(
    tmp_path: Path, cluster: object, expected: dict[str, dict[str, object]]
) -> None:
    """They outlive it."""
    import distributed

    def kept_jobs() -> int:  # sent as it is: workers need not find these tests
        from cheblienet_graphs.machine import HELD

        return HELD._made.cache_info().currsize

    during = []

    def watch(*_: object) -> None:
        during.append(sum(client.run(kept_jobs).values()))

    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        how = {"dask": cluster.scheduler_address, "block_rows": 500}
        build(SPECS["sphere"], tmp_path / "g", **how, progress=watch)
        assert manifest(tmp_path / "g") == expected["sphere"]
        assert max(during) > 0
        for _ in range(600):  # the builder tells them without waiting for an answer
            if not sum(client.run(kept_jobs).values()):
                break
            time.sleep(0.1)
        else:
            pytest.fail("a worker still has what it kept for the build")


def test_error_of_a_dask_worker_is_that_of_a_build(tmp_path: Path, cluster: object) -> None:
    spec = GraphSpec("se2", 24, neighbors=1, levels=1)
    with pytest.raises(SpecError) as here:
        build(spec, tmp_path / "g")
    with pytest.raises(SpecError) as there:
        build(spec, tmp_path / "g", engine="pruned", dask=cluster.scheduler_address, block_rows=50)
    assert str(here.value) == str(there.value)
    assert list(tmp_path.iterdir()) == []


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
