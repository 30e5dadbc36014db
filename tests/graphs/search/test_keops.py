"""KeOps, and the pruned search on a GPU, find the edges that the pruned search finds."""

import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from all_pairs import SOME, edges, name

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.search import keops
from cheblienet_graphs.search.choice import Choice

GPU = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here"),
]
CHOICES = [
    Choice("keops", "cpu"),
    *(pytest.param(Choice(engine, "cuda"), marks=GPU) for engine in ("keops", "pruned")),
]
FEW = [({"manifold": "s2", "sampling": "random", "points": 10}, count) for count in (9, 30)]
"""As many neighbors as there are others, and more."""
ARROWS = [
    ({"manifold": "se2", "size": 8, "boundary": "periodic", "period": "2pi"}, 16),
    ({"manifold": "so3", "nside": 2, "period": "2pi"}, 16),
]
SLOW = [pytest.param(*case, marks=pytest.mark.slow) for case in [*SOME[8:], *ARROWS]]
"""KeOps compiles other formulas for these."""


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: f"{choice.engine}-{choice.device}")
@pytest.mark.parametrize(("fields", "count"), [*SOME[:8], *SLOW, *FEW], ids=name)
def test_edges_are_those_of_the_pruned_search(fields: dict, count: int, choice: Choice) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    assert edges(spec, choice) == edges(spec)


SEARCH = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
from all_pairs import cloud_of
from cheblienet_graphs import GraphSpec
from cheblienet_graphs.search import keops
search = keops.KeopsSearch(cloud_of(GraphSpec("s2", subdivisions=1)), "cpu")
"""
KILLED = f"""{SEARCH}
from pykeops.common.keops_io import LoadKeOps_cpp
def half(command):
    Path(command.split()[-1]).write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
LoadKeOps_cpp.KeOps_OS_Run = half
search._smallest(0, 42, 3)
"""
"""Is killed when it has compiled half a module."""

WATCHED = f"""{SEARCH}
def modules():
    files = Path(sys.argv[1]).rglob("pykeops_cpp*.so")
    return {{file for file in files if file.read_bytes() != b"half"}}
compiled, guarded = [], keops.guarded
@contextmanager
def watched():
    before = modules()
    with guarded():
        yield
    compiled.append(modules() - before)
keops.guarded = watched
search._smallest(0, 41, 3)
search._smallest(41, 42, 3)
assert [len(new) for new in compiled] == [1, 1], compiled
assert set().union(*compiled) == modules()
"""
"""Searches, and asserts that all modules came to be under the lock."""


@pytest.mark.slow
def test_all_is_compiled_under_the_lock_and_half_a_module_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process would find half a file. With one row, KeOps' formula is another one."""
    compiler = tmp_path / "quick"  # how fast the formulas are is of no account
    compiler.write_text(f'#!/bin/sh\nexec {os.environ.get("CXX", "g++")} "$@" -O0 -fno-lto\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert _run(KILLED, tmp_path).returncode == -signal.SIGKILL
    (half,) = tmp_path.rglob("pykeops_cpp*.so")
    assert half.read_bytes() == b"half"
    whole = _run(WATCHED, tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert half.stat().st_size > 4


@pytest.mark.slow
def test_a_file_of_formulas_is_replaced_when_it_is_whole(tmp_path: Path) -> None:
    """KeOps would rewrite it in place; a process that ends in between would leave half of it."""
    start = "from cheblienet_graphs.search.keops import _lazy_tensor; _lazy_tensor()\n"
    killed = _run(
        start + "import os, pickle, signal, sys\n"
        "if not os.fork(): sys.exit()\n"
        "os.wait(); os.system('cp -r $KEOPS_CACHE_FOLDER $KEOPS_CACHE_FOLDER/../before')\n"
        "def dump(value, file):\n"
        "    file.write(b'half'); file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "pickle.dump = dump\n",
        tmp_path / "cache",
    )
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "")
    after, before = (
        {file.name: file.read_bytes() for file in (tmp_path / folder).rglob("*.pkl")}
        for folder in ("cache", "before")
    )
    assert len(before) >= 2  # three with a GPU
    assert after == before


def test_what_an_interrupted_process_left_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    cache = keops.cache_folder()
    with keops.guarded():
        (cache / "whole").touch()
    mine = tmp_path / "mine"

    @keops.guarded()
    def fail() -> None:
        (cache / "half").touch()
        mine.touch()
        raise ImportError("half: file too short")

    with pytest.raises(CheblienetError, match=f"delete {re.escape(str(cache))}"):
        fail()
    with keops.guarded():
        assert {file.name for file in cache.iterdir()} == {"whole", keops.MARK}
    assert (cache / keops.MARK).read_text() == ""
    assert mine.exists()


def test_one_process_at_a_time_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock lies in the cache: on clusters each job may have a temporary folder of its own."""
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    with keops.guarded():
        mark = (keops.cache_folder() / keops.MARK).open()
        with mark, pytest.raises(BlockingIOError):
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        monkeypatch.setattr(keops, "LONGEST_WAIT", 0.0)
        with pytest.raises(CheblienetError, match="TimeoutError: another process has held"):
            keops.guarded().__enter__()


def _run(program: str, cache: Path) -> subprocess.CompletedProcess[str]:
    helpers = str(Path(__file__).parents[2] / "helpers")
    paths = os.pathsep.join(filter(None, [helpers, os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-c", program, str(cache)],
        env=os.environ | {"KEOPS_CACHE_FOLDER": str(cache), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
