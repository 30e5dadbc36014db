"""Places on a manifold as people write them, and the vertex that is nearest to one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.samplings.axes import angles_between, axis_set
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import parsed

AT_ONCE = 2**18
"""Points whose distances are in memory together."""


@dataclass(frozen=True)
class Nearest:
    """The vertex that is nearest to a place: of the nearest point the nearest orientation.

    Args:
        vertex: its index.
        distance: to the point along the base, in the metric's unit of length.
        turn: to the orientation or axis, radians in [0, pi/2]; None where there are none.
    """

    vertex: int
    distance: float
    turn: float | None


def place(spec: GraphSpec, sampling: Sampling, at: str | Sequence[float]) -> tuple[float, ...]:
    """The coordinates of a place, by the manifold's columns, angles in radians.

    Args:
        spec: of the graph.
        sampling: of a level.
        at: "X,Y" or "X,Y,Z" in widths of the domain; on the sphere "LAT,LON" in degrees; where
            there are orientations their angle in degrees after it; where there are axes
            "X,Y,Z,NX,NY,NZ", the axis of any length. Or as many numbers.

    Raises:
        SpecError: there are more or fewer numbers, or they are outside the domain.
    """
    base, fibre = spec.geometry.base, spec.geometry.fibre.columns
    given = at.split(",") if isinstance(at, str) else at
    try:
        numbers = [parsed(number) for number in given]
    except (ValueError, TypeError):
        numbers = []
    known = len(numbers) == base.dimension + len(fibre)
    limits = _limits(sampling)
    within = zip(numbers, limits, strict=False)
    if not known or not all(low <= number <= high for number, (low, high) in within):
        raise SpecError("at", _form(spec, sampling), at)
    if spec.axes is not None:
        length = math.hypot(*numbers[3:])
        if not 0 < length < math.inf:
            raise SpecError("at", _form(spec, sampling), at)
        return (*numbers[:3], *(part / length for part in numbers[3:]))
    first, second, *others = numbers
    angles = [_modulo_pi(math.radians(angle)) for angle in numbers[base.dimension :]]
    if base.flat:
        return first, second, *others[: base.dimension - 2], *angles
    return *angles, math.radians(90 - first), math.radians(second)


def nearest_vertex(spec: GraphSpec, sampling: Sampling, coordinates: Sequence[float]) -> Nearest:
    """The vertex nearest to a place, the first one of those equally near.

    Args:
        spec: of the graph.
        sampling: of a level, with its mask.
        coordinates: as `place` returns them.

    Raises:
        SpecError: the nearest point of the full sampling is outside the mask.
    """
    full = sampling.full if isinstance(sampling, MaskedSampling) else sampling
    point, distance = _nearest_point(spec, full, np.array(coordinates))
    if isinstance(sampling, MaskedSampling):
        number = int(np.searchsorted(sampling.places, point))
        if number == len(sampling.places) or sampling.places[number] != point:
            _, away = _nearest_point(spec, sampling, np.array(coordinates))
            part = "mask" if spec.region is None else "region"
            found = f"a place outside, {away:.3g} {spec.geometry.base.unit} from the nearest point"
            raise SpecError("at", f"inside the {part} of the graph", Found(f"{found} inside"))
        point = number
    if not spec.geometry.oriented:
        return Nearest(point, distance, None)
    if spec.axes is not None:
        tilts = angles_between(np.array([coordinates[3:]]), axis_set(spec.axes).points)[0]
        k = int(tilts.argmin())
        return Nearest(k * sampling.num_points + point, distance, float(tilts[k]))
    angle = coordinates[spec.geometry.columns.index(spec.geometry.fibre.columns[0])]
    samples = spec.geometry.fibre.samples(sampling.orientations)
    turns = [abs(_modulo_pi(angle - sample)) for (sample,) in samples]
    k = int(np.argmin(turns))
    return Nearest(k * sampling.num_points + point, distance, turns[k])


def _nearest_point(spec: GraphSpec, sampling: Sampling, coordinates: Floats) -> tuple[int, float]:
    """The nearest point of the base and its distance."""
    found, least = 0, math.inf
    for start in range(0, sampling.num_points, AT_ONCE):
        stop = min(start + AT_ONCE, sampling.num_points)
        distances = _distances(spec, sampling, sampling.coordinates(start, stop), coordinates)
        first = int(distances.argmin())
        if distances[first] < least:
            found, least = start + first, float(distances[first])
    return found, least


def _distances(spec: GraphSpec, sampling: Sampling, points: Floats, coordinates: Floats) -> Floats:
    """(N,) along the base, from (N, columns) to (columns,)."""
    base = spec.geometry.base
    if not base.flat:
        chords = _unit_vectors(points[:, -2:]) - _unit_vectors(coordinates[None, -2:])
        arcs: Floats = base.distance(np.linalg.norm(chords, axis=1))
        return arcs
    offsets = points[:, : base.dimension] - coordinates[: base.dimension]
    if sampling.periodic and sampling.extent:
        offsets -= np.round(offsets / sampling.extent) * sampling.extent
    lengths: Floats = np.linalg.norm(offsets, axis=1)
    return lengths


def _unit_vectors(angles: Floats) -> Floats:
    """(N, 3) of (N, 2) colatitudes and longitudes."""
    beta, gamma = angles.T
    across = np.sin(beta)
    return np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)


def _limits(sampling: Sampling) -> list[tuple[float, float]]:
    """Least and largest number of each direction of the base, as they are written."""
    if sampling.extent is None:
        return [(-90.0, 90.0), (-180.0, 360.0)]
    return [(0.0, side) for side in sampling.extent]


def _form(spec: GraphSpec, sampling: Sampling) -> str:
    """'X,Y,THETA with X in [0, 1], Y in [0, 1] in widths of the domain, THETA in degrees'."""
    names = ["LAT", "LON"] if sampling.extent is None else ["X", "Y", "Z"][: len(sampling.extent)]
    ranges = [
        f"{name} in [{low:g}, {high:.4g}]"
        for name, (low, high) in zip(names, _limits(sampling), strict=True)
    ]
    unit = "degrees" if sampling.extent is None else "widths of the domain"
    angles = [column.upper() for column in spec.geometry.fibre.columns]
    turned = "".join(f", {angle} in degrees" for angle in angles)
    if spec.axes is not None:
        turned = ", NX,NY,NZ along the axis, not all 0"
    return f"{','.join(names + angles)} with {' and '.join(ranges)} {unit}{turned}"


def _modulo_pi(angle: float) -> float:
    """The angle in [-pi/2, pi/2) that is the same orientation."""
    turned = (angle + math.pi / 2) % math.pi - math.pi / 2
    return turned if turned < math.pi / 2 else -math.pi / 2
