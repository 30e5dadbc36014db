"""The cores, threads and GPU of this process.

Distances are evaluated in pieces that fit a core's cache. Several threads wait for one another at
each of their many steps, all the longer on busy cores: a search with two threads took ten times the
processor time of a search with one. Further cores are used by further processes.

Dense linear algebra has one thread, so that results do not depend on the number of threads: sums
are split among threads, so the last bits of eigenvectors, say, differ with their number. numpy and
scipy each bring an OpenBLAS of their own, or share MKL. Where they use another library, set its
variables (OMP_NUM_THREADS and the like) to 1 for the same effect. The libraries are reached through
modules of numpy and scipy that link them. They are never searched for among the files mapped into
the process: arrays of stores are such files, and the author of a store chose their names and
contents.
"""

import ctypes
import fcntl
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

CGROUP = Path("/sys/fs/cgroup")
"""File with the share of the processors that a container, say, may use."""
FUNCTIONS = (
    *(
        tuple(f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
        for prefix in ("scipy_", "")  # in builds of scipy's
        for suffix in ("64_", "")  # and with wide integers
    ),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
)
"""Names of what gets and what sets the number of threads."""


class Library(NamedTuple):
    """An OpenBLAS or MKL of this process: what reads and what sets its number of threads."""

    threads: Callable[[], int]
    set_threads: Callable[[int], object]


_LOCK = threading.Lock()
_INSIDE: list[None] = []
"""One for each context of `one_blas_thread`: the number of threads is that of the process."""
_BEFORE: list[tuple[Library, int]] = []
"""The libraries, and the numbers of threads that they had before the first."""


def cores(cgroup: Path = CGROUP) -> int:
    """Cores that this process may use: the ones it is bound to, or fewer by a limited share."""
    allowed = len(os.sched_getaffinity(0))
    return max(1, min(allowed, int(_share(cgroup) or allowed)))


def threads_each(engine: str, processes: int) -> int:
    """Threads of each process, such that all processes together use no more than all cores.

    Args:
        engine: "stencil", "pruned" or "keops"; only the last has steps long enough for threads.
        processes: at work at the same time.
    """
    return max(1, cores() // processes) if engine == "keops" else 1


def done_by(processes: int, threads: int) -> str:
    """The processes and threads that did the work of a build.

    Args:
        processes: of this machine.
        threads: of each process.
    """
    several, each = ("es", " each") if processes > 1 else ("", "")
    workers = f"{processes} process{several} with {threads} thread{'s'[: threads > 1]}{each}"
    return f"Done by {workers}; {cores()} core{'s'[: cores() > 1]} available."


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch compute with this many threads within the context, or fewer where it is so set."""
    import torch  # slow to import, stencil builds do without

    before = torch.get_num_threads()
    torch.set_num_threads(min(count, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _share(cgroup: Path) -> float | None:
    """Cores' worth of processor time that is allowed; None without a limit."""
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            quota, period = (
                (cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")
            )
        return float(quota) / float(period) if float(quota) > 0 else None
    except (OSError, ValueError):  # no such file, or it holds "max"
        return None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the OpenBLAS or MKL of numpy and of scipy compute with one thread within the context.

    Contexts may be nested and entered by several threads: the first one in sets the numbers, the
    last one out restores them.
    """
    with _LOCK:
        if not _INSIDE:
            _BEFORE[:] = [(library, library.threads()) for library in libraries()]
            for library, _ in _BEFORE:
                library.set_threads(1)
        _INSIDE.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                for library, threads in _BEFORE:
                    library.set_threads(threads)


def libraries() -> list[Library]:
    """The OpenBLAS or MKL of numpy and that of scipy, where they have one."""
    import numpy.linalg.lapack_lite
    import scipy.linalg.cython_blas

    files = (numpy.linalg.lapack_lite.__file__, scipy.linalg.cython_blas.__file__)
    # These modules are loaded, so nothing is loaded here: RTLD_NOLOAD would fail rather than do so.
    linked = (ctypes.CDLL(file, os.RTLD_NOLOAD | os.RTLD_NOW) for file in files)
    known = (functions(library) for library in linked)
    return [library for library in known if library is not None]


def functions(linked: ctypes.CDLL) -> Library | None:
    """The functions of the OpenBLAS or MKL that a module links; None if it links neither."""
    for get, set_ in FUNCTIONS:
        if hasattr(linked, get) and hasattr(linked, set_):
            return Library(getattr(linked, get), getattr(linked, set_))
    return None


@lru_cache
def own_device(device: str) -> str:
    """The device for this process: of several GPUs one that no other build of this user has.

    Worker processes may have GPUs where the building process has none, which then searches its own
    blocks on its CPU. The neighbors found are the same.

    Args:
        device: "cpu" or "cuda".

    Returns:
        "cpu", or "cuda:0" and so on.
    """
    if device != "cuda":
        return device
    import torch  # slow to import, stencil builds do without

    count = torch.cuda.device_count()
    if count == 0:
        logging.getLogger(__name__).info("This process sees no CUDA device and takes its CPU.")
        return "cpu"
    # Numbers depend on which GPUs a process may see.
    names = [f"{torch.cuda.get_device_properties(index).uuid}" for index in range(count)]
    return f"cuda:{free_index(names, Path(tempfile.gettempdir()))}"


def free_index(names: Sequence[str], folder: Path) -> int:
    """The place of the first name that no living process holds; from now on this process holds it.

    Where all are held, or can't be locked, one is shared.

    Args:
        names: of one or several devices.
        folder: on this machine, for one lock file per name.
    """
    for index, name in enumerate(names):
        file = folder / f"cheblienet-device-{os.getuid()}-{name}.lock"
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:  # of another user, or a link: all may write to the folder
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
        else:
            return index  # the descriptor, and so the lock, stays until the process ends
    return os.getpid() % len(names)
