"""The edges of one vertex."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.errors import aligned
from cheblienet_graphs.limits import Number, integer
from cheblienet_graphs.manifolds.moments import logarithms
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, periods
from cheblienet_graphs.typing import Floats, Indices


@dataclass(frozen=True)
class VertexEdges:
    """The edges of a vertex, the nearest first; N of them. str() is the text for a terminal.

    Args:
        name: NAME@VERSION, level.
        columns: names of the coordinates.
        unit: of lengths.
        vertex: where the edges start.
        coordinates: (columns,) of the vertex, angles in radians.
        vertices: (N,) where they end.
        ends: (N, columns) coordinates there.
        distances: (N,) their lengths under the metric.
        weights: (N,) of the edges.
    """

    name: str
    columns: tuple[str, ...]
    unit: str
    vertex: int
    coordinates: Floats
    vertices: Indices
    ends: Floats
    distances: Floats
    weights: Floats

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types."""
        fields = {"name": self.name, "columns": list(self.columns), "vertex": self.vertex}
        names = "coordinates", "vertices", "ends", "distances", "weights"
        return fields | {name: getattr(self, name).tolist() for name in names}

    def __str__(self) -> str:
        """The vertex, and a line for each edge."""
        place = ", ".join(f"{part:.5g}" for part in self.coordinates)
        head = f"{self.name}: vertex {self.vertex:,} at {', '.join(self.columns)} = {place}"
        rows = [["vertex", *self.columns, "distance", "weight"]]
        numbers = np.column_stack([self.ends, self.distances, self.weights]) + 0.0
        for vertex, parts in zip(self.vertices, numbers, strict=True):
            rows.append([f"{vertex:,}", *(f"{part:.4g}" for part in parts)])
        units = f"  lengths in {self.unit}, angles in radians"
        return "\n".join([head, units, "", *aligned(rows, ">")])


def neighbors_of(
    store: str | Path, name: str | None = None, *, vertex: Number, level: Number = 0
) -> VertexEdges:
    """The edges of one vertex of a published graph.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        vertex: its index, in [0, V).
        level: 0 is the finest.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `vertex` or `level` is out of range.

    Example:
        >>> plane = GraphSpec("r2", 8, weights="selling", levels=1)
        >>> build(plane, "graphs.zarr", name="plane").built
        True
        >>> neighbors_of("graphs.zarr", "plane", vertex=0).vertices.tolist()
        [1, 8]
    """
    graph = open_graph(store, name)
    arrays, geometry = graph.level(level), graph.spec.geometry
    vertex = integer("vertex", vertex, 0, arrays.of_level.vertices - 1)
    row = arrays.weights(np.array([vertex]))
    start, ends = arrays.coordinates[[vertex]], np.array(arrays.coordinates[row.indices])
    distances = _distances(arrays.sampled, start, ends)
    order = np.lexsort((row.indices, distances.round(12)))
    return VertexEdges(
        arrays.label,
        geometry.columns,
        geometry.base.unit,
        vertex,
        np.array(start[0]),
        row.indices[order].astype(np.int64),
        ends[order],
        distances[order],
        row.data[order],
    )


def _distances(sampled: SampledManifold[Sampling], start: Floats, ends: Floats) -> Floats:
    """(N,) distances under the metric, the shortest over the images on a torus.

    No logarithm is shorter than its step along the base, so images farther than the nearest ones
    are long need not be tried.

    Args:
        sampled: the points with their metric.
        start: (1, columns) coordinates of a vertex.
        ends: (N, columns) of others.
    """
    geometry, sampling = sampled.manifold, sampled.sampling
    dimension, starts = geometry.base.dimension, np.repeat(start, len(ends), axis=0)
    nearest = ends.copy()
    nearest[:, :dimension] -= periods(sampling, (ends - start)[:, :dimension])
    metric = np.array(geometry.weights(sampled.metric))

    def shortest(rings: Sequence[int]) -> Floats:
        """The shortest among so many rings of images along each axis, around the nearest one."""
        squares = []
        for image in itertools.product(*(range(-n, n + 1) for n in rings)):
            shift = np.zeros(ends.shape[1])
            shift[:dimension] = np.array(image) * (sampling.extent or 1.0)
            components = logarithms(geometry, starts, nearest + shift)
            squares.append(np.einsum("kan,a->kn", components**2, metric).min(axis=0))
        distances: Floats = np.sqrt(np.min(squares, axis=0))
        return distances

    found = shortest([0] * dimension)
    if not sampling.periodic or sampling.extent is None:
        return found
    return shortest([math.floor(found.max(initial=0.0) / side + 0.5) for side in sampling.extent])
