"""Agreement of a level's arrays with its facts, with each other and with its sampling.

Files may be as their digests say and yet wrong: written so, or changed together with the digests.
`level_fault` goes through a list of checks; each relies on the ones before it.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.errors import CheblienetError, SkippedDamage
from cheblienet_graphs.samplings.given_tables import again_on_poles, coincident, digest_of_points
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.sparse import (
    ENTRIES,
    ROUNDING,
    mapped_product,
    near,
    null_shift,
    row_blocks,
    rows,
)
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spectrum.lanczos import ritz_pairs
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.folder import DOCUMENT
from cheblienet_graphs.store.groups import Fault
from cheblienet_graphs.store.reader import SPECTRUM, LevelFolder
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.verification.optional import eigenpair_faults, gradient_faults

MEAN = 1e-5
"""Largest error of a mean."""
COORDINATE = 1e-12
"""Largest error of a coordinate: radians along the sphere, else in units of itself or 1."""
AREA = 1e-5
"""Largest error of an area, in units of itself or the mean: it is stored in float32, and cells come
from rounded angles."""
UNLIKE = 2.0
"""Ratio of given areas to the cells', or its inverse, from which there is a remark."""
SINGLE = 1e6
"""Ratio of eigenvalues beyond which float32 products lose the smaller one."""
MASKED = 2**24
"""Points of a mask that are hashed together."""
VERTICES = 2**18
"""Vertices that are compared together."""


def level_fault(arrays: LevelFolder) -> Fault | None:
    """The first fault of a level, with its path below the version; None if it has none.

    Raises:
        CheblienetError: the package that computes the sampling is not installed.
    """
    return next(first_faults(_checks(arrays)), None)


def first_faults(checks: Iterable[tuple[str, Iterator[str]]]) -> Iterator[Fault]:
    """The first fault of each of some checks, by where they look; what can't be read is one."""
    for where, faults in checks:
        with SkippedDamage() as damage:
            what = next(faults, None)
        if what := str(damage.error) if damage.error else what:
            yield Fault(where, what)


def _checks(arrays: LevelFolder) -> Iterator[tuple[str, Iterator[str]]]:
    """The checks of a level, by path below the version.

    Only the first of its faults is asked for, so what follows takes for granted that there is none.
    """
    here = f"levels/{arrays.level}"
    for name in arrays.laplacians:
        yield f"{here}/{name}", _laplacian_faults(arrays, name)
    yield DOCUMENT, _count_faults(arrays)
    if arrays.spec.mask is not None:
        cut = arrays.spec.cuts_pixels
        yield f"{here}/base_index", _cut_faults(arrays) if cut else _mask_faults(arrays)
    yield f"{here}/coordinates", _coordinate_faults(arrays)
    yield f"{here}/area", _area_faults(arrays)
    if arrays.spec.gradients:
        yield f"{here}/{layout.GRADIENTS}", gradient_faults(arrays)
    if arrays.spec.eigenpairs is not None:
        yield f"{here}/eigenvectors", eigenpair_faults(arrays)
    for path in arrays.maps:
        yield path, _map_faults(arrays, path)


def _laplacian_faults(arrays: LevelFolder, name: str) -> Iterator[str]:
    """The faults of one of the Laplacians: the metric's, or `directional/rotation`."""
    matrix, direction = arrays.rescaled(name), name.partition("/")[2]
    if not is_symmetric(matrix):
        yield "is not symmetric"
    for end, _ in ritz_pairs(mapped_product(matrix), matrix.shape[0], [0, -1], 1e-5):
        if abs(end) > SPECTRUM:
            yield f"has an eigenvalue {end:.7f} outside [-1, 1]"
    base = arrays.of_level.vertices // arrays.spec.orientations
    part = np.mod if direction == "rotation" else np.floor_divide
    root = np.sqrt(arrays.area if direction else arrays.mass, dtype=np.float64)
    for here, row, block in _blocks(matrix):
        own = block.indices == row
        if int(own.sum()) != here.stop - here.start:
            yield "lacks entries of its diagonal"
        if direction and (part(row, base) != part(block.indices, base)).any():
            yield "has edges along another direction"
        scale = arrays.of_level.lambda_max * arrays.mass[here].astype(np.float64)
        diagonal = (block.data[own] + np.float64(1)) / 2 * scale
        if not direction and not near(diagonal, arrays.degree[here], ROUNDING * scale):
            yield "has another diagonal than its rescaling and the degrees say"
        # Delta maps the roots to 0, and so the rescaled Laplacian to their negatives.
        sums, sizes = (rows_of @ root for rows_of in (block, abs(block)))
        if not near(sums, -root[here], ROUNDING * (sizes + root[here])):
            yield "does not vanish on the square roots of the degrees or areas"


