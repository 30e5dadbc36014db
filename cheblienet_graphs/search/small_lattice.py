"""Small lattices that stand for large ones.

The metric is left-invariant, so all rows far from the boundary are one row, shifted: a lattice of
any size is a small one of which the middle place along each axis stands for as many as it takes.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from cheblienet_graphs.samplings.lattice import Lattice, nearest_image
from cheblienet_graphs.typing import Indices


def _like(size: int, margin: int) -> Indices:
    """(size,) the places of a small side that the places of a large one look like.

    Args:
        size: of the large one.
        margin: how many places from a side are places of their own.
    """
    place = np.arange(size)
    return place - np.clip(place - margin, 0, max(0, size - 2 * margin - 1))


class SmallLattice:
    """A small lattice; its vertices stand for the vertices of a large one, line by line.

    Args:
        large: the large one.
        margins: by axis, how many places from a side are places of their own.

    Attributes:
        lattice: the small one.
        width: of the large one.
    """

    def __init__(self, large: Lattice, margins: Iterable[int]) -> None:
        self.large, self._axes = large, tuple(map(_like, large.shape, margins))
        self.lattice = replace(large, shape=tuple(int(like[-1]) + 1 for like in self._axes))
        self.width, self._width = large.width, self.lattice.width

    @cached_property
    def times(self) -> Indices:
        """The number of vertices that each one of the small lattice stands for."""
        times = np.ones(1, np.int64)
        for like in self._axes:
            times = np.multiply.outer(times, np.bincount(like)).ravel()
        return np.tile(times, self.lattice.orientations)

    def like(self, start: int, stop: int) -> Indices:
        """The small lattice's lines that whole lines of vertices look like."""
        lines = np.arange(start // self.width, stop // self.width)
        like = []
        outer = zip(reversed(self.large.shape[:-1]), reversed(self._axes[:-1]), strict=True)
        for side, axis in outer:
            lines, place = np.divmod(lines, side)
            like.append(axis[place])
        for side, place in zip(self.lattice.shape[:-1], reversed(like), strict=True):
            lines = lines * side + place
        return lines

    def vertices(self, lines: Indices | int) -> Indices:
        """(..., width) what the vertices of lines look like, by what the lines do."""
        return np.multiply.outer(lines, self._width)[..., None] + self._axes[-1]

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
