"""One thread for dense linear algebra, so that results do not depend on the number of threads.

Sums are split among threads, so the last bits of eigenvectors, say, differ with their number. numpy
and scipy each bring an OpenBLAS of their own. Where they use another library, set its variables
(OMP_NUM_THREADS and the like) to 1 for the same effect.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

MAPS = Path("/proc/self/maps")
PREFIXES, SUFFIXES = ("scipy_", ""), ("64_", "")
"""Prefixes and suffixes of OpenBLAS' functions, in builds with wide integers and in scipy's."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let every OpenBLAS of this process compute with one thread within the context."""
    import numpy.linalg  # noqa: F401 - loads its library
    import scipy.linalg  # noqa: F401

    with ExitStack() as restored:
        for library in _libraries():
            read, write = (_function(library, name) for name in ("get", "set"))
            if read and write:
                restored.callback(write, read())
                write(1)
        yield


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS libraries that are loaded."""
    try:
        lines = MAPS.read_text().splitlines()
    except OSError:  # not Linux
        return []
    files = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line}
    return [ctypes.CDLL(file) for file in sorted(files) if Path(file).is_file()]


def _function(library: ctypes.CDLL, verb: str) -> Callable[..., int] | None:
    """The function that reads or writes the number of threads."""
    for prefix in PREFIXES:
        for suffix in SUFFIXES:
            name = f"{prefix}openblas_{verb}_num_threads{suffix}"
            if hasattr(library, name):
                function: Callable[..., int] = getattr(library, name)
                return function
    return None
