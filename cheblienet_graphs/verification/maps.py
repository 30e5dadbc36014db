"""Agreement of a map's arrays with its facts and with each other."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.icosphere import mesh_edges
from cheblienet_graphs.samplings.masked import MaskedSampling, centers
from cheblienet_graphs.samplings.points import base_places
from cheblienet_graphs.search.nearest_sources import SHELL
from cheblienet_graphs.search.positions import PlacedPoints, lengths
from cheblienet_graphs.sparse import near
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.map_spec import UNIT, averages
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.groups import Fault
from cheblienet_graphs.store.map_reader import MapArrays
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.verification.levels import (
    coincide,
    first_faults,
    fits_mask,
    given_faults,
    undigested,
)

LENGTH = 1e-9
"""Relative error of lengths, from coordinates with rounded angles."""
WEIGHT = 2 * UNIT
"""Error of a weight: one unit where it is rounded, another where remainders tie."""


def map_faults(arrays: MapArrays) -> list[Fault]:
    """Faults of a map, given that its files are as published, with paths below the version."""
    sides = [(f"{side}/coordinates", _side_faults(arrays, side)) for side in layout.SIDES]
    for checks in (
        [*sides, (layout.MAP, _sum_faults(arrays))],
        [(layout.TRANSPOSED, _transposed_faults(arrays))],
        [(layout.MAP, _matrix_faults(arrays))],
    ):
        if faults := [*first_faults(checks)]:
            return faults
    return []


def _side_faults(arrays: MapArrays, side: str) -> Iterator[str]:
    """Coordinates follow from the specification; given points must be some that a build takes."""
    spec = arrays.facts.spec.sides[side]
    known = arrays.coordinates(side)
    places = arrays.base_index(side)
    if not fits_mask(spec, places):
        yield "are not those of the points inside the mask of the spec's digest"
    if spec.coordinates is not None:
        yield from _given_faults(spec, known)
        return
    full = spec.full_sampling(0)
    if not coincide(spec, known, centers(full if places is None else MaskedSampling(full, places))):
        yield "are not those of the spec's sampling"


def _given_faults(spec: GraphSpec, known: Floats) -> Iterator[str]:
    """Given points are as in a graph; where one level has all, of the spec's digest."""
    given = spec.coordinates
    count = spec.base_points(0)
    points = base_places(spec.geometry.base, known[:count])
    sampling = spec.with_points({0: PointArrays(points, None)}).full_sampling(0)
    if not coincide(spec, known, sampling.coordinates()):
        yield "are not the same for each orientation"
    yield from given_faults(sampling, of_map=True)
    if given is not None and len(given.points) == 1 and undigested(spec, [known]):
        yield "are not the points of the spec's digest"


def _sum_faults(arrays: MapArrays) -> Iterator[str]:
    """Weights of each target sum to exactly 1."""
    matrix = arrays.matrix
    if (np.add.reduceat(matrix.data.astype(np.float64), matrix.indptr[:-1]) != 1).any():
        yield "has weights that do not sum to 1"


def _transposed_faults(arrays: MapArrays) -> Iterator[str]:
    """The matrix by columns is the same."""
    expected = scipy.sparse.csr_array(arrays.matrix.scipy().T)
    expected.sort_indices()
    parts = ("indptr", "indices", "data")
    if not all(np.array_equal(getattr(arrays.transposed, p), getattr(expected, p)) for p in parts):
        yield "is not the map's matrix by columns"


def _matrix_faults(arrays: MapArrays) -> Iterator[str]:
    """Entries follow the rule, with the weights that follow from their lengths."""
    matrix, spec, sizes = arrays.matrix, arrays.facts.spec, arrays.facts.sizes
    placed = spec.source.geometry, spec.metric, spec.periods
    source, target = (
        PlacedPoints.at(*placed, np.asarray(arrays.coordinates(side))) for side in layout.SIDES
    )
    counts = np.diff(matrix.indptr)
    # Sources at one place count once.
    first = source.first_there[matrix.indices] == matrix.indices
    ends = np.append(0, np.cumsum(first))[matrix.indptr]
    if not counts.all() or np.diff(ends).min() < (spec.neighbors or 1):
        yield "has targets with fewer sources than the spec says"
        return
    row = np.repeat(np.arange(len(counts)), counts)
    try:
        reached = source.cloud(max(sizes.farthest, 0.0) * (1 + SHELL))
    except SpecError:
        yield f"has a farthest source at {sizes.farthest:.9g} by its facts, over too many periods"
        return
    squared = lengths(reached, target.cloud(), row, matrix.indices)
    farthest = float(squared.max()) ** 0.5
    if not abs(farthest - sizes.farthest) <= LENGTH * (farthest + 1):
        yield f"has a farthest source at {farthest:.9g}; its facts say {sizes.farthest:.9g}"
    if spec.radius is not None and farthest > spec.radius * (1 + LENGTH):
        yield "has sources beyond the radius"
    if spec.neighbors is not None and _is_cut(squared[first], ends, spec.neighbors):
        yield "has more sources of a target than are as near as the spec says"
    if spec.scales is not None and spec.source.subdivisions is not None:
        rows, columns = mesh_edges(spec.source.subdivisions, spec.scales)
        if not (np.array_equal(rows, row) and np.array_equal(columns, matrix.indices)):
            yield "has other edges than the meshes"
    sharing = source.sharing(matrix.indices)
    expected = averages(spec.weights, squared, matrix.indptr, spec.bandwidth, sharing)
    if not near(matrix.data, expected, np.full(len(expected), WEIGHT)):
        yield "has other weights than follow from its lengths"


def _is_cut(squared: Floats, indptr: Indices, neighbors: int) -> bool:
    """True if a row has more than K sources, though the K-th is nearer than the last of them."""
    counts = np.diff(indptr)
    ascending = squared[np.lexsort((squared, np.repeat(np.arange(len(counts)), counts)))]
    kth = ascending[indptr[:-1] + neighbors - 1]
    last = ascending[indptr[1:] - 1]
    return bool((last > kth * (1 + 2 * SHELL)).any())
