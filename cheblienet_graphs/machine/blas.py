"""One thread for dense linear algebra, so that results do not depend on the number of threads.

Sums are split among threads, so the last bits of eigenvectors, say, differ with their number. numpy
and scipy each bring an OpenBLAS of their own, or share MKL. Where they use another library, set its
variables (OMP_NUM_THREADS and the like) to 1 for the same effect.

The libraries are reached through modules of numpy and scipy that link them. They are never searched
for among the files mapped into the process: arrays of stores are such files, and whoever wrote a
store chose their names and contents.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the OpenBLAS or MKL of numpy and of scipy compute with one thread within the context.

    Contexts may be nested and entered by several threads: the first one in sets the numbers, the
    last one out restores them.
    """
    _holders.enter()
    try:
        yield
    finally:
        _holders.leave()


class _Holders:
    """Those within the context; the number of threads is one for the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._restored: list[tuple[Library, int]] = []

    def enter(self) -> None:
        with self._lock:
            if self._count == 0:
                self._restored = [(library, library.threads()) for library in libraries()]
                for library, _ in self._restored:
                    library.set_threads(1)
            self._count += 1

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                for library, threads in self._restored:
                    library.set_threads(threads)


_holders = _Holders()


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
