"""The sampling of a published level, and whether its coordinates and areas are the sampling's."""

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.samplings.given_tables import PointArrays, coincident
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Floats

COORDINATE = 1e-12
"""Largest error of a coordinate: radians along the sphere, else in units of itself or 1."""
AREA = 1e-5
"""Largest error of an area, in units of itself or the mean: it is stored in float32, and cells are
those of angles that are rounded."""
UNLIKE = 2.0
"""Given areas that are more times those of the cells, or as many times less, are remarked on."""
VERTICES = 2**18
"""Vertices that are compared together."""


def sampling_of(arrays: LevelArrays) -> Sampling:
    """The sampling of a level, those of its points that are inside where it has a mask.

    Given points come from its coordinates and areas: they are those of the build up to rounding, as
    areas are stored in float32, and points of the sphere as angles.

    Raises:
        StoreError: an array can't be read, or isn't of the shape that the facts imply.
    """
    spec, level = arrays.facts.spec, arrays.level
    if spec.coordinates is not None:
        area = arrays.area[: spec.base_points(level)].astype(np.float64)
        return _given(arrays, area / area.mean())
    full, places = spec.full_sampling(level), arrays.base_index
    return full if places is None else MaskedSampling(full, places)


def misplaced(arrays: LevelArrays) -> Iterator[tuple[str, str]]:
    """(array, fault) where coordinates or areas of a level are not those of its sampling.

    They follow from the specification. Given points do not: these must be apart, in their domain,
    the same over each orientation, and have the areas of their Voronoi cells unless areas were
    given, too.

    Raises:
        StoreError: an array can't be read, or isn't of the shape that the facts imply.
        CheblienetError: the package that computes the sampling is not installed.
    """
    # Opened first: they bound the size of the sampling, which facts alone may exaggerate.
    coordinates, area = arrays.coordinates, arrays.area
    spec, sampling = arrays.facts.spec, sampling_of(arrays)
    if not all(
        _coincide(spec, coordinates[block], sampling.coordinates(block.start, block.stop))
        for block in _blocks(sampling)
    ):
        yield "coordinates", "are not those of the spec's sampling"
    elif spec.coordinates is not None:
        yield from _given_faults(arrays, sampling)
    elif not _has_areas(area, sampling):
        yield "area", "are not those of the spec's sampling"


def _given_faults(arrays: LevelArrays, sampling: Sampling) -> Iterator[tuple[str, str]]:
    """What is wrong with given points that are the same over each orientation."""
    points, extent = sampling.base_points, sampling.extent
    periods = None
    if extent is not None:
        beyond = points >= extent if sampling.periodic else points > extent
        if (points < 0).any() or beyond.any():
            yield "coordinates", "has points outside the domain"
            return
        periods = (extent[0], extent[1]) if sampling.periodic else None
    if coincident(points, periods):
        yield "coordinates", "has points at the same place"
        return
    spec = arrays.facts.spec
    if spec.coordinates is None or spec.coordinates.areas == "given" or spec.mask is not None:
        return  # there are no cells beside points outside a mask, which are not stored
    try:
        alike = _has_areas(arrays.area, _given(arrays, None))
    except CheblienetError:
        yield "coordinates", "has points whose Voronoi cells can't be computed"
        return
    if not alike:
        yield "area", "are not those of the points' Voronoi cells"


def undigested(levels: Sequence[LevelArrays]) -> bool:
    """Whether given points of the plane have another digest than the spec's.

    Those of the sphere are digested as degrees, which stored radians give back up to rounding only;
    areas are stored rounded, and points outside a mask not at all.

    Args:
        levels: all of them, finest first.
    """
    spec = levels[0].facts.spec
    given = spec.coordinates
    if given is None or given.areas == "given" or spec.mask or not spec.geometry.base.flat:
        return False
    digest = hashlib.sha256()
    for number, arrays in enumerate(levels):
        points = arrays.coordinates[: spec.base_points(number), :2]
        digest.update(np.ascontiguousarray(points, "<f8").tobytes())
    return digest.hexdigest() != given.sha256


def unlike_cells(arrays: LevelArrays) -> str | None:
    """A remark on given areas that are far from those of their points' Voronoi cells.

    Args:
        arrays: of a level where nothing is `misplaced`.

    Returns:
        What is remarkable; None where nothing is, or cells are not known.
    """
    spec = arrays.facts.spec
    if spec.coordinates is None or spec.coordinates.areas != "given" or spec.mask is not None:
        return None
    points = spec.base_points(arrays.level)
    try:
        cells = _given(arrays, None).areas(0, points)
    except CheblienetError:
        return "holds given areas of points whose Voronoi cells can't be computed"
    ratios = arrays.area[:points] / cells
    least, most = float(ratios.min()), float(ratios.max())
    if least >= 1 / UNLIKE and most <= UNLIKE:
        return None
    return f"holds given areas that are {least:.2g} to {most:.2g} times those of Voronoi cells"


def _given(arrays: LevelArrays, areas: Floats | None) -> Sampling:
    """Given points; without those outside a mask, which are not stored.

    Args:
        arrays: of the level.
        areas: (points,) in units of their mean; None for those of Voronoi cells.
    """
    spec, level = arrays.facts.spec, arrays.level
    base = arrays.coordinates[: spec.base_points(level)]
    if spec.geometry.base.flat:
        points = np.array(base[:, :2])
    else:
        beta, gamma = base[:, -2:].T
        across = np.sin(beta)
        points = np.stack([across * np.cos(gamma), across * np.sin(gamma), np.cos(beta)], axis=1)
    return spec.with_points({level: PointArrays(points, areas)}).full_sampling(level)


def _has_areas(area: npt.NDArray[np.float32], sampling: Sampling) -> bool:
    return all(
        _equal(area[block], sampling.areas(block.start, block.stop), AREA)
        for block in _blocks(sampling)
    )


def _blocks(sampling: Sampling) -> Iterator[slice]:
    for start in range(0, sampling.num_vertices, VERTICES):
        yield slice(start, min(start + VERTICES, sampling.num_vertices))


def _coincide(spec: GraphSpec, actual: Floats, expected: Floats) -> bool:
    """Whether coordinates are these up to rounding.

    Longitudes are, where they are a whole turn apart, and where an arc between them is short.
    """
    if spec.geometry.base.flat:
        return _equal(actual, expected, COORDINATE)
    turned = abs(actual[:, -1] - expected[:, -1])
    arc = np.minimum(turned, abs(turned - 2 * np.pi)) * np.sin(expected[:, -2])
    return (
        _equal(actual[:, :-1], expected[:, :-1], COORDINATE)
        and bool((arc <= COORDINATE).all())
        and bool((abs(actual[:, -1]) <= 2 * np.pi).all())
    )


def _equal(actual: npt.NDArray[np.floating], expected: Floats, error: float) -> bool:
    """Whether numbers are equal up to an error, in units of themselves or 1."""
    return bool((abs(actual - expected) <= error * np.maximum(abs(expected), 1)).all())
