"""The edges of one vertex: where they lead, how far, and how they are weighted."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.errors import MISSING, Remedy, SpecError, Words
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.manifolds.r3s2 import directions_across
from cheblienet_graphs.report.places import Nearest, nearest_vertex, place
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import read_facts
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.values import Number, integer

TIE = 1e-9
"""Relative difference of squared lengths up to which candidates are equally long."""


@dataclass(frozen=True)
class Neighbors:
    """The edges of a vertex, the nearest first; N of them.

    Args:
        name: NAME@VERSION.
        spec: of the graph.
        level: 0 is the finest.
        vertex: where the edges start.
        coordinates: (columns,) of the vertex, angles in radians.
        asked: how far the vertex is from the place that was asked for; None where the vertex was.
        vertices: (N,) where they end.
        ends: (N, columns) coordinates there.
        components: (N, dim) of log g^-1 h in the left-invariant frame: forward, sideways, in the
            metric's unit, and rotation, radians; on r2 and r3 dx, dy, dz, on s2 south and east; on
            r3s2 along the axis, two across it as `axis_frame` has them, and tilts to these. Of
            all candidates (orientations are modulo pi, periodic domains have images) the shortest
            under the metric.
        distances: (N,) under the metric: sqrt(c^T R c).
        weights: (N,) of the edges.
    """

    name: str
    spec: GraphSpec
    level: int
    vertex: int
    coordinates: Floats
    asked: Nearest | None
    vertices: Indices
    ends: Floats
    components: Floats
    distances: Floats
    weights: Floats

    @property
    def directions(self) -> tuple[str, ...]:
        """Names of the components."""
        if self.spec.axes is not None:
            return "along", "across_1", "across_2", "tilt_1", "tilt_2"
        if self.spec.geometry.oriented:
            return "forward", "sideways", "rotation"
        if not self.spec.geometry.base.flat:
            return "south", "east"
        return tuple(f"d{name}" for name in self.spec.geometry.columns)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types, angles in radians."""
        columns, directions = self.spec.geometry.columns, self.directions
        asked = None
        if self.asked is not None:
            asked = {"distance": self.asked.distance, "turn": self.asked.turn}
        return {
            "name": self.name,
            "level": self.level,
            "vertex": self.vertex,
            "coordinates": dict(zip(columns, self.coordinates.tolist(), strict=True)),
            "asked": asked,
            "neighbors": [
                {
                    "vertex": vertex,
                    "coordinates": dict(zip(columns, end, strict=True)),
                    "components": dict(zip(directions, components, strict=True)),
                    "distance": distance,
                    "weight": weight,
                }
                for vertex, end, components, distance, weight in zip(
                    self.vertices.tolist(),
                    self.ends.tolist(),
                    self.components.tolist(),
                    self.distances.tolist(),
                    self.weights.tolist(),
                    strict=True,
                )
            ],
        }


def neighbors_of(
    store: str | Path,
    name: str | None = None,
    *,
    vertex: Number | None = None,
    at: str | Sequence[float] | None = None,
    level: Number = 0,
) -> Neighbors:
    """The edges of one vertex of a published graph, given by its index or by a place near it.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        vertex: its index, in [0, V).
        at: a place instead, of which the nearest vertex is taken: x, y(, z) in widths of the
            domain, on the sphere latitude, longitude in degrees; then, where there are
            orientations, their angle in degrees, or nx, ny, nz along the axis. Numbers, or text
            with commas.
        level: 0 is the finest.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `vertex` or `level` is out of range, `at` is no place inside the domain and the
            mask, or both or neither of `vertex` and `at` are given.
    """
    if (vertex is None) == (at is None):
        at_all, there = ("given, or ", "") if at is None else ("left out where ", " is given")
        one = Words(at_all, Remedy("at"), there)
        raise SpecError("vertex", one, MISSING if vertex is None else vertex)
    version = layout.resolve(store, name)
    facts = read_facts(version)
    spec = facts.spec
    level = integer("level", level, 0, spec.levels - 1)
    arrays, asked = LevelArrays(version, facts, level), None
    if vertex is not None:
        start_at = integer("vertex", vertex, 0, arrays.of_level.vertices - 1)
    weights, sampling = arrays.weights, arrays.sampling
    if at is not None:
        asked = nearest_vertex(spec, sampling, place(spec, sampling, at))
        start_at = asked.vertex
    found = np.array([start_at])
    row = weights.rows(found)
    start, ends = arrays.coordinates[found], arrays.coordinates[row.indices]
    metric = Metric(spec.eps, arrays.of_level.xi or 0.0)
    components, distances = shortest_logarithms(spec, metric, sampling, start, ends)
    if spec.axes is not None:
        components = components @ to_the_frame(start[0, 3:]).T
    order = np.lexsort((row.indices, _classes(distances)))
    return Neighbors(
        f"{version.parent.name}@{version.name}",
        spec,
        level,
        start_at,
        np.array(start[0]),
        asked,
        row.indices[order].astype(np.int64),
        np.array(ends)[order],
        components[order],
        distances[order],
        row.data[order],
    )


