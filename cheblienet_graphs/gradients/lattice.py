"""Gradients on lattices: central differences, smoothed by (1, 4, 1) / 6 along the other axes.

The leading error is then h^2 / 6 times the Laplacian of the derivative, in all directions alike. At
open sides the difference is one-sided, (-3, 4, -1) / 2, and nothing is smoothed along that axis:
second order for all functions. Inside a mask, where a neighbor is missing, rows have the least norm
among the pixels around that are inside (`source.least_norm`).

All but the rows next to sides and masks are antisymmetric.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from cheblienet_graphs.gradients.source import Rows, least_norm
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.typing import Floats, Indices

WINDOW = 2
"""Largest distance, in pixels along each axis, to neighbors of a pixel at a mask's edge."""
ENTRIES_AT_ONCE = 2**19
"""Entries of windows that are in memory together."""


def along(side: int, spacing: float, *, periodic: bool) -> tuple[Indices, Floats, Floats]:
    """Places that each place along an axis takes values from, up to three, itself among them.

    Args:
        side: number of places.
        spacing: between two.
        periodic: whether opposite ends are glued.

    Returns:
        (side, 3) places, -1 for none, weights of the derivative, and weights of the mean.
    """
    places: Indices = np.arange(side)[:, None] + np.array([-1, 0, 1])
    difference = np.tile([-0.5, 0.0, 0.5], (side, 1))
    smoothing = np.tile([1 / 6, 4 / 6, 1 / 6], (side, 1))
    if periodic:
        places %= side
        if side == 2:  # both neighbors are the other place
            places[:, 2], smoothing[:, 0], difference[:] = -1, 2 / 6, 0
            smoothing[:, 2] = 0
    else:
        for end, ahead in ((0, 1), (side - 1, -1)):
            places[end] = end + ahead * np.arange(3)
            difference[end] = np.array([-1.5, 2.0, -0.5]) * ahead
            smoothing[end] = 1, 0, 0
            if side == 2:
                places[end, 2], difference[end] = -1, np.array([-1.0, 1.0, 0.0]) * ahead
    return places, difference / spacing, smoothing


class LatticeGradient:
    """The derivatives along x, y and z at the points of a lattice.

    Args:
        lattice: of the points.
        domain: the points, all or only the ones inside a mask.
        spacings: of the pixels along each axis, in the order of the shape; by default in widths of
            the lattice.
    """

    def __init__(self, lattice: Lattice, domain: Sampling, spacings: Floats | None = None) -> None:
        self.lattice = lattice
        self._domain = domain
        self._places = domain.places
        self._spacings = lattice.relative / lattice.width if spacings is None else spacings
        self._axes = [
            along(side, spacing, periodic=lattice.periodic)
            for side, spacing in zip(lattice.shape, self._spacings.tolist(), strict=True)
        ]

    def rows(self, start: int, stop: int) -> Iterator[Rows]:
        """A `Source` of points."""
        few = max(1, ENTRIES_AT_ONCE // (2 * WINDOW + 1) ** len(self.lattice.shape))
        for first in range(start, stop, few):
            own = np.arange(first, min(first + few, stop))
            if self._places is None:
                columns, weights = self._of_lattice(own)
            else:
                columns, weights = self._of_part(self._places[own])
            columns = np.where((weights != 0).any(axis=0), columns, -1)
            yield Rows(own, columns, weights).ascending()

    def _of_part(self, places: Indices) -> tuple[Indices, Floats]:
        """Columns as numbers of points inside, and weights; others where a neighbor is missing."""
        columns, weights = self._of_lattice(places)
        needed = (weights != 0).any(axis=0)
        numbers = np.where(needed, self._domain.numbers_inside(columns), -1)
        cut = np.flatnonzero((needed & (numbers < 0)).any(axis=1))
        if len(cut):
            others, least = self._at_edges(places[cut])
            numbers, weights = (_widened(part, others.shape[1]) for part in (numbers, weights))
            numbers[cut], weights[:, cut] = others, least
        return numbers, weights

    def _of_lattice(self, points: Indices) -> tuple[Indices, Floats]:
        """(N, 3^d) columns and (d, N, 3^d) weights of points of the whole lattice."""
        _, places = self.lattice.decode(points)
        d = len(places)
        columns = np.zeros((len(points), *(1,) * d), np.int64)
        missing = np.zeros(columns.shape, bool)
        weights = [np.ones(columns.shape) for _ in range(d)]
        for axis, (near, difference, smoothing) in enumerate(self._axes):
            shape = [len(points), *(1,) * d]
            shape[axis + 1] = 3
            there = near[places[axis]].reshape(shape)
            columns = columns * self.lattice.shape[axis] + there
            missing = missing | (there < 0)
            for other in range(d):
                part = difference if other == axis else smoothing
                weights[other] = weights[other] * part[places[axis]].reshape(shape)
        every = np.broadcast_to(missing, columns.shape)
        columns = np.where(every, -1, columns).reshape(len(points), -1)
        by_axis = np.stack([part.reshape(len(points), -1) for part in weights[::-1]])
        return columns, np.where(columns < 0, 0.0, by_axis)

    def _at_edges(self, points: Indices) -> tuple[Indices, Floats]:
        """Numbers and weights by least norm among the pixels around that are inside."""
        lattice, d = self.lattice, len(self.lattice.shape)
        steps = np.array(list(itertools.product(range(-WINDOW, WINDOW + 1), repeat=d)))
        own = len(steps) // 2
        _, places = lattice.decode(points)
        there = np.stack(places, axis=1)[:, None] + steps
        sides = np.array(lattice.shape)
        on_lattice = np.ones(there.shape[:2], bool)
        if lattice.periodic:
            there %= sides
            # No pixel counts twice where the torus is narrower than the window.
            on_lattice[:, (abs(steps) * 2 > sides - 1 + (steps > 0)).any(axis=1)] = False
        else:
            on_lattice = ((there >= 0) & (there < sides)).all(axis=2)
        columns = lattice.encode(np.zeros(1, np.int64), np.moveaxis(there.clip(0, sides - 1), 2, 0))
        numbers = np.where(on_lattice, self._domain.numbers_inside(columns), -1)
        unit = float(self._spacings.min())
        components = (steps * self._spacings)[:, ::-1] / unit
        present = numbers >= 0
        present[:, own] = False
        weights = least_norm(np.where(present[:, :, None], components, 0.0))
        weights = np.where(present, weights, 0.0) / unit
        weights[:, :, own] = -weights.sum(axis=2)
        return numbers, weights


def _widened(array: Floats, width: int) -> Floats:
    """The same with columns that are none, up to this many."""
    missing = [(0, 0)] * (array.ndim - 1) + [(0, width - array.shape[-1])]
    return np.pad(array, missing, constant_values=-1 if array.dtype == np.int64 else 0)
