"""Nearest neighbors by brute force, every pair evaluated by KeOps: the reference for others.

KeOps compiles each formula on first use, about five seconds, into a cache of its own below
~/.cache (or KEOPS_CACHE_FOLDER) that is particular to the user, the machine and the versions. One
process at a time compiles, and a message says what to do where that fails.
"""

import contextlib
import fcntl
import math
import os
import platform
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.positions import Cloud

PAIRS_AT_ONCE = {"cpu": 2**22, "cuda": 2**32}
"""Distances evaluated in one call, which can't be interrupted: about a second."""

LOCK = "cheblienet-compiling"
"""Name of the file in the cache that is locked while KeOps compiles."""


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
        """Number of base points that one call compares with all vertices."""
        each = self._cloud.orientations**2 * self._cloud.images
        return max(1, PAIRS_AT_ONCE[self._device.type] // each)

    def nearest(self, start: int, stop: int, shells: Shells) -> tuple[Tensor, Tensor]:
        """The nearest vertices, as of `PrunedSearch.nearest`."""
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
        import pykeops  # slow to import
        from pykeops.torch import LazyTensor

        pykeops.set_verbose(False)

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

    Raises:
        CheblienetError: KeOps fails; the message says what to do.
    """
    try:
        with contextlib.ExitStack() as stack:
            cache = cache_folder()
            with contextlib.suppress(OSError):  # a cache that can't be written to needs no lock
                cache.mkdir(parents=True, exist_ok=True)
                fcntl.flock(stack.enter_context((cache / LOCK).open("a")), fcntl.LOCK_EX)
            yield
    except (Exception, SystemExit) as error:
        raise CheblienetError(remedy(error)) from error


def cache_folder() -> Path:
    """The folder in which KeOps keeps what it compiled, of this machine and this Python.

    The path is made before KeOps is imported, as that compiles, too, where there is a GPU.

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
    if isinstance(error, ModuleNotFoundError) and error.name in ("keopscore", "pykeops"):
        return "KeOps is not installed: pip install pykeops, or use `engine='pruned'`."
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return (
        f"KeOps can't compile or run here ({reason}). It needs a C++ compiler (g++, or CXX), on a "
        "GPU the CUDA toolkit with nvrtc, and a cache that can be written (KEOPS_CACHE_FOLDER); "
        f"delete {cache_folder()} if it may be damaged, or use `engine='pruned'`, which needs none "
        "of these."
    )
