"""Edges that two graphs on the same vertices share, and how their weights differ."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.sparse.median import median
from cheblienet_graphs.sparse.rows import ENTRIES, row_blocks
from cheblienet_graphs.store.reader import MappedWeights
from cheblienet_graphs.typing import Floats, Indices

AT_ONCE = 2**22
"""Differences of at most this many edges are all in memory together."""


@dataclass(frozen=True)
class SharedEdges:
    """The edges of two graphs on the same vertices.

    Args:
        both: edges that both have, undirected.
        first: edges that the first one alone has.
        second: edges that the second one alone has.
        largest: the largest |w - v| / max(w, v) of the weights of edges that both have; None where
            there are none.
        median: the median of the same.
        ratio: the median of v / w, of the second one's weights over the first one's: a factor that
            all weights share; None where there are none, or most of the first one's are 0.
    """

    both: int
    first: int
    second: int
    largest: float | None
    median: float | None
    ratio: float | None

    @property
    def share(self) -> float:
        """Share of edges in both among those of either; 1 where there are none at all."""
        either = self.both + self.first + self.second
        return self.both / either if either else 1.0


def shared_edges(
    first: MappedWeights, second: MappedWeights, *, entries: int = ENTRIES, at_once: int = AT_ONCE
) -> SharedEdges:
    """Compare the edges and weights of two graphs on the same vertices, block by block.

    Args:
        first: W of one graph, (V, V).
        second: W of the other, (V, V).
        entries: stored entries of both in a block of rows.
        at_once: edges in both up to which all their weights are in memory together.
    """
    together = first.laplacian.indptr.astype(np.int64) + second.laplacian.indptr
    blocks = list(row_blocks(together, entries))

    def pairs() -> Iterator[tuple[Floats, Floats]]:
        return ((found.first, found.second) for found in map(matched, blocks))

    def matched(block: tuple[int, int]) -> _Matched:
        return _matched(first, second, *block)

    counts, largest = np.zeros(3, np.int64), 0.0
    for found in map(matched, blocks):
        counts += found.counts
        largest = max(largest, float(_relative(found.first, found.second).max(initial=0.0)))
    both, alone, other = counts.tolist()
    if not both:
        return SharedEdges(both, alone, other, None, None, None)
    if both <= at_once:
        v, w = map(np.concatenate, zip(*pairs(), strict=True))
        medians = float(np.median(_relative(v, w))), float(np.median(_ratios(v, w)))
    else:
        medians = (
            median(lambda: (_relative(v, w) for v, w in pairs()), both),
            median(lambda: (_ratios(v, w) for v, w in pairs()), both),
        )
    ratio = medians[1] if math.isfinite(medians[1]) else None
    return SharedEdges(both, alone, other, largest, medians[0], ratio)


@dataclass(frozen=True)
class _Matched:
    """Edges of a block of rows: numbers in both, in one alone; weights of those in both."""

    counts: tuple[int, int, int]
    first: Floats
    second: Floats


def _matched(first: MappedWeights, second: MappedWeights, start: int, stop: int) -> _Matched:
    (a, v), (b, w) = (_upper(graph, start, stop) for graph in (first, second))
    _, here, there = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    both = len(here)
    return _Matched((both, len(a) - both, len(b) - both), v[here], w[there])


def _upper(graph: MappedWeights, start: int, stop: int) -> tuple[Indices, Floats]:
    """Keys row * V + column of the edges to later vertices from rows start..stop; their weights."""
    block = graph.rows(np.arange(start, stop))
    row = np.repeat(np.arange(start, stop), np.diff(block.indptr))
    upper = block.indices > row
    keys = row[upper] * block.shape[1] + block.indices[upper]
    weights: Floats = block.data[upper]
    return keys, weights


def _relative(v: Floats, w: Floats) -> Floats:
    """|v - w| / max(v, w), 0 where both are 0."""
    most = np.maximum(v, w)
    relative: Floats = np.divide(abs(v - w), most, out=np.zeros_like(most), where=most > 0)
    return relative


def _ratios(v: Floats, w: Floats) -> Floats:
    """W / v, 1 where both are 0."""
    ratios: Floats = np.divide(w, v, out=np.where(w > 0, np.inf, 1.0), where=v > 0)
    return ratios
