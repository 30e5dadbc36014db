"""The edges of one vertex, given by a place near it: where they lead, how far, their weights."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.errors import MISSING, Found, Remedy, SpecError, Words, aligned
from cheblienet_graphs.limits import Number, integer, numbers
from cheblienet_graphs.manifolds.flat import directions_across
from cheblienet_graphs.manifolds.moments import logarithms
from cheblienet_graphs.report.opened import open_graph
from cheblienet_graphs.samplings.axes import angles_between
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, periods
from cheblienet_graphs.spec import GraphSpec, fibers
from cheblienet_graphs.typing import Floats, Indices

TIE = 1e-9
"""Relative difference of squared lengths up to which candidates are equally long."""
ROUNDING = 1e-12
LEVEL = 1e-6
"""Length of an axis across z below which it is z."""
ANGLES = {"theta", "alpha", "beta", "gamma", "rotation", "tilt_1", "tilt_2"}
"""Columns that are stored in radians and shown in degrees,"""
SHOWN = {"beta": "lat", "gamma": "lon"}
"""and what they are called then: the sphere's places are shown as they are asked for."""


@dataclass(frozen=True)
class Nearest:
    """The vertex that is nearest to a place: of the nearest point the nearest orientation.

    Args:
        vertex: its index.
        distance: to the point along the base, in the metric's unit of length.
        turn: to the orientation or axis, radians in [0, pi/2], of orientations modulo 2 pi in
            [0, pi]; None where there are none.
    """

    vertex: int
    distance: float
    turn: float | None


@dataclass(frozen=True)
class Neighbors:
    """The edges of a vertex, the nearest first; N of them. str() is the text for a terminal.

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
            all candidates (modulo pi there are two, periodic domains have images) the shortest
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
        manifold = self.spec.geometry
        if self.spec.axes is not None:
            return "along", "across_1", "across_2", "tilt_1", "tilt_2"
        flat = manifold.frame == manifold.columns
        return tuple(f"d{name}" for name in manifold.columns) if flat else manifold.frame

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types, angles in radians."""
        columns, asked = self.spec.geometry.columns, self.asked
        parts = self.vertices, self.ends, self.components, self.distances, self.weights
        edges = (part.tolist() for part in parts)
        return {
            "name": self.name,
            "level": self.level,
            "vertex": self.vertex,
            "coordinates": dict(zip(columns, self.coordinates.tolist(), strict=True)),
            "asked": asked and {"distance": asked.distance, "turn": asked.turn},
            "neighbors": [
                {
                    "vertex": vertex,
                    "coordinates": dict(zip(columns, end, strict=True)),
                    "components": dict(zip(self.directions, components, strict=True)),
                    "distance": distance,
                    "weight": weight,
                }
                for vertex, end, components, distance, weight in zip(*edges, strict=True)
            ],
        }

    def __str__(self) -> str:
        """The vertex, how far it is from what was asked, and a line for each edge."""
        spec, columns, count = self.spec, self.spec.geometry.columns, len(self.vertices)
        start = zip(columns, self.coordinates.tolist(), strict=True)
        places = ", ".join(f"{_title(name)} {_cell(name, value)}" for name, value in start)
        lines = [f"{self.name}, level {self.level}: vertex {self.vertex:,} at {places}"]
        if self.asked is not None:
            lines.append(f"  {self._how_far(self.asked)}")
        if not count:
            return "\n".join([*lines, "  no neighbors"])
        if spec.axes is not None:
            frame = map(fibers.vector_in_words, axis_frame(self.coordinates[3:])[1:].tolist())
            lines.append("  across 1 is {}, across 2 is {}; tilts are to these".format(*frame))
        several = f"{count} neighbor{'s' if count > 1 else ''}"
        shown = f"lengths in {spec.geometry.base.unit}, of which one is {self._visible(1.0, 4)}"
        lines += [f"  {several}; {shown}", ""]
        rows = [["vertex", *map(_title, [*columns, *self.directions]), "distance", "weight"]]
        for edge in self.to_json()["neighbors"]:
            named = edge["coordinates"] | edge["components"]
            cells = [_cell(name, value) for name, value in named.items()]
            lengths = f"{edge['distance']:.4g}", f"{edge['weight']:.4g}"
            rows.append([f"{edge['vertex']:,}", *cells, *lengths])
        return "\n".join([*lines, *(f"  {line}" for line in aligned(rows, ">"))])

    def _visible(self, length: float, digits: int) -> str:
        """A length in a unit that can be seen."""
        away = fibers.visible(self.spec, self.level, length)
        return f"{away:.{digits}g} {fibers.visible_unit(self.spec)}"

    def _how_far(self, asked: Nearest) -> str:
        """The distance in the metric's unit and in one that can be seen."""
        unit = self.spec.geometry.base.unit
        away = f"{asked.distance:.3g} {unit} ({self._visible(asked.distance, 3)})"
        turned = "rotation" if self.spec.axes is None else "tilt"
        if asked.turn is not None:
            away += f" and {np.degrees(asked.turn):.3g} degrees of {turned}"
        return f"the nearest to what was asked: {away} away"


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
    graph, asked = open_graph(store, name), None
    arrays, spec = graph.level(level), graph.spec
    known = 0 if vertex is None else integer("vertex", vertex, 0, arrays.of_level.vertices - 1)
    weights, sampled = arrays.weights, arrays.sampled
    if at is not None:
        asked = _nearest_vertex(spec, sampled.sampling, at)
        known = asked.vertex
    row = weights.rows(np.array([known]))
    start, ends = arrays.coordinates[[known]], arrays.coordinates[row.indices]
    components, distances = _shortest_logarithms(sampled, start, ends)
    if spec.axes is not None:
        components = components @ to_the_frame(start[0, 3:]).T
    order = np.lexsort((row.indices, _classes(distances)))
    return Neighbors(
        graph.name,
        spec,
        arrays.level,
        known,
        np.array(start[0]),
        asked,
        row.indices[order].astype(np.int64),
        np.array(ends)[order],
        components[order],
        distances[order],
        row.data[order],
    )


