"""The edges of one vertex, given by its number or by a place near it."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.errors import MISSING, Remedy, SpecError, Words, aligned
from cheblienet_graphs.limits import Number, integer, numbers
from cheblienet_graphs.manifolds.moments import logarithms
from cheblienet_graphs.report.opened import open_graph
from cheblienet_graphs.samplings.axes import angles_between
from cheblienet_graphs.samplings.points import unit_vectors
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, periods
from cheblienet_graphs.spec import GraphSpec, fibers
from cheblienet_graphs.typing import Floats, Indices

TIE = 1e-9
"""Relative difference of squared lengths up to which candidates are equally long."""


@dataclass(frozen=True)
class VertexEdges:
    """The edges of a vertex, the nearest first; N of them. str() is the text for a terminal.

    Args:
        name: NAME@VERSION, level.
        spec: of the graph.
        vertex: where the edges start.
        coordinates: (columns,) of the vertex, angles in radians.
        vertices: (N,) where they end.
        ends: (N, columns) coordinates there.
        components: (N, dim) of log g^-1 h along the manifold's frame at the vertex; of all
            candidates (modulo pi there are two, periodic domains have images) the shortest.
        distances: (N,) under the metric: their length sqrt(c^T R c).
        weights: (N,) of the edges.
    """

    name: str
    spec: GraphSpec
    vertex: int
    coordinates: Floats
    vertices: Indices
    ends: Floats
    components: Floats
    distances: Floats
    weights: Floats

    @property
    def directions(self) -> list[str]:
        """Names of the components, none of which another one or a coordinate has."""
        columns, frame = self.spec.geometry.columns, self.spec.geometry.frame
        if frame == columns:
            return [f"d{name}" for name in frame]
        return [
            f"{name}_{frame[:end].count(name)}" if frame.count(name) > 1 else name
            for end, name in enumerate(frame, 1)
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types, angles in radians."""
        names = "vertices", "ends", "components", "distances", "weights"
        arrays = {name: getattr(self, name).tolist() for name in names}
        known: dict[str, Any] = {"name": self.name, "columns": list(self.spec.geometry.columns)}
        known |= {"directions": self.directions, "vertex": self.vertex}
        return known | {"coordinates": self.coordinates.tolist()} | arrays

    def __str__(self) -> str:
        """The vertex, and a line for each edge."""
        geometry = self.spec.geometry
        place = ", ".join(f"{part:.5g}" for part in self.coordinates)
        unit = geometry.base.unit
        head = f"{self.name}: vertex {self.vertex:,} at {', '.join(geometry.columns)} = {place}"
        rows = [["vertex", *geometry.columns, *self.directions, "distance", "weight"]]
        for vertex, *parts in zip(
            self.vertices, self.ends, self.components, self.distances, self.weights, strict=True
        ):
            rows.append([f"{vertex:,}", *(f"{part:.4g}" for part in np.hstack(parts) + 0.0)])
        return "\n".join([head, f"  lengths in {unit}, angles in radians", "", *aligned(rows, ">")])


