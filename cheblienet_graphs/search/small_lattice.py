"""Small lattices that stand for large ones.

The metric is left-invariant, so all rows far from the boundary are one row, shifted: a lattice of
any size is a small one of which the middle place along each axis stands for as many as it takes.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.stencil import (
    MaskedStencils,
    OffsetValues,
    StencilEngine,
    nearest_image,
)
from cheblienet_graphs.sparse import RowBlock
from cheblienet_graphs.typing import Floats, Indices


def _like(size: int, margin: int) -> Indices:
    """(size,) the places of a small side that those of a large one look like.

    Args:
        size: of the large one.
        margin: how many places from a side are places of their own.
    """
    place = np.arange(size)
    return place - np.clip(place - margin, 0, max(0, size - 2 * margin - 1))


class SmallLattice:
    """A small lattice whose vertices stand for those of a large one, line by line.

    Args:
        large: the large one.
        margins: by axis, how many places from a side are places of their own.

    Attributes:
        lattice: the small one.
    """

    def __init__(self, large: Lattice, margins: Iterable[int]) -> None:
        self.large, self._axes = large, tuple(map(_like, large.shape, margins))
        self.lattice = replace(large, shape=tuple(int(like[-1]) + 1 for like in self._axes))

    @classmethod
    def of(cls, engine: StencilEngine) -> "SmallLattice":
        """The lattice of stencils, whose rows depend on their neighbors' neighbors."""
        return cls(engine.lattice, (2 * reach for reach in engine.reach))

    def rows(self, engine: StencilEngine, values: OffsetValues) -> tuple[RowBlock, Floats]:
        """All rows of the small lattice, and (nnz,) the values of their entries.

        Args:
            engine: of the large lattice.
            values: of its offsets.
        """
        stencils = MaskedStencils(engine.on(self.lattice), np.arange(self.lattice.num_points))
        return stencils.rows(0, self.lattice.num_vertices, values)

    @cached_property
    def times(self) -> Indices:
        """How many vertices each one of the small lattice stands for."""
        times = np.ones(1, np.int64)
        for like in self._axes:
            times = np.multiply.outer(times, np.bincount(like)).ravel()
        return np.tile(times, self.lattice.orientations)

    def like(self, start: int, stop: int) -> Indices:
        """The small lattice's lines that whole lines of vertices look like."""
        lines = np.arange(start // self.large.width, stop // self.large.width)
        *outer, _ = self._axes
        orientation, places = replace(self.large, shape=self.large.shape[:-1]).decode(lines)
        like = [axis[place] for axis, place in zip(outer, places, strict=True)]
        return replace(self.lattice, shape=self.lattice.shape[:-1]).encode(orientation, like)

    def vertices(self, lines: Indices | int) -> Indices:
        """(..., width) what the vertices of lines look like, by what the lines do."""
        return np.multiply.outer(lines, self.lattice.width)[..., None] + self._axes[-1]

    def steps(self, rows: Indices, columns: Indices) -> Indices:
        """Steps on the large lattice from rows to columns of the small one, (N,)."""
        small, large = self.lattice, self.large
        k, places = small.decode(rows)
        other, others = small.decode(columns)
        steps = []
        for here, there, near, far in zip(places, others, small.shape, large.shape, strict=True):
            step = there - here
            if large.periodic:  # a step across the seam goes back by the whole side
                inner = nearest_image(step, near)
                step = inner + (step - inner) // near * far
            steps.append(step)
        return large.encode(other - k, steps)