def _nearest_vertex(spec: GraphSpec, sampling: Sampling, at: str | Sequence[float]) -> Nearest:
    """The vertex nearest to a place, the first one of those equally near.

    Args:
        spec: of the graph.
        sampling: of a level, with its mask.
        at: "X,Y" or "X,Y,Z" in widths of the domain; on the sphere "LAT,LON" in degrees; where
            there are orientations their angle in degrees after it; where there are axes
            "X,Y,Z,NX,NY,NZ", the axis of any length. Or as many numbers.

    Raises:
        SpecError: there are more or fewer numbers, they are outside the domain, or the nearest
            point of the full sampling is outside the mask.
    """
    place, sample = _parsed(spec, sampling, at)
    full = sampling.full if isinstance(sampling, MaskedSampling) else sampling
    point, distance = _nearest_point(spec, full, place)
    if isinstance(sampling, MaskedSampling):
        point = int(sampling.inside[point])
        if point < 0:
            _, away = _nearest_point(spec, sampling, place)
            part = "mask" if spec.region is None else "region"
            found = f"a place outside, {away:.3g} {spec.geometry.base.unit} from the nearest point"
            raise SpecError("at", f"inside the {part} of the graph", Found(f"{found} inside"))
    if not spec.geometry.oriented:
        return Nearest(point, distance, None)
    samples = np.array(fibers.samples_of(spec))
    if spec.axes is not None:
        turns = angles_between(sample[None], samples)[0]
    else:
        half = spec.geometry.fiber.step(spec.orientations) * spec.orientations / 2
        turns = abs((sample - samples[:, 0] + half) % (2 * half) - half)
    k = int(turns.argmin())
    return Nearest(k * sampling.num_points + point, distance, float(turns[k]))


def _parsed(
    spec: GraphSpec, sampling: Sampling, at: str | Sequence[float]
) -> tuple[Floats, Floats]:
    """A place in Cartesian coordinates on the base, and an orientation in radians or an axis."""
    given = numbers(at)
    base, fiber = spec.geometry.base, spec.geometry.fiber.columns
    limits = zip(given, _limits(sampling).values(), strict=False)
    place, sample = np.array(given[: base.dimension]), np.array(given[base.dimension :])
    length = float(np.linalg.norm(sample)) if spec.axes is not None else 1.0
    if (
        len(given) != base.dimension + len(fiber)
        or not all(low <= number <= high for number, (low, high) in limits)
        or not 0 < length < math.inf
    ):
        raise SpecError("at", _form(spec, sampling), at)
    if not base.flat:
        latitude, longitude = np.radians(place)
        across = np.cos(latitude)
        place = np.array([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])
    return place, np.radians(sample) if spec.axes is None else sample / length


def _nearest_point(spec: GraphSpec, sampling: Sampling, place: Floats) -> tuple[int, float]:
    """The nearest point of the base and its distance."""
    offsets = sampling.base_points - place
    chords = np.linalg.norm(offsets - periods(sampling, offsets), axis=1)
    point = int(chords.argmin())
    return point, float(spec.geometry.base.distance(chords[point]))


def _limits(sampling: Sampling) -> dict[str, tuple[float, float]]:
    """Least and largest number of each direction of the base, as they are written."""
    if sampling.extent is None:
        return {"LAT": (-90.0, 90.0), "LON": (-180.0, 360.0)}
    return {name: (0.0, side) for name, side in zip("XYZ", sampling.extent, strict=False)}


def _form(spec: GraphSpec, sampling: Sampling) -> str:
    """'X,Y,THETA with X in [0, 1] and Y in [0, 1] widths of the domain, THETA in degrees'."""
    limits = _limits(sampling)
    ranges = [f"{name} in [{low:g}, {high:.4g}]" for name, (low, high) in limits.items()]
    unit = "degrees" if sampling.extent is None else "widths of the domain"
    angles = [column.upper() for column in spec.geometry.fiber.columns]
    turned = "".join(f", {angle} in degrees" for angle in angles)
    if spec.axes is not None:
        turned = ", NX,NY,NZ along the axis, not all 0"
    return f"{','.join([*limits, *angles])} with {' and '.join(ranges)} {unit}{turned}"


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


def _classes(distances: Floats) -> Indices:
    """(N,) ranks of distances that differ by more than rounding: what is equally far is equal."""
    order = np.argsort(distances)
    ranked = distances[order]
    steps = np.diff(ranked, prepend=ranked[:1]) > TIE * ranked
    ranks = np.empty(len(distances), np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


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


def _title(name: str) -> str:
    return SHOWN.get(name, name.replace("_", " ")) + " (deg)" * (name in ANGLES)


def _cell(name: str, value: float) -> str:
    """Lengths with five digits, angles in degrees; what is 0 but for rounding is 0."""
    value = 0.0 if abs(value) < ROUNDING else value
    shown = 90 - math.degrees(value) if name == "beta" else math.degrees(value)
    return f"{shown:.2f}" if name in ANGLES else f"{value:.5g}"
