"""How many threads there are, that nothing of it stays, and which GPU a process takes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from threadpoolctl import threadpool_info

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.machine.threads import (
    Library,
    cores,
    free_index,
    functions,
    libraries,
    one_blas_thread,
    threads_each,
    torch_threads,
)
from cheblienet_graphs.search.pruned import PrunedSearch


@pytest.fixture
def three_threads() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_a_search_has_one_thread_and_leaves_torch_as_it_was(
    tmp_path: Path, three_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    during, block = set(), PrunedSearch._block

    def seen(self: PrunedSearch, *arguments: object) -> object:
        during.add(torch.get_num_threads())
        return block(self, *arguments)

    monkeypatch.setattr(PrunedSearch, "_block", seen)
    spec = GraphSpec("s2", nside=2, levels=1)
    result = build(spec, tmp_path / "g", device="cpu")
    assert during == {1}
    assert (result.processes, result.threads) == (1, 1)
    assert torch.get_num_threads() == 3
    with torch_threads(8):  # never made more
        assert torch.get_num_threads() == 3

    monkeypatch.setattr(PrunedSearch, "_block", Mock(side_effect=SpecError("eps", "so", 1)))
    with pytest.raises(SpecError):
        build(spec, tmp_path / "h", device="cpu")
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        *(({"cpu.max": quota}, 6) for quota in ("max 100000", "?")),
        *(({"cpu.max": f"{quota}0000 100000"}, n) for quota, n in ((25, 2), (5, 1))),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({}, 6),
    ],
)
def test_cores_of_a_container(
    tmp_path: Path, files: dict[str, str], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert cores(tmp_path) == expected


@pytest.mark.parametrize("engine", ["stencil", "pruned", "keops"])
def test_threads_of_all_processes_fit_the_cores(engine: str) -> None:
    for processes in range(1, 2 * cores() + 1):
        threads = threads_each(engine, processes)
        assert threads == 1 or threads * processes <= cores()


PARTS = "*/v001/levels/**/*"
BUILDS = """
import sys
from pathlib import Path
import numpy as np
from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.spectrum.lanczos import ritz_pairs
build(GraphSpec("se2", 48, eigenpairs=40, levels=1, weights="selling"), sys.argv[1], name="a")
build(GraphSpec("se2", 12, orientations=2, eigenpairs=10, levels=1), sys.argv[1], name="b")
matched = {"weights": "matched", "neighbors": 32, "levels": 1}
build(GraphSpec("so3", subdivisions=2, orientations=4, **matched), sys.argv[1], name="c")
values = np.random.default_rng(1).random(300_000)
ritz = ritz_pairs(lambda x: values * x, len(values), [-1], np.inf)
Path(sys.argv[1], "a/v001/levels/ritz").write_text(repr(ritz))
"""


@pytest.fixture
def two_threads() -> Iterator[list[Library]]:
    """The OpenBLAS of numpy and scipy, each with two threads."""
    known = libraries()
    if not known:
        pytest.skip("numpy and scipy have another library than OpenBLAS here")
    before = [library.threads() for library in known]
    for library in known:
        library.set_threads(2)
    yield known
    for library, count in zip(known, before, strict=True):
        library.set_threads(count)


def counted() -> dict[str, int]:
    """The number of threads of each library of the process, by a package that walks them."""
    return {library["filepath"]: library["num_threads"] for library in threadpool_info()}


def test_libraries_of_numpy_and_scipy_have_one_thread_meanwhile(two_threads: list[Library]) -> None:
    """They may share one; those of other packages stay as they are."""
    before = counted()
    with one_blas_thread(), ThreadPoolExecutor(1) as other:
        other.submit(one_blas_thread()(counted)).result()
        meanwhile = counted()
    changed = {(before[file], now) for file, now in meanwhile.items() if now != before[file]}
    assert changed == {(2, 1)}
    assert counted() == before
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert counted() == before


@pytest.mark.slow
def test_bytes_do_not_depend_on_threads(tmp_path: Path) -> None:
    for count in ("1", "2"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count}
        command = [sys.executable, "-c", BUILDS, str(tmp_path / count)]
        subprocess.run(command, check=True, env=environment)
    one, two = (
        {file.relative_to(store): file.read_bytes() for file in store.glob(PARTS) if file.is_file()}
        for store in (tmp_path / "1", tmp_path / "2")
    )
    assert len(one) > 10
    assert {file: parts for file, parts in two.items() if parts != one[file]} == {}


def test_mkl_is_known() -> None:
    """By the names of its C interface."""
    threads = [3]
    calls = {"MKL_Get_Max_Threads": lambda: threads[-1], "MKL_Set_Num_Threads": threads.append}
    library = functions(SimpleNamespace(**calls))
    library.set_threads(1)
    assert (library.threads(), functions(SimpleNamespace())) == (1, None)


def test_every_process_has_its_device(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from cheblienet_graphs.machine.threads import free_index\n"
        f"print(free_index('abc', Path({str(tmp_path)!r})), flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    others = [subprocess.Popen([sys.executable, "-c", program], **pipes) for _ in range(3)]
    held = [int(process.stdout.readline()) for process in others]
    assert sorted(held) == [0, 1, 2]
    assert free_index("abc", tmp_path) in held  # shared
    others[1].communicate("\n")
    assert free_index("abc", tmp_path) == held[1]
    assert free_index("xc", tmp_path) == 0  # the first device that this process sees is another
    for process in (others[0], others[2]):
        process.communicate("\n")


def test_what_others_put_in_the_folder_of_the_locks(tmp_path: Path) -> None:
    """All may write to it: a link may lead anywhere, and what is another's can't be opened."""
    first, second = (tmp_path / f"cheblienet-device-{os.getuid()}-{i}.lock" for i in "ab")
    first.symlink_to(tmp_path / "elsewhere")
    second.mkdir()  # as a file of another user does for all but root, it fails to open
    assert free_index("abc", tmp_path) == 2
    assert free_index("ab", tmp_path) in {0, 1}  # shared
    assert not (tmp_path / "elsewhere").exists()
