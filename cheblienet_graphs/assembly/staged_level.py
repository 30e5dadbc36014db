"""A level at work: its plan, its reserved arrays, and results of the sweeps that came before."""

import json
import pickle
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.copies import CopiedGradients
from cheblienet_graphs.assembly.gradient_rows import ComputedGradients
from cheblienet_graphs.assembly.level_plan import LevelPlan
from cheblienet_graphs.assembly.rows import (
    BlockRows,
    LatticeRows,
    ListedRows,
    MaskedRows,
    SearchedRows,
)
from cheblienet_graphs.machine import received
from cheblienet_graphs.search.choice import STENCILS
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.staged import (
    FINISHED,
    SCRATCH,
    VERSION,
    Records,
    StagedArray,
    StagedCsr,
    opened,
    opened_csr,
)

PLANNED = "plan"
"""Scratch array of the bytes of a plan's arrays, from which workers map them."""
ALIGNED = 64
"""Bytes that each of these arrays begins at a multiple of."""


@dataclass(frozen=True, eq=False)
class StagedLevel:
    """A level with one of its Laplacians; any process can write its arrays.

    It goes to other processes without its plan's arrays, which these map from a file.

    Args:
        plan: of the level.
        store: in which it will be published.
        folder: in which it is staged.
        sent: the plan as bytes and the sizes of its arrays, as of `packed`; empty where no other
            process takes part.
        rings: of images around a periodic domain, among which neighbors are searched for.
        mean: of the squared lengths of all edges, once they are measured; None where weights do not
            follow from them.
    """

    plan: LevelPlan
    store: Path
    folder: Path
    sent: tuple[bytes, tuple[int, ...]] | None = None
    rings: int = 0
    mean: float | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        where = self.plan.scratch_path
        given = where, self.store, self.folder, self.sent, self.rings, self.mean
        return received, (_received, *given)

    @cached_property
    def rows(self) -> LatticeRows | BlockRows:
        """The rows of the Laplacian, as this process makes them."""
        plan = self.plan
        if plan.choice == STENCILS and plan.weights is not None:
            copied = plan.copied
            return LatticeRows(plan, plan.weights) if copied else MaskedRows(self, plan.weights)
        return ListedRows(self) if self.mean is None else self.search

    @cached_property
    def search(self) -> SearchedRows:
        """The search for nearest vertices."""
        return SearchedRows(self)

    @cached_property
    def gradient_rows(self) -> CopiedGradients | ComputedGradients:
        """The rows of the gradients."""
        return self.plan.copied_gradients or ComputedGradients(self)

    @cached_property
    def csr(self) -> StagedCsr:
        """The Laplacian, once it is reserved."""
        return opened_csr(self.folder / VERSION / self.plan.matrix_path)

    def gradient_path(self, part: str) -> str:
        """The place of a part of the gradients in the version."""
        return f"{self.plan.path}/{layout.GRADIENTS}/{part}"

    def gradient_csr(self, part: str) -> StagedCsr:
        """A part of the gradients."""
        return opened_csr(self.folder / VERSION / self.gradient_path(part))

    def gradients(self, part: str) -> scipy.sparse.csr_array:
        """(fields V, V) a part of the gradients, mapped."""
        return self.gradient_csr(part).matrix(self.plan.vertices).scipy()

    def dense(self, name: str) -> StagedArray:
        """An array of the vertices that will be published."""
        return opened(self.folder / VERSION / self.plan.path / name)

    def scratch(self, name: str) -> StagedArray:
        """An array that is not published."""
        return opened(self.folder / SCRATCH / self.plan.scratch_path / name)

    @property
    def lists_name(self) -> str:
        """The scratch array of lists of nearest vertices."""
        return f"lists{self.rings}"

    @property
    def records(self) -> Records:
        """The finished ranges of its sweeps."""
        return Records(self.folder / FINISHED)

    def matrix(self, entries: StagedArray) -> scipy.sparse.csr_array:
        """The Laplacian, mapped, with these entries."""
        return self.csr.matrix(self.plan.vertices, entries).scipy()

    def key(self, name: str, *given: float | str | None) -> str:
        """The name of the records of a sweep, or of what is computed once.

        Sweeps that are given other results of earlier sweeps have other names: their output depends
        on these.
        """
        values = map(json.dumps, (*given, self.rings, self.mean))
        return "-".join([self.plan.scratch_path.replace("/", "-"), name, *values])


def packed(plan: LevelPlan) -> tuple[bytes, list[memoryview]]:
    """A plan as bytes, and its arrays, each of any number of bytes."""
    arrays: list[pickle.PickleBuffer] = []
    plain = pickle.dumps(plan, protocol=5, buffer_callback=arrays.append)
    return plain, [array.raw() for array in arrays]


def places_of(sizes: "list[int] | tuple[int, ...]") -> list[int]:
    """Offsets of arrays of so many bytes, one after the other, and the end of the last one."""
    return [0, *accumulate(-(-size // ALIGNED) * ALIGNED for size in sizes)]


def _received(
    where: str,
    store: Path,
    folder: Path,
    sent: tuple[bytes, tuple[int, ...]],
    rings: int,
    mean: float | None,
) -> StagedLevel:
    """The level that another process sent, its arrays mapped."""
    plain, sizes = sent
    every = opened(folder / SCRATCH / where / PLANNED).mapped().view(np.uint8)
    ranges = zip(pairwise(places_of(sizes)), sizes, strict=True)
    plan = pickle.loads(plain, buffers=[every[start : start + n] for (start, _), n in ranges])  # noqa: S301 - from the process that builds
    return StagedLevel(plan, store, folder, sent, rings, mean)