def neighbors_of(
    store: str | Path,
    name: str | None = None,
    *,
    vertex: Number | None = None,
    at: str | Sequence[float] | None = None,
    level: Number = 0,
) -> VertexEdges:
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
        SpecError: `vertex` or `level` is out of range, `at` is no place, or both or neither of
            `vertex` and `at` are given.
    """
    if (vertex is None) == (at is None):
        at_all, there = ("given, or ", "") if at is None else ("left out where ", " is given")
        one = Words(at_all, Remedy("at"), there)
        raise SpecError("vertex", one, MISSING if vertex is None else vertex)
    graph = open_graph(store, name)
    arrays, spec = graph.level(level), graph.spec
    known = (
        integer("vertex", vertex, 0, arrays.of_level.vertices - 1)
        if at is None
        else _nearest_vertex(spec, arrays.sampling, at)
    )
    row = arrays.weights(np.array([known]))
    start, ends = arrays.coordinates[[known]], np.array(arrays.coordinates[row.indices])
    components, distances = _shortest_logarithms(arrays.sampled, start, ends)
    order = np.lexsort((row.indices, distances.round(12)))
    return VertexEdges(
        arrays.label,
        spec,
        known,
        np.array(start[0]),
        row.indices[order].astype(np.int64),
        ends[order],
        components[order],
        distances[order],
        row.data[order],
    )


def _nearest_vertex(spec: GraphSpec, sampling: Sampling, at: str | Sequence[float]) -> int:
    """The vertex nearest to a place: of the nearest point the nearest sample of the fiber.

    Raises:
        SpecError: it is no such place.
    """
    given, base = numbers(at), spec.geometry.base
    angles = [column.upper() for column in spec.geometry.fiber.columns]
    limits = {"LAT": (-90.0, 90.0), "LON": (-180.0, 360.0)}
    if sampling.extent is not None:
        limits = {name: (0.0, side) for name, side in zip("XYZ", sampling.extent, strict=False)}
    place, sample = np.array(given[: base.dimension]), np.array(given[base.dimension :])
    bounded = zip(given, limits.values(), strict=False)
    if (
        len(given) != base.dimension + len(angles)
        or not all(low <= part <= high for part, (low, high) in bounded)
        or not np.isfinite(sample).all()
        or not (spec.axes is None or sample.any())
    ):
        ranges = " and ".join(f"{k} in [{low:g}, {high:.4g}]" for k, (low, high) in limits.items())
        unit = "widths of the domain" if base.flat else "degrees"
        last = ", not all 0" if spec.axes is not None else " in degrees" if angles else ""
        named = f", {','.join(angles)}{last}" if angles else ""
        raise SpecError("at", f"{','.join([*limits, *angles])} with {ranges} {unit}{named}", at)
    if not base.flat:
        latitude, longitude = np.radians(place)
        place = unit_vectors(np.array([np.pi / 2 - latitude]), np.array([longitude]))[0]
    offsets = sampling.base_points - place
    point = int(np.linalg.norm(offsets - periods(sampling, offsets), axis=1).argmin())
    if not angles:
        return point
    samples = np.array(fibers.samples_of(spec))
    if spec.axes is not None:
        turns = angles_between(sample[None] / np.linalg.norm(sample), samples)[0]
    else:
        half = spec.geometry.fiber.step(spec.orientations) * spec.orientations / 2
        turns = abs((np.radians(sample[0]) - samples[:, 0] + half) % (2 * half) - half)
    return int(turns.argmin()) * sampling.num_points + point


def _shortest_logarithms(
    sampled: SampledManifold[Sampling], start: Floats, ends: Floats
) -> tuple[Floats, Floats]:
    """The components of log g^-1 h that are shortest under the metric, and their length.

    Of candidates that are equally long the one of the smaller rotation counts, then the first. No
    logarithm is shorter than its step along the base, so images farther than the nearest ones are
    long need not be tried.

    Args:
        sampled: the points, whose periods count, with the metric R.
        start: (1, columns) coordinates of g.
        ends: (N, columns) of h.

    Returns:
        (N, dim) and (N,).
    """
    sides = sampled.sampling.extent if sampled.sampling.periodic else None
    nearest = _shortest_among(sampled, start, ends, [0] * sampled.manifold.base.dimension)
    reach = nearest[1].max(initial=0.0) * (1 + TIE)
    rings = [math.floor(reach / side + 0.5) for side in sides or ()]
    return _shortest_among(sampled, start, ends, rings) if any(rings) else nearest


def _shortest_among(
    sampled: SampledManifold[Sampling], start: Floats, ends: Floats, rings: Sequence[int]
) -> tuple[Floats, Floats]:
    """The same among so many rings of images along each axis, around the nearest one."""
    geometry, sampling = sampled.manifold, sampled.sampling
    dimension, starts = geometry.base.dimension, np.repeat(start, len(ends), axis=0)
    nearest = np.array(ends)
    nearest[:, :dimension] -= periods(sampling, (ends - start)[:, :dimension])
    images = [*itertools.product(*(sorted(range(-n, n + 1), key=abs) for n in rings))]
    shifts = np.zeros((len(images), ends.shape[1]))
    shifts[:, :dimension] = np.array(images) * (sampling.extent or 1.0)
    every = np.concatenate([logarithms(geometry, starts, nearest + shift) for shift in shifts])
    squared = np.einsum("kan,a->kn", every**2, np.array(geometry.weights(sampled.metric)))
    least = squared <= squared.min(axis=0) * (1 + TIE)
    turns = np.linalg.norm(every[:, dimension:], axis=1)
    chosen, each = np.argmin(np.where(least, turns, np.inf), axis=0), np.arange(len(ends))
    return every[chosen, :, each], np.sqrt(squared[chosen, each])
