"""Nearest neighbors by brute force, every pair evaluated by KeOps: the reference for others.

KeOps compiles each formula on first use, about five seconds, into a cache of its own below
~/.cache (or KEOPS_CACHE_FOLDER) that is particular to the user, the machine and the versions. It is
guarded: each file of the cache is whole, and a message says what to do where it fails.
"""

import atexit
import contextlib
import fcntl
import json
import math
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.placed import Cloud

PAIRS_AT_ONCE = {"cpu": 2**22, "cuda": 2**32}
"""Distances evaluated in one call, which can't be interrupted: about a second."""

MARK = "cheblienet-compiling"
"""The file in the cache that is locked while KeOps compiles. It names those that were there before,
and is empty when all are whole."""

TRIED_AGAIN = 0.1
"""Seconds between two attempts to lock it."""
LONGEST_WAIT = 3_600.0
"""Seconds after which a process gives up; each formula takes less than a minute, one at a time."""


class KeopsSearch:
    """Exact nearest neighbors, by comparison with all vertices.

    Args:
        cloud: the vertices.
        device: "cpu" or "cuda".

    Raises:
        CheblienetError: KeOps does not work here; the message says what to do.
    """

    def __init__(self, cloud: Cloud, device: str) -> None:
        self._cloud, self._device = cloud, torch.device(device)
        self._lazy = _lazy_tensor()
        self._compiled: set[tuple[int, bool]] = set()
        self._elements = tuple(torch.from_numpy(e).to(self._device) for e in cloud.elements)

    @property
    def points_at_once(self) -> int:
        """Base points whose distances to all vertices are evaluated in one call."""
        each = self._cloud.orientations**2 * self._cloud.images
        return max(1, PAIRS_AT_ONCE[self._device.type] // each)

    def nearest(self, start: int, stop: int, shells: Shells) -> tuple[Tensor, Tensor]:
        """As `PrunedSearch.nearest`."""
        orientations, images = self._cloud.orientations, self._cloud.images
        own = torch.arange(orientations)[:, None] * images + torch.arange(start, stop)
        own = own.reshape(-1, 1).to(self._device)
        ascending, vertex = self._smallest(
            start, stop, min(shells.count + 2, orientations * images)
        )
        # The vertex itself is one of the nearest: put it last.
        ascending, order = ascending.masked_fill(vertex == own, math.inf).sort(dim=1, stable=True)
        reach, listed = shells.listed(ascending, vertex.gather(1, order), slice(None))
        shape = (orientations, stop - start)
        return reach.view(shape).cpu(), listed.reshape(*shape, shells.count).cpu()

    def _smallest(self, start: int, stop: int, width: int) -> tuple[Tensor, Tensor]:
        """(rows, width) ascending d^2 to the nearest vertices, self included, and their indices."""
        rows = tuple(e[:, start:stop].reshape(-1, 1) for e in self._elements)
        columns = tuple(e.reshape(-1, 1) for e in self._elements)
        # KeOps compiles for a number of neighbors, and anew where there is but one row.
        formula = width, len(rows[0]) == 1
        if formula not in self._compiled:
            few = tuple(r[:2] for r in rows), tuple(c[: max(width, 2)] for c in columns)
            with guarded():
                self._of_formula(*few, width)
            self._compiled.add(formula)
        # Indices are kept as floating point numbers of the distances' type, exact in float64.
        return self._of_formula(rows, columns, width)

    def _of_formula(
        self, rows: tuple[Tensor, ...], columns: tuple[Tensor, ...], count: int
    ) -> tuple[Tensor, Tensor]:
        start = tuple(self._lazy(x[:, None].contiguous()) for x in rows)
        end = tuple(self._lazy(x[None].contiguous()) for x in columns)
        squared = self._cloud.manifold.squared_distance(start, end, self._cloud.metric)
        smallest: tuple[Tensor, Tensor] = squared.Kmin_argKmin(count, dim=1)
        return smallest


@cache
def _lazy_tensor() -> Callable[[Tensor], Any]:
    """A LazyTensor with the methods of torch that the distances use.

    Raises:
        CheblienetError: KeOps can't be imported.
    """
    for part in ("KEOPS", "PYKEOPS"):  # before they are imported, as that prints, too
        os.environ.setdefault(f"{part}_VERBOSE", "0")
    with guarded():
        import keopscore  # slow to import
        import pykeops
        from pykeops.torch import LazyTensor

        pykeops.set_verbose(False)
        binders = pykeops.common.keops_io.keops_binder.values()
        for formulas in (keopscore.get_keops_dll.get_keops_dll, *binders):
            save_whole(formulas)

    class Lazy(LazyTensor):  # type: ignore[misc]
        """A symbolic tensor with torch's method names."""

        def lt_constructor(self, *args: Any, **keywords: Any) -> "Lazy":
            return Lazy(*args, **keywords)

        def minimum(self, other: "Lazy") -> Any:
            return (self - other).ifelse(other, self)

        def sinc(self) -> Any:
            angle: Any = self * np.pi
            return angle.sinxdivx()

    return Lazy


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Hold a lock while KeOps is imported or compiles: two processes would disturb each other.

    A process that is killed may leave half a file, which KeOps would load ever after: the next one
    removes what came since the lock was taken.

    Raises:
        CheblienetError: KeOps fails; the message says what to do.
    """
    try:
        with _locked(cache_folder()):
            yield
    except (Exception, SystemExit) as error:
        raise CheblienetError(remedy(error)) from error


def save_whole(formulas: Any) -> None:
    """Let a file in which KeOps keeps formulas be replaced when the process ends, not rewritten.

    KeOps rewrites it in place, a megabyte, and another process that starts may read half of it.

    Args:
        formulas: a `keopscore.utils.Cache.Cache` or `Cache_partial`.
    """
    atexit.unregister(formulas.save_cache)
    atexit.register(_replace, formulas)


def cache_folder() -> Path:
    """Where KeOps keeps what it compiled, of this machine and this Python.

    It is known before KeOps is imported, as that compiles, too, where there is a GPU.

    Raises:
        ModuleNotFoundError: KeOps is not installed.
    """
    own = os.environ.get("KEOPS_CACHE_FOLDER")
    folder = Path(own) if own else Path.home() / ".cache" / f"keops{version('keopscore')}"
    return folder / f"{'_'.join(platform.uname()[:3])}_p{platform.python_version()}"


def remedy(error: BaseException) -> str:
    """One line on what is wrong and what to do.

    Args:
        error: what KeOps raised.
    """
    wrong, besides = _wrong(error)
    return f"{wrong}, or use `engine='pruned'`{besides}."


def _wrong(error: BaseException) -> tuple[str, str]:
    """What is wrong and what mends it; what else to say of the engine that does without."""
    if isinstance(error, ModuleNotFoundError) and error.name in ("keopscore", "pykeops"):
        return "KeOps is not installed: pip install pykeops", ""
    cache = cache_folder()
    mark = _mark_of(cache)
    if mark is None:
        return (
            f"KeOps can't write to its cache in {cache}. Set KEOPS_CACHE_FOLDER to a folder that "
            "can be written"
        ), ""
    mark.close()
    compiler = os.environ.get("CXX") or "g++"
    if shutil.which(compiler) is None:
        return (
            f"KeOps can't compile: there is no C++ compiler {compiler}. Install one (Debian: apt "
            "install g++) or set CXX"
        ), ", which needs none"
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return (
        f"KeOps can't compile or run here ({reason}). See that {compiler} works and for a GPU that "
        f"the CUDA toolkit with nvrtc is there, delete {cache} if it may be damaged"
    ), ", which needs none of these"


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    mark = _mark_of(cache)
    if mark is None:
        yield
        return
    with mark:
        _wait_for(mark)
        mark.seek(0)
        _remove_unfinished(cache, mark.read())
        mark.truncate(0)
        mark.write(json.dumps(sorted(_files(cache))))
        mark.flush()
        yield
        mark.truncate(0)


def _wait_for(mark: TextIO) -> None:
    """Take the lock of a file, which another process holds while it compiles."""
    began = time.monotonic()
    while True:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() - began > LONGEST_WAIT:
                raise TimeoutError(f"another process has held {mark.name} all the time") from None
            time.sleep(TRIED_AGAIN)
        else:
            return


def _mark_of(cache: Path) -> TextIO | None:
    """The file to lock; None where nothing can be written, and so nothing half, either."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return (cache / MARK).open("a+")
    except OSError:
        return None


def _remove_unfinished(cache: Path, mark: str) -> None:
    try:
        before = json.loads(mark)
    except ValueError:  # empty, or half of one: it is written before anything comes
        return
    for file in _files(cache) - set(before):
        (cache / file).unlink(missing_ok=True)


def _files(cache: Path) -> set[str]:
    return {file.name for file in cache.glob("*") if file.is_file()}


def _replace(formulas: Any) -> None:
    file = Path(formulas.cache_file)
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    formulas.cache_file = str(temporary)
    # No room, or a cache that can't be written to: the file stays as it was.
    with contextlib.suppress(OSError):
        try:
            formulas.save_cache()
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
