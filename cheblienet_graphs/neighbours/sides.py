"""Neighbours of a lattice's vertices, of which some are there along the lattice's sides only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.neighbours.offsets import Stencil
from cheblienet_graphs.samplings.lattice import Places


@dataclass(frozen=True)
class Neighbourhood:
    """The neighbours of the vertices of one orientation.

    Args:
        stencil: all of them.
        everywhere: (N,) whether a vertex has this one wherever it is.
        at_sides: (d, N) whether it has it at the first and last place along an axis. Such offsets
            are 0 along that axis, so both ends of the edge are at the same side.
    """

    stencil: Stencil
    everywhere: npt.NDArray[np.bool_]
    at_sides: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, stencil: Stencil, along_sides: Sequence[Stencil] = ()) -> "Neighbourhood":
        """The neighbours of a stencil, and those along the sides across each axis.

        Args:
            stencil: of all vertices.
            along_sides: for each axis, of those at its sides; none where there are no others.
        """
        if not along_sides:
            return cls(stencil, np.ones(len(stencil), bool), np.zeros((0, len(stencil)), bool))
        parts = [stencil, *along_sides]
        keys = np.concatenate([np.column_stack([s.orientation, s.offsets]) for s in parts])
        every, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        squared = np.concatenate([s.squared_distance for s in parts])[first]
        ends = np.cumsum([len(s) for s in parts])
        found = np.zeros((len(parts), len(every)), bool)
        for row, part in zip(found, np.split(which.ravel(), ends[:-1]), strict=True):
            row[part] = True
        return cls(Stencil(every[:, 0], every[:, 1:], squared), found[0], found[1:])

    def within(self, orientation: int) -> "Neighbourhood":
        """The neighbours of one orientation."""
        kept = self.stencil.orientation == orientation
        return Neighbourhood(self.stencil.only(kept), self.everywhere[kept], self.at_sides[:, kept])

    def present(self, places: Places, shape: Sequence[int]) -> npt.NDArray[np.bool_]:
        """(pixels, N) whether the vertices at these (pixels,) places have each."""
        found = np.broadcast_to(self.everywhere, (len(places[0]), len(self.everywhere)))
        for there, along in zip(at_sides(places, shape), self.at_sides, strict=False):
            found = found | (there[:, None] & along)
        return found

    def pairs(self, shape: Sequence[int]) -> int:
        """How many entries these are on an open lattice of this shape."""
        steps = abs(self.stencil.offsets)
        total = np.maximum(shape - steps, 0).prod(axis=1)
        if self.everywhere.all():
            return int(total.sum())
        # All but those whose ends are away from the sides in question.
        along = np.where(self.at_sides.T, 2, steps)
        away = np.maximum(shape - along, 0).prod(axis=1)
        return int((total - np.where(self.everywhere, 0, away)).sum())


def at_sides(places: Places, shape: Sequence[int]) -> list[npt.NDArray[np.bool_]]:
    """For each axis (pixels,) whether places are at its first or last one."""
    return [(place == 0) | (place == side - 1) for place, side in zip(places, shape, strict=True)]


def longest(neighbourhoods: Sequence[Neighbourhood]) -> tuple[int, ...]:
    """Largest offset along each axis, in the order of the shape."""
    every = np.concatenate([n.stencil.offsets for n in neighbourhoods])
    return tuple(abs(every).max(axis=0, initial=0).tolist())
