"""Nearest neighbours by brute force, every pair evaluated by KeOps: the reference for others.

KeOps compiles each formula on first use, about five seconds, into a cache of its own below
~/.cache (or KEOPS_CACHE_FOLDER) that is particular to the user, the machine and the versions.
"""

import math
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.neighbours import keops_cache
from cheblienet_graphs.neighbours.cloud import Cloud
from cheblienet_graphs.neighbours.shells import neighbours_within

INDEX_LIMIT = 2**24
"""KeOps keeps the indices of an arg-reduction as floating point numbers; in float32 they would be
wrong above this. Larger clouds are split."""

PAIRS_AT_ONCE = {"cpu": 2**22, "cuda": 2**32}
"""Distances evaluated in one call, which can't be interrupted: about a second."""


class KeopsSearch:
    """Exact nearest neighbours, by comparison with all vertices.

    Args:
        cloud: the vertices.
        device: "cpu" or "cuda".
        index_limit: vertices compared at once.

    Raises:
        CheblienetError: KeOps does not work here; the message says what to do.
    """

    def __init__(self, cloud: Cloud, device: str, index_limit: int = INDEX_LIMIT) -> None:
        self._cloud, self._device, self._limit = cloud, torch.device(device), index_limit
        self._lazy = _lazy_tensor()
        self._compiled: set[tuple[int, bool, bool]] = set()
        self._elements = tuple(torch.from_numpy(e).to(self._device) for e in cloud.elements)

    @property
    def points_at_once(self) -> int:
        """Base points whose distances to all vertices are evaluated in one call."""
        each = self._cloud.orientations**2 * self._cloud.images
        return max(1, PAIRS_AT_ONCE[self._device.type] // each)

    def nearest(
        self, start: int, stop: int, count: int, squared_radii: Tensor | None, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        """The nearest vertices, as `PrunedSearch.nearest` returns them."""
        orientations, images = self._cloud.orientations, self._cloud.images
        rows = stop - start
        own = torch.arange(orientations)[:, None] * images + torch.arange(start, stop)
        own = own.reshape(-1, 1).to(self._device)
        width = min(count + 2, orientations * images)
        ascending, vertex = self._smallest(start, stop, width)
        # The vertex itself is one of the nearest: put it last.
        itself = vertex == own
        ascending, order = ascending.masked_fill(itself, math.inf).sort(dim=1, stable=True)
        vertex = vertex.gather(1, order)
        padding = (0, max(0, count + 1 - width))
        ascending = torch.nn.functional.pad(ascending, padding, value=math.inf)[:, : count + 1]
        vertex = torch.nn.functional.pad(vertex, padding)[:, : count + 1]
        given = None
        if squared_radii is not None:
            given = squared_radii.repeat_interleave(rows).to(self._device)
        inside = neighbours_within(ascending, given, tolerance)
        seen = ascending[:, -1] if given is None else given * (1 + tolerance)
        outside = torch.arange(count + 1, device=self._device) >= inside[:, None]
        neighbours = vertex.masked_fill(outside, -1)[:, :count]
        shape = (orientations, rows)
        return seen.view(shape).cpu(), neighbours.reshape(*shape, count).cpu()

    def _smallest(self, start: int, stop: int, width: int) -> tuple[Tensor, Tensor]:
        """(rows, width) ascending d^2 to the nearest vertices, self included, and their indices."""
        rows = tuple(e[:, start:stop].reshape(-1, 1) for e in self._elements)
        columns = tuple(e.reshape(-1, 1) for e in self._elements)
        size = len(columns[0])
        parts = [
            self._reduced(rows, tuple(c[lo : lo + self._limit] for c in columns), lo, width)
            for lo in range(0, size, self._limit)
        ]
        ascending, order = torch.cat([part[0] for part in parts], dim=1).sort(dim=1, stable=True)
        vertex = torch.cat([part[1] for part in parts], dim=1).gather(1, order)
        return ascending[:, :width], vertex[:, :width]

    def _reduced(
        self, rows: tuple[Tensor, ...], columns: tuple[Tensor, ...], offset: int, width: int
    ) -> tuple[Tensor, Tensor]:
        count = min(width, len(columns[0]))
        # KeOps compiles for a number of neighbours, and anew where there is but one row or column.
        formula = (count, len(rows[0]) == 1, len(columns[0]) == 1)
        if formula not in self._compiled:
            few = tuple(r[:2] for r in rows), tuple(c[: max(count, 2)] for c in columns)
            with keops_cache.guarded():
                self._of_formula(*few, count)
            self._compiled.add(formula)
        values, which = self._of_formula(rows, columns, count)
        return values, which.long() + offset

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
    with keops_cache.guarded():
        import keopscore  # slow to import
        import pykeops
        from pykeops.torch import LazyTensor

        pykeops.set_verbose(False)
        binders = pykeops.common.keops_io.keops_binder.values()
        for formulas in (keopscore.get_keops_dll.get_keops_dll, *binders):
            keops_cache.save_whole(formulas)

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
