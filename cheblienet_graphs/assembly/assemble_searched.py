"""The sweeps that make a level whose neighbours are searched for or listed, in their order."""

from cheblienet_graphs.assembly.driver import Assembled, Driver
from cheblienet_graphs.assembly.rescaling import Rescaling
from cheblienet_graphs.assembly.searched_rows import LISTED, SearchedRows
from cheblienet_graphs.assembly.searched_sweeps import (
    Columns,
    Counts,
    Degrees,
    Lists,
    Values,
    WholeLengths,
)
from cheblienet_graphs.sparse.sums import rounded
from cheblienet_graphs.spectrum.bound import SpectralBound
from cheblienet_graphs.store.records import Result
from cheblienet_graphs.store.staged import Writer
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.voronoi import voronoi_entries

Entries = tuple[Indices, Indices, Floats]
"""Rows, columns and weights of both directions of edges."""


def assemble_searched(driver: Driver) -> Assembled:
    """Do all sweeps of a level whose neighbours are searched for or listed.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
    """
    job, rows = driver.job, driver.kept.of(SearchedRows, driver.job)
    vertices, searched = job.num_vertices, job.spec.weights != "voronoi"
    rings = _searched(driver, rows) if searched else 0
    listed: Result = {"bandwidth": None, "dropped_edges": 0}
    if rows.weights_listed:
        key = job.key(job.spec.weights, rings=rings)
        listed = driver.once(key, lambda: _listed(driver, rows, rings))
    driver.scratch("counts", (vertices,), "int64")
    counted = driver.sweep(Counts(job, rings), rows.level.degree_bound)
    nnz = sum(result["entries"] for result in counted)
    if nnz == vertices and searched and rows.nearest(rings).total_degree == 0:
        raise rows.level.neighbours.too_few()
    driver.check_edges((nnz - vertices) // 2)
    driver.reserve(nnz)
    driver.write_row_pointers()
    found = driver.sweep(Columns(job, rings), nnz)
    mean = None
    if not rows.weights_listed:
        measured, entries = found, nnz - vertices
        if job.spec.mask is not None:  # weights are those of the whole sampling
            measured = driver.sweep(WholeLengths(job, rings), nnz)
            entries = sum(result["entries"] for result in measured)
        mean = rounded(sum(result["squared_lengths"] for result in measured)) / entries
    bound = _weighed(driver, rings, mean, nnz)
    return Assembled(
        edges=(nnz - vertices) // 2,
        nnz=nnz,
        in_plane=sum(result["in_plane"] for result in found),
        isolated=sum(result["isolated"] for result in counted),
        bandwidth=listed["bandwidth"] if mean is None else rows.weights(rings, mean).bandwidth,
        dropped_edges=listed["dropped_edges"],
        bound=bound,
    )


def _searched(driver: Driver, rows: SearchedRows) -> int:
    """List the nearest vertices of each; the rings of images that this took."""
    # It needs torch, which edges of Voronoi cells do without.
    from cheblienet_graphs.neighbours.search import list_type

    job, neighbors = driver.job, driver.job.spec.searched_neighbors
    vertices = job.spec.orientations * job.spec.full_points(job.number)
    rings = 1 if rows.level.full.periodic else 0
    while True:
        shape = (vertices, neighbors)
        driver.scratch(f"lists{rings}", shape, list_type(vertices))
        listed = driver.sweep(Lists(job, rings), vertices * neighbors)
        farthest = max(result["farthest"] for result in listed)
        if rows.lists(rings).complete(farthest):
            return rings
        rings = rows.lists(rings).next_rings(farthest)


def _listed(driver: Driver, rows: SearchedRows, rings: int) -> Result:
    """List the edges inside with their weights, in one piece."""
    level = rows.level
    bandwidth, dropped_edges = None, 0
    if level.spec.weights == "voronoi":
        driver.progress(f"level {level.number}: finding Voronoi cells", 0, 0)
        entries = voronoi_entries(level.full, level.number)
    else:
        entries, dropped, bandwidth = _matched(driver, rows, rings)
        if level.inside is not None:
            dropped = level.inside.edges(*dropped)[:2]
        dropped_edges = len(dropped[0]) // 2
    if level.inside is not None:
        *ends, kept = level.inside.edges(*entries[:2])
        entries = *ends, entries[2][kept]
    with Writer() as out:
        for (name, dtype), values in zip(LISTED.items(), entries, strict=True):
            out.write(driver.scratch(f"listed-{name}", values.shape, dtype), 0, values)
    return {"bandwidth": bandwidth, "dropped_edges": dropped_edges}


def _matched(
    driver: Driver, rows: SearchedRows, rings: int
) -> tuple[Entries, tuple[Indices, Indices], float | None]:
    """Solve for matched weights, all edges together; those left out, and the bandwidth."""
    # It needs torch, which edges of Voronoi cells do without.
    from cheblienet_graphs.weights.scattered import matched_edges

    level, nearest = rows.level, rows.nearest(rings)
    if nearest.total_degree == 0:
        raise level.neighbours.too_few()
    shown = f"level {level.number}: matching weights to the metric"
    driver.progress(shown, 0, nearest.total_degree)
    found = matched_edges(level.spec, level.sampled(), nearest, rows.lengths(rings))
    return found.entries, found.dropped, found.bandwidth


def _weighed(driver: Driver, rings: int, mean: float | None, nnz: int) -> SpectralBound:
    """Weigh the edges and write the rescaled Laplacian; the bound of its spectrum."""
    job = driver.job
    for name in ("degree", "inverse-root-mass"):
        driver.scratch(name, (job.num_vertices,), "float64")
    weighed = driver.sweep(Degrees(job, rings, mean), nnz)
    driver.check_degrees(sum(result["vanished"] for result in weighed))
    limit = max(result["largest"] for result in weighed)
    bound = driver.given_bound(limit)
    driver.sweep(Values(job, rings, mean, None if bound is None else bound.value), nnz)
    if bound is None:
        bound = driver.computed_bound(limit)
        driver.sweep(Rescaling(job, bound.value), nnz)
    return bound
