"""Blocks done by several processes, of which some vanish, and what workers must have in common."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builds import SPECS, Whole, manifest

from cheblienet_graphs import CheblienetError, GraphSpec, StoreError, build
from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.assembly.staged_level import StagedLevel
from cheblienet_graphs.assembly.sweeps import do_block, filling, weighing
from cheblienet_graphs.assembly.versions import software
from cheblienet_graphs.machine import interrupts, let_go, processes, received
from cheblienet_graphs.search.choice import STENCILS
from cheblienet_graphs.store.writer import Staging


def test_bytes_do_not_depend_on_processes(tmp_path: Path, expected: Whole) -> None:
    """By processes that start as for users; below they search, `test_resume.py` has all kinds."""
    build(SPECS["lattice"], tmp_path / "g", workers=2, block_rows=211)
    assert manifest(tmp_path / "g") == expected["lattice"]


@pytest.mark.slow
def test_vanished_worker(tmp_path: Path, expected: Whole) -> None:
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


@pytest.mark.slow
def test_workers_of_a_script_that_is_not_guarded(tmp_path: Path) -> None:
    """Each would run it again."""
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from cheblienet_graphs import GraphSpec, build\n"
        "build(GraphSpec('r2', 16), 'g.zarr', workers=2, block_rows=50)\n"
    )
    ended = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert interrupts.UNGUARDED in ended.stderr
    assert "bootstrapping" not in ended.stderr
    assert "for the reason that it printed" in ended.stderr


@pytest.mark.slow
def test_semaphores_of_a_killed_build_are_removed_by_the_next(tmp_path: Path) -> None:
    """And those of a living one stay."""
    program = (
        "import sys, time; from cheblienet_graphs import GraphSpec, build\n"
        "def wait(*_):\n"
        "    print(flush=True); time.sleep(1000)\n"
        "if __name__ == '__main__':\n"
        "    build(GraphSpec('r2', 64), sys.argv[1], workers=2, block_rows=100, progress=wait)\n"
    )
    (tmp_path / "waits.py").write_text(program)
    builds = [
        subprocess.Popen(
            [sys.executable, tmp_path / "waits.py", tmp_path / str(number)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for number in range(2)
    ]

    def semaphores(process: int) -> set[str]:
        return {file.name for file in processes.SHARED.glob("sem.*") if f"-{process}-" in file.name}

    try:
        for process in builds:
            assert process.stdout.readline()
        # Looked at before, as another build on this machine may be the next one.
        killed, living = (semaphores(process.pid) for process in builds)
        assert killed
        assert living
        os.killpg(builds[0].pid, signal.SIGKILL)
        builds[0].wait()
        build(GraphSpec("r2", 8), tmp_path / "next", workers=2)
        assert semaphores(builds[0].pid) == set()
        assert semaphores(builds[1].pid) == living
    finally:
        for process in builds:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        build(GraphSpec("r2", 8), tmp_path / "last", workers=2)
    assert semaphores(builds[1].pid) == set()


@pytest.fixture
def sent(tmp_path: Path) -> Iterator[StagedLevel]:
    """A staged level, by a building process that had another numpy."""
    identity = {"software": software("stencil") | {"numpy": "1.0"}}
    plan = level_plans(SPECS["lattice"], STENCILS)[0]
    staged = Staging(tmp_path / "g", "g", 0, identity=identity)
    with staged as staging, processes.opened_pool(2, None) as pool:
        yield Build(tmp_path / "g", staging, pool, 1, lambda *_: None).staged(plan)


def test_sweeps_travel(sent: StagedLevel) -> None:
    """Without the arrays of the plan, which may be large; those come from a file."""
    assert sent.plan.stencils.total_degree
    for sweep in (filling(sent, None), weighing(replace(sent, mean=0.1))):
        assert len(pickle.dumps(sweep)) < 2**14
        back = pickle.loads(pickle.dumps(sweep))
        assert back.key == sweep.key
        assert back.level is pickle.loads(pickle.dumps(sweep)).level  # the last one is kept
        own, theirs = (of.level.plan.weights.values for of in (sweep, back))
        assert all(np.array_equal(*pair) for pair in zip(own, theirs, strict=True))


def test_worker_with_other_libraries_or_without_the_file_system(
    sent: StagedLevel, tmp_path: Path
) -> None:
    with pytest.raises(CheblienetError, match=r"worker has numpy .*another version"):
        do_block(weighing(sent), (0, 1))
    sent = replace(sent, folder=tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="must see the store's file system"):
        do_block(weighing(sent), (0, 1))


class Thing(float):
    """One that can be referred to weakly."""


def test_what_is_received_is_kept_until_the_next_one_comes() -> None:
    first = received(Thing, 0)
    assert received(Thing, 0) is first
    assert (received(Thing, 1), received(str, 0)) == (1, "0")
    assert received(Thing, 0) is not first
    last = weakref.ref(received(Thing, 0))
    let_go()
    let_go()  # told twice, or without having done a block
    gc.collect()
    assert last() is None
