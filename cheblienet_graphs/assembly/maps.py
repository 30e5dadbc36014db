"""From the specification of a map to a published version, in this process and in memory."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.versions import (
    PublishedMap,
    compared_by_name,
    newest_equal,
    recorded,
)
from cheblienet_graphs.errors import SpecError, Unquoted, quoted
from cheblienet_graphs.limits import callback, flag
from cheblienet_graphs.samplings.icosphere import mesh_edges
from cheblienet_graphs.samplings.masked import centers
from cheblienet_graphs.search.nearest_sources import Crossing
from cheblienet_graphs.search.positions import PlacedPoints, lengths
from cheblienet_graphs.spec.map_spec import MapSpec, averages, side_sampling
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import MapSizes, read_map_facts
from cheblienet_graphs.store.publishing import check_graph
from cheblienet_graphs.store.staged import csr_nbytes
from cheblienet_graphs.store.writer import Staging
from cheblienet_graphs.typing import Floats, Indices, Progress

Entries = tuple[Indices, Indices, Floats]
"""Row pointers, columns, and d^2 of entries."""


def build_map(
    spec: MapSpec,
    store: str | Path = "graphs.zarr",
    *,
    name: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> PublishedMap:
    """Build a map between two samplings and publish it as the next version of its name.

    Where this spec is already published by this version of the package, nothing is done. Bytes
    depend on the spec alone, on one machine, with the same versions of the libraries. A build takes
    one process, which holds all entries in memory.

    Args:
        spec: what to build.
        store: where, beside graphs; made if need be.
        name: of the map; default `spec.default_name`.
        force: build a new version even if an equal one is there.
        progress: called as the work proceeds.

    Returns:
        The version.

    Warns:
        OtherGraphWarning: the name stands for another map than this one, or stood for another
            before.

    Raises:
        TypeError: spec is no MapSpec.
        SpecError: a radius leaves targets without sources, or the specification was read back and
            does not know its masks or given points.
        StoreError: the store can't be written, or holds something else of that name.

    Example:
        >>> fine, coarse = GraphSpec("s2", nside=8), GraphSpec("s2", nside=4)
        >>> down = build_map(MapSpec(fine, coarse, neighbors=4), "graphs.zarr").open()
        >>> (down @ torch.ones(1, 1, 768)).shape
        torch.Size([1, 1, 192])
    """
    if not isinstance(spec, MapSpec):
        raise TypeError(f"spec must be a MapSpec. Got {quoted(spec)}.")
    flag("force", force)
    callback("progress", progress)
    store = layout.store_path(store)
    name = layout.check_name(spec.default_name if name is None else name)
    check_graph(store, name, is_map=True)
    find = None if force else partial(newest_equal, spec, store, name)
    if find and (version := find()):
        sizes = read_map_facts(Folder(store) / name / version).sizes
        return compared_by_name(PublishedMap(store, name, version, built=False, sizes=sizes), spec)
    sides = {side: side_sampling(of) for side, of in spec.sides.items()}
    coordinates = {side: centers(sampling) for side, sampling in sides.items()}
    placed = spec.source.geometry, spec.metric, spec.periods
    source, target = (PlacedPoints.at(*placed, coordinates[side]) for side in layout.SIDES)
    indptr, columns, squared = _entries(spec, source, target, progress or (lambda *_: None))
    sharing = source.sharing(columns)
    weights = averages(spec.weights, squared, indptr, spec.bandwidth, sharing)
    matrix = scipy.sparse.csr_array((weights.astype(np.float32), columns, indptr), spec.shape)
    grids = tuple(spec.target.grid(0)), tuple(spec.source.grid(0))
    sizes = MapSizes(*spec.shape, *grids, matrix.nnz, math.sqrt(float(squared.max())))
    with Staging(store, name, _nbytes(spec, matrix, coordinates)) as staging:
        _write(staging, spec, matrix, coordinates)
        version = staging.publish(recorded(spec) | {layout.MAP: sizes.to_dict()}, find)
    built = staging.published is not None  # or another process was faster
    return compared_by_name(PublishedMap(store, name, version, built=built, sizes=sizes), spec)


def _entries(
    spec: MapSpec, source: PlacedPoints, target: PlacedPoints, progress: Progress
) -> Entries:
    """The sources of all targets, and d^2 to them.

    Raises:
        SpecError: a target has none within the radius.
    """
    targets = len(target)
    if spec.scales is not None and spec.source.subdivisions is not None:
        rows, columns = mesh_edges(spec.source.subdivisions, spec.scales)
        counts = np.bincount(rows, minlength=targets)
        squared = lengths(source.cloud(), target.cloud(), rows, columns)
        return np.append(0, np.cumsum(counts)), columns, squared
    own = source.at_own_places()
    if spec.neighbors is not None and spec.neighbors > len(own):
        found = Unquoted(f"{spec.neighbors}, with {len(source):,} sources")
        raise SpecError("neighbors", f"at most {len(own)}, as many as there are places", found)
    blocks = []
    progress("sources of targets", 0, targets)
    for block, there in Crossing(own, target, spec.neighbors, spec.radius).blocks():
        blocks.append((np.diff(block.indptr), block.columns, there))
        progress("sources of targets", block.stop, targets)
    counts, columns, squared = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return source.with_all(np.append(0, np.cumsum(counts)), columns, squared)


def _nbytes(spec: MapSpec, matrix: scipy.sparse.csr_array, coordinates: dict[str, Floats]) -> int:
    """Disk space that a map takes."""
    nbytes = sum(csr_nbytes(shape, matrix.nnz) for shape in (spec.shape, spec.shape[::-1]))
    return nbytes + sum(values.nbytes for values in coordinates.values())


def _write(
    staging: Staging,
    spec: MapSpec,
    matrix: scipy.sparse.csr_array,
    coordinates: dict[str, Floats],
) -> None:
    """Stage the arrays of a map."""
    for path, part in ((layout.MAP, matrix), (layout.TRANSPOSED, matrix.T.tocsr())):
        part.sort_indices()
        csr = staging.csr(path, part.shape, part.nnz)
        for array in ("data", "indices", "indptr"):
            staging.fill(getattr(csr, array), getattr(part, array))
    for side, graph in spec.sides.items():
        points = coordinates[side]
        columns = graph.geometry.columns
        path = f"{side}/coordinates"
        staging.fill(staging.dense(path, points.shape, "float64", columns), points)
        if graph.mask is not None:
            staging.places(side, graph.mask.on_level(0), graph.full_points(0))
