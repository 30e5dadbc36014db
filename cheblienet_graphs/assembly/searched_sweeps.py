"""The sweeps that make a level whose neighbours are searched for."""

from typing import Any

from cheblienet_graphs.assembly.blocks import rows_of
from cheblienet_graphs.assembly.driver import Assembled, Driver
from cheblienet_graphs.assembly.searched_rows import MATCHED, PARTS, SearchedRows
from cheblienet_graphs.neighbours.cloud import PairLengths
from cheblienet_graphs.neighbours.search import list_type
from cheblienet_graphs.sparse.sums import rounded
from cheblienet_graphs.store.records import Result
from cheblienet_graphs.store.staged import Writer


def assemble_searched(driver: Driver) -> Assembled:
    """Do all sweeps of a level whose neighbours are searched for.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
    """
    rows, level = rows_of(driver.job), driver.job.level
    if not isinstance(rows, SearchedRows):
        raise TypeError("these rows are written by stencils")
    vertices, neighbors = level.num_vertices, driver.job.spec.neighbors
    rings = 1 if level.sampling.periodic else 0
    while True:
        driver.scratch(f"lists{rings}", (vertices, neighbors), list_type(vertices))
        listed = driver.sweep(
            "lists", level.sampling.num_points, vertices * neighbors, parts=PARTS, rings=rings
        )
        farthest = max(result["farthest"] for result in listed)
        if rows.lists(rings).complete(farthest):
            break
        rings = rows.lists(rings).next_rings(farthest)
    matched: Result = {"bandwidth": None, "dropped_edges": 0}
    if rows.matched_together:
        matched = driver.once("matched", lambda: _match(driver, rows, rings), rings=rings)
    driver.scratch("counts", (vertices,), "int64")
    counted = driver.sweep("counts", vertices, vertices * neighbors, rings=rings)
    nnz = sum(result["entries"] for result in counted)
    if nnz == vertices:
        raise level.too_few()
    driver.reserve(nnz)
    driver.write_row_pointers()
    found = driver.sweep("columns", vertices, nnz, rings=rings)
    squared = sum(result["squared_lengths"] for result in found)
    mean = rounded(squared) / (nnz - vertices) if squared else None
    given: dict[str, Any] = {"rings": rings, "mean": mean}
    for name in ("degree", "inverse-root-mass"):
        driver.scratch(name, (vertices,), "float64")
    weighed = driver.sweep("degrees", vertices, nnz, **given)
    driver.check_degrees(sum(result["vanished"] for result in weighed))
    limit = max(result["largest"] for result in weighed)
    bound = driver.given_bound(limit)
    driver.sweep("values", vertices, nnz, **given, lambda_max=bound and bound.value)
    if bound is None:
        bound = driver.computed_bound(limit)
        driver.sweep("rescaling", vertices, nnz, lambda_max=bound.value)
    weights = rows.weights(rings, mean)
    return Assembled(
        edges=(nnz - vertices) // 2,
        nnz=nnz,
        in_plane=sum(result["in_plane"] for result in found),
        isolated=sum(result["isolated"] for result in counted),
        bandwidth=matched["bandwidth"] if rows.matched_together else weights.bandwidth,
        dropped_edges=matched["dropped_edges"],
        bound=bound,
    )


def _match(driver: Driver, rows: SearchedRows, rings: int) -> Result:
    """Solve for matched weights, all edges together, and list them."""
    level, nearest = driver.job.level, rows.nearest(rings)
    if nearest.total_degree == 0:
        raise level.too_few()
    found = level.matched(nearest, PairLengths(rows.lists(rings).cloud))
    with Writer() as out:
        for (name, dtype), values in zip(MATCHED.items(), found.entries, strict=True):
            out.write(driver.scratch(f"matched-{name}", values.shape, dtype), 0, values)
    return {"bandwidth": found.bandwidth, "dropped_edges": found.dropped_edges}
