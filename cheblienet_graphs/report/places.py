"""Places on a manifold as people write them, and the vertex that is nearest to one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import Found, SpecError
from cheblienet_graphs.report.moments import periods
from cheblienet_graphs.samplings.axes import angles_between
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec import GraphSpec, fibers
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.values import parsed


@dataclass(frozen=True)
class Nearest:
    """The vertex that is nearest to a place: of the nearest point the nearest orientation.

    Args:
        vertex: its index.
        distance: to the point along the base, in the metric's unit of length.
        turn: to the orientation or axis, radians; None where there are none.
    """

    vertex: int
    distance: float
    turn: float | None


def nearest_vertex(spec: GraphSpec, sampling: Sampling, at: str | Sequence[float]) -> Nearest:
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
    try:
        numbers = [parsed(number) for number in (at.split(",") if isinstance(at, str) else at)]
    except (ValueError, TypeError):
        numbers = []
    base, fiber = spec.geometry.base, spec.geometry.fiber.columns
    limits = zip(numbers, _limits(sampling), strict=False)
    place, sample = np.array(numbers[: base.dimension]), np.array(numbers[base.dimension :])
    length = float(np.linalg.norm(sample)) if spec.axes is not None else 1.0
    if (
        len(numbers) != base.dimension + len(fiber)
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


def _limits(sampling: Sampling) -> list[tuple[float, float]]:
    """Least and largest number of each direction of the base, as they are written."""
    if sampling.extent is None:
        return [(-90.0, 90.0), (-180.0, 360.0)]
    return [(0.0, side) for side in sampling.extent]


def _form(spec: GraphSpec, sampling: Sampling) -> str:
    """'X,Y,THETA with X in [0, 1] and Y in [0, 1] widths of the domain, THETA in degrees'."""
    names = ["LAT", "LON"] if sampling.extent is None else ["X", "Y", "Z"][: len(sampling.extent)]
    ranges = [
        f"{name} in [{low:g}, {high:.4g}]"
        for name, (low, high) in zip(names, _limits(sampling), strict=True)
    ]
    unit = "degrees" if sampling.extent is None else "widths of the domain"
    angles = [column.upper() for column in spec.geometry.fiber.columns]
    turned = "".join(f", {angle} in degrees" for angle in angles)
    if spec.axes is not None:
        turned = ", NX,NY,NZ along the axis, not all 0"
    return f"{','.join(names + angles)} with {' and '.join(ranges)} {unit}{turned}"