def shortest_logarithms(
    spec: GraphSpec, metric: Metric, sampling: Sampling, start: Floats, ends: Floats
) -> tuple[Floats, Floats]:
    """The components of log g^-1 h that are shortest under the metric, and their length.

    Of candidates that are equally long the one of the smaller rotation counts, then the first.

    Args:
        spec: of the graph.
        metric: R.
        sampling: whose periods count.
        start: (1, columns) coordinates of g.
        ends: (N, columns) of h.

    Returns:
        (N, dim) and (N,).
    """
    geometry, found = spec.geometry, []
    g = geometry.elements(tuple(map(array, start.T)))
    for shift in _images(sampling, geometry.base.dimension):
        moved = np.array(ends)
        moved[:, : len(shift)] += shift - _periods(sampling, start, ends, len(shift))
        h = geometry.elements(tuple(map(array, moved.T)))
        found += [np.stack(np.broadcast_arrays(*c)) for c in geometry.logarithms(g, h)]
    candidates = np.stack(found).view(np.ndarray)
    squared = np.einsum("kan,a->kn", candidates**2, np.array(geometry.weights(metric)))
    least = squared <= squared.min(axis=0) * (1 + TIE)
    turns = np.linalg.norm(candidates[:, geometry.base.dimension :], axis=1)
    turn = np.where(least, turns, np.inf)
    chosen = np.argmin(turn, axis=0)
    each = np.arange(len(ends))
    return candidates[chosen, :, each], np.sqrt(squared[chosen, each])


def _images(sampling: Sampling, dimension: int) -> list[Floats]:
    """Shifts by whole periods of a periodic domain, none first; else no shift at all."""
    if not sampling.periodic or not sampling.extent:
        return [np.zeros(0)]
    steps = itertools.product((0, -1, 1), repeat=dimension)
    return [np.array(step) * sampling.extent for step in steps]


def _periods(sampling: Sampling, start: Floats, ends: Floats, dimension: int) -> Floats | float:
    """(N, d) what takes ends to the image nearest to the start, along the base."""
    if not dimension or not sampling.extent:
        return 0.0
    offsets = ends[:, :dimension] - start[:, :dimension]
    whole: Floats = np.round(offsets / sampling.extent) * sampling.extent
    return whole


def _classes(distances: Floats) -> Indices:
    """(N,) ranks of distances that differ by more than rounding: what is equally far is equal."""
    order = np.argsort(distances)
    ranked = distances[order]
    steps = np.diff(ranked, prepend=ranked[:1]) > TIE * ranked
    ranks = np.empty(len(distances), np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


LEVEL = 1e-6
"""Length of an axis across z below which it is z."""


def axis_frame(axis: Floats) -> Floats:
    """(3, 3) a right-handed frame, as rows: an axis in space, and two directions across it.

    The first of these is across z, too; x where the axis is z itself.

    Args:
        axis: (3,) unit vector.
    """
    level = np.array([-axis[1], axis[0], 0.0])
    length = float(np.linalg.norm(level))
    level = level / length if length > LEVEL else np.array([1.0, 0.0, 0.0])
    return np.stack([axis, level, np.cross(axis, level)])


def to_the_frame(axis: Floats) -> Floats:
    """(5, 5) what takes logarithms at an axis from the manifold's directions to `axis_frame`'s.

    Args:
        axis: (3,) unit vector.
    """
    frame = axis_frame(axis)
    across: Floats = np.array(directions_across(tuple(frame[0].tolist())))
    turned: Floats = np.eye(5)
    turned[1:3, 1:3] = turned[3:, 3:] = frame[1:] @ across.T
    return turned
