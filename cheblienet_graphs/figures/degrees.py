"""How many neighbours vertices have, and how heavy edges are."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.sparse.rows import row_blocks
from cheblienet_graphs.store.reader import MappedWeights, weights_of
from cheblienet_graphs.typing import Floats, Indices

BINS = 48
WIDE = 100.0
"""Ratio of the largest to the smallest weight from which bins are logarithmic."""


@dataclass(frozen=True)
class Degrees:
    """Histograms of the whole graph.

    Args:
        neighbours: (most + 1,) vertices with 0, 1, 2, ... neighbours.
        edges: (BINS + 1,) limits of the bins of weights; (2,) where all weights are equal.
        within: (BINS,) edges within an orientation, by weight.
        across: (BINS,) edges between orientations.
        logarithmic: whether the bins are equally wide on a logarithmic scale.
        weightless: edges whose stored weight is 0, which are in no bin of a logarithmic scale.
        axes: whether orientations are axes in space.
    """

    neighbours: Indices
    edges: Floats
    within: Indices
    across: Indices
    logarithmic: bool
    weightless: int
    axes: bool = False

    @property
    def mean(self) -> float:
        """The mean number of neighbours."""
        return float(np.average(np.arange(len(self.neighbours)), weights=self.neighbours))


def degrees_of(graph: OpenedGraph, level: int = 0) -> Degrees:
    """Histograms of numbers of neighbours and of weights, read block by block.

    Args:
        graph: an opened graph.
        level: of its pyramid.

    Raises:
        SpecError: there is no such level.
        StoreError: the graph can't be read.
    """
    arrays = graph.level(level)
    weights, points = weights_of(arrays), graph.spec.base_points(level)
    neighbours = np.bincount(np.diff(arrays.laplacian.indptr) - 1)
    least, most = _range(weights, points)
    logarithmic = most / least > WIDE
    limits = _limits(least, most, logarithmic=logarithmic)
    within, across = (np.zeros(len(limits) - 1, np.int64) for _ in range(2))
    weightless = 0
    for values, turning in _blocks(weights, points):
        # Weights come from float32, twice for each edge: both copies fall into the same bin.
        within += np.histogram(values[~turning], limits)[0]
        across += np.histogram(values[turning], limits)[0]
        weightless += int((values <= 0).sum())
    counted = within // 2, across // 2
    axes = graph.spec.axes is not None
    return Degrees(neighbours, limits, *counted, logarithmic, weightless // 2, axes)


def _blocks(weights: MappedWeights, points: int) -> Iterator[tuple[Floats, npt.NDArray[np.bool_]]]:
    """The weights of consecutive rows, each with whether its edge leads to another orientation."""
    for start, stop in row_blocks(weights.laplacian.indptr):
        block = weights.rows(np.arange(start, stop))
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
        yield block.data, row // points != block.indices // points


def _range(weights: MappedWeights, points: int) -> tuple[float, float]:
    """The smallest positive weight and the largest; 1 and 1 where there are none."""
    least, most = np.inf, 0.0
    for values, _ in _blocks(weights, points):
        least = min(least, float(values[values > 0].min(initial=np.inf)))
        most = max(most, float(values.max(initial=0)))
    return (least, most) if most > 0 else (1.0, 1.0)


def _limits(least: float, most: float, *, logarithmic: bool) -> Floats:
    """Limits of bins that hold all weights, with room for rounding."""
    least, most = least * (1 - 1e-6), most * (1 + 1e-6)
    if most / least < 1 + 1e-4:  # equal up to their storage in float32
        return np.array([least, most])
    if logarithmic:
        limits: Floats = np.geomspace(least, most, BINS + 1)
        return limits
    return np.linspace(least, most, BINS + 1)