def is_symmetric(matrix: scipy.sparse.csr_array, entries: int = ENTRIES) -> bool:
    """True if each entry has an equal one on the other side of the diagonal.

    Args:
        matrix: columns ascend in each row.
        entries: stored entries that are looked for together, by bisection.
    """
    for _, row, block in _blocks(matrix, entries):
        first, end = (matrix.indptr[block.indices + n].astype(np.int64) for n in (0, 1))
        if (first == end).any():
            return False
        low = first
        high = end - 1
        while (low < high).any():
            middle = (low + high) // 2
            before = matrix.indices[middle] < row
            low = np.where(before, np.minimum(middle + 1, high), low)
            high = np.where(before, high, middle)
        if (matrix.indices[low] != row).any() or (matrix.data[low] != block.data).any():
            return False
    return True


def _count_faults(arrays: LevelFolder) -> Iterator[str]:
    """Facts that are counts of entries of the Laplacian of the metric."""
    facts = arrays.of_level
    isolated = 0
    in_plane = -arrays.of_level.vertices
    base = facts.vertices // arrays.spec.orientations
    for _, row, block in _blocks(arrays.laplacian):
        isolated += int((np.diff(block.indptr) == 1).sum())
        in_plane += int((row // base == block.indices // base).sum())
    counts = {"isolated": isolated, "in_plane_fraction": in_plane / (2 * facts.edges)}
    for name, counted in counts.items():
        if abs(counted - facts[name]) > 1e-9:
            yield f"level {arrays.level} has {name} {facts[name]:.9g}; its array {counted:.9g}"


def _blocks(
    matrix: scipy.sparse.csr_array, entries: int = ENTRIES
) -> Iterator[tuple[slice, Indices, Any]]:
    """Some rows after others: which, the row of each entry, and the rows themselves."""
    for start, stop in row_blocks(matrix.indptr, entries):
        block = rows(matrix, start, stop)
        yield slice(start, stop), np.repeat(np.arange(start, stop), np.diff(block.indptr)), block


def _mask_faults(arrays: LevelFolder) -> Iterator[str]:
    places = arrays.base_index
    if not arrays.level and not fits_mask(arrays.spec, places):
        yield "are not the points inside the mask of the spec's digest"


def fits_mask(spec: GraphSpec, places: npt.NDArray[np.integer] | None) -> bool:
    """True if the finest points are the ones inside the mask of a digest, cut pixels aside."""
    if spec.mask is None or places is None or spec.cuts_pixels:
        return True
    digest = hashlib.sha256()
    points = spec.full_points(0)
    for start in range(0, points, MASKED):
        inside = np.zeros(min(MASKED, points - start), np.uint8)
        first, end = np.searchsorted(places, [start, start + len(inside)])
        inside[places[first:end] - start] = 1
        digest.update(inside.tobytes())
    return digest.hexdigest() == spec.mask.sha256


def _cut_faults(arrays: LevelFolder) -> Iterator[str]:
    """The faults of a domain that cuts pixels: all follows from the parts of these."""
    sampling, stored = arrays.sampling, arrays.filling
    if (filling := sampling.filling) is not None:
        alike = np.array_equal(filling.indptr, stored.indptr)
        alike = alike and np.array_equal(filling.indices, stored.indices)
        if not alike or not np.array_equal(filling.data.astype(np.float32), stored.data):
            yield "are not the points that its filling shows"


def _coordinate_faults(arrays: LevelFolder) -> Iterator[str]:
    """Coordinates follow from the specification; given points must be some that a build takes."""
    # Opened first: they bound the size of the sampling, which facts alone may exaggerate.
    coordinates, sampling = arrays.coordinates, arrays.sampling
    alike = partial(coincide, arrays.spec)
    if not _agree(coordinates, sampling.coordinates, alike):
        yield "are not those of the spec's sampling"
    elif arrays.spec.coordinates is not None:
        yield from given_faults(sampling)
        try:
            _ = _have_cells(arrays.spec) and arrays.cells.areas(0, 1)
        except CheblienetError:
            yield "has points whose Voronoi cells can't be computed"


def given_faults(sampling: Sampling, *, of_map: bool = False) -> Iterator[str]:
    """The faults of given points: they have to be in their domain, and apart.

    Args:
        sampling: of the points.
        of_map: whether rows of points on poles count as one place each.
    """
    points = sampling.base_points
    extent = sampling.extent
    periods = None
    if extent is not None:
        beyond = points >= extent if sampling.periodic else points > extent
        if (points < 0).any() or beyond.any():
            yield "has points outside the domain"
        periods = (extent[0], extent[1]) if sampling.periodic else None
    if of_map and extent is None:
        points = np.delete(points, again_on_poles(points), axis=0)
    if coincident(points, periods):
        yield "has points at the same place"


def _have_cells(spec: GraphSpec) -> bool:
    """True if areas are areas of cells of given points.

    There are no cells beside points outside a mask, which are not stored; a region's sides are.
    """
    given = spec.coordinates
    known = spec.mask is None or spec.clipping is not None
    return given is not None and not given.given_areas and known


def _area_faults(arrays: LevelFolder) -> Iterator[str]:
    area = arrays.area
    mean = float(np.mean(area, dtype=np.float64))
    sampling = arrays.sampling
    of_what = "spec's sampling"
    if _have_cells(arrays.spec):
        sampling = arrays.cells
        of_what = "points' Voronoi cells"
    if abs(mean - 1) > MEAN:
        yield f"must have mean 1; it has {mean:.6g}"
    elif not _agree(area, sampling.areas, partial(_equal, AREA)):
        yield f"are not those of the {of_what}"


def _agree(
    actual: npt.NDArray[Any],
    expected: Callable[[int, int], Floats],
    alike: Callable[[npt.NDArray[Any], Floats], bool],
) -> bool:
    """True if values agree with a sampling's, some vertices after others."""
    return all(
        alike(actual[start : start + VERTICES], expected(start, min(start + VERTICES, len(actual))))
        for start in range(0, len(actual), VERTICES)
    )


def coincide(spec: GraphSpec, actual: Floats, expected: Floats) -> bool:
    """True if coordinates are these up to rounding.

    Longitudes are, where they are a whole turn apart, and where an arc between them is short.
    """
    if spec.geometry.base.flat:
        return _equal(COORDINATE, actual, expected)
    turned = abs(actual[:, -1] - expected[:, -1])
    arc = np.minimum(turned, abs(turned - 2 * np.pi)) * np.sin(expected[:, -2])
    return _equal(COORDINATE, actual[:, :-1], expected[:, :-1]) and bool(
        ((arc <= COORDINATE) & (abs(actual[:, -1]) <= 2 * np.pi)).all()
    )


def _equal(error: float, actual: npt.NDArray[np.floating], expected: Floats) -> bool:
    """True if numbers are equal up to an error, in units of themselves or 1."""
    return near(actual, expected, error * np.maximum(abs(expected), 1))


def _map_faults(arrays: LevelFolder, path: str) -> Iterator[str]:
    """Maps between a level and the next coarser one are the sampling's averages.

    Given points have coarser ones of another table, so their maps are any averages.
    """
    matrix = arrays.averages(path)
    if arrays.spec.coordinates is None:
        down = path.startswith("pooling/")
        of_base = arrays.sampling.pooling() if down else arrays.sampling.unpooling()
        if not _repeats(matrix, of_base):
            yield "is not that of the spec's sampling"


def _repeats(matrix: Csr, of_base: Csr) -> bool:
    """True if a map repeats the points' map for each orientation."""
    count, columns = of_base.shape
    entries = len(of_base.indices)
    if matrix.nnz * count != entries * matrix.shape[0]:
        return False
    blocks = (matrix.block(n, n + count) for n in range(0, matrix.shape[0], count))
    return all(
        np.array_equal(block.indptr, of_base.indptr)
        and np.array_equal(block.indices, of_base.indices + number * columns)
        and _equal(MEAN, block.data, of_base.data)
        for number, block in enumerate(blocks)
    )


def undigested(spec: GraphSpec, coordinates: Iterable[Floats]) -> bool:
    """True if given points of the plane have another digest than the spec's.

    Points of the sphere are digested as degrees, which stored radians give back up to rounding
    only; areas are stored rounded, and points outside a mask not at all.

    Args:
        spec: of the graph, or of a side of a map.
        coordinates: (V, d) of each of its levels, finest first.
    """
    given = spec.coordinates
    if given is None or not _have_cells(spec) or not spec.geometry.base.flat:
        return False
    points = (of[: spec.base_points(level), :2] for level, of in enumerate(coordinates))
    return digest_of_points(points, itertools.repeat(None)) != given.sha256


def stiffness(arrays: LevelFolder) -> str | None:
    """A remark on a Laplacian with first eigenvalues that float32 can't distinguish from 0.

    By the Rayleigh quotients of the points' coordinates, which are no less than the first one that
    is not 0.

    Args:
        arrays: of a level without faults.
    """
    mass, largest = arrays.mass.astype(np.float64), arrays.of_level.lambda_max
    shift = null_shift(arrays.laplacian, np.sqrt(mass))
    product, quotients = mapped_product(arrays.laplacian, shift), []
    for column in arrays.sampling.base_points.T:
        along = np.tile(column, arrays.spec.orientations)
        signal = np.sqrt(mass) * (along - (mass @ along) / mass.sum())
        norm = float(signal @ signal)
        energy = float(signal @ product(signal)) + norm
        quotients.append(energy * largest / 2 / norm if norm else np.inf)
    least = min(quotients)
    if not 0 < least * SINGLE < largest:
        return None
    return (
        f"has its largest eigenvalue {largest / least:.2g} times the first one, which products in "
        "float32 lose; filter and diffuse in float64"
    )


def unlike_cells(arrays: LevelFolder) -> str | None:
    """A remark on given areas that are far from their points' Voronoi cells.

    Args:
        arrays: of a level without faults.

    Returns:
        What is remarkable; None where nothing is, or cells are not known.
    """
    try:
        ratios = arrays.areas_by_cells
    except CheblienetError:
        return "holds given areas of points whose Voronoi cells can't be computed"
    if ratios is None:
        return None
    least, most = float(ratios.min()), float(ratios.max())
    if least >= 1 / UNLIKE and most <= UNLIKE:
        return None
    return f"holds given areas that are {least:.2g} to {most:.2g} times those of Voronoi cells"
