"""Dense linear algebra by one thread: the same bits whatever the environment says."""

import ctypes
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from cheblienet_graphs.machine.blas import Library, functions, libraries, one_blas_thread

DIGESTS = """
import hashlib, sys
from pathlib import Path
from cheblienet_graphs import GraphSpec, build
store = Path(sys.argv[1])
for number, spec in enumerate((
    GraphSpec("se2", 48, eigenpairs=40, levels=1, weights="selling"),
    GraphSpec("se2", 12, orientations=2, eigenpairs=10, levels=1),
    GraphSpec("so3", subdivisions=2, orientations=4, neighbors=32, weights="matched", levels=1),
)):
    version = store / "g" / build(spec, store, name="g").version
    for file in sorted(path for path in version.rglob("c/*") if path.is_file()):
        print(number, file.relative_to(version), hashlib.sha256(file.read_bytes()).hexdigest())
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


def threads(known: list[Library]) -> set[int]:
    return {library.threads() for library in known}


def counted() -> dict[str, int]:
    """The number of threads of each library of the process, by a package that walks them."""
    return {library["filepath"]: library["num_threads"] for library in threadpool_info()}


def test_another_counter_agrees(two_threads: list[Library]) -> None:
    """numpy and scipy may share a library; those of other packages stay as they are."""
    before = counted()
    with one_blas_thread():
        meanwhile = counted()
    changed = {(before[file], now) for file, now in meanwhile.items() if now != before[file]}
    assert changed == {(2, 1)}
    assert counted() == before


def test_libraries_of_numpy_and_scipy_have_one_thread_meanwhile(two_threads: list[Library]) -> None:
    with one_blas_thread():
        assert threads(two_threads) == {1}
        with one_blas_thread():
            assert threads(two_threads) == {1}
        assert threads(two_threads) == {1}
    assert threads(two_threads) == {2}
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert threads(two_threads) == {2}


def test_the_last_of_several_threads_restores(two_threads: list[Library]) -> None:
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with one_blas_thread():
            entered.set()
            leave.wait(60)

    other = threading.Thread(target=stay)
    with one_blas_thread():
        other.start()
        assert entered.wait(60)
    assert threads(two_threads) == {1}
    leave.set()
    other.join()
    assert threads(two_threads) == {2}


@pytest.mark.slow
def test_bytes_do_not_depend_on_threads(tmp_path: Path) -> None:
    found = set()
    for count in ("1", "2"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count}
        command = [sys.executable, "-c", DIGESTS, str(tmp_path / count)]
        found.add(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    assert len(found) == 1
    assert len(found.pop().splitlines()) > 10


MKL = """
static int threads = 3;
int MKL_Get_Max_Threads(void) { return threads; }
void MKL_Set_Num_Threads(int count) { threads = count; }
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no compiler")
def test_mkl_is_known(tmp_path: Path) -> None:
    """By the names of its C interface, in a library that links one with these functions."""
    (tmp_path / "mkl.c").write_text(MKL)
    (tmp_path / "module.c").touch()
    shared = ["g++", "-x", "c", "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path}"]
    for arguments in (
        ["mkl.c", "-o", "libmkl.so"],
        ["module.c", "-L.", "-lmkl", "-o", "module.so"],
    ):
        subprocess.run([*shared, *arguments], cwd=tmp_path, check=True)
    library = functions(ctypes.CDLL(str(tmp_path / "module.so")))
    assert library is not None
    assert library.threads() == 3
    library.set_threads(1)
    assert library.threads() == 1
