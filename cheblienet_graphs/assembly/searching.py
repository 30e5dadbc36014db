"""What is known of a level before its rows, where neighbours are searched for or edges listed."""

from dataclasses import replace

from cheblienet_graphs.assembly.building import Build
from cheblienet_graphs.assembly.level import LISTED, Level
from cheblienet_graphs.assembly.searched_rows import SearchedRows
from cheblienet_graphs.assembly.sweeps import Lists, Measured
from cheblienet_graphs.sparse import rounded
from cheblienet_graphs.store.records import Result
from cheblienet_graphs.typing import Floats, Indices

Edges = tuple[Indices, Indices, Floats]
"""Rows, columns and weights of both directions of edges."""


def searched(build: Build, level: Level) -> tuple[Level, Result | None]:
    """Find the edges of a level: search for them, then measure them or list them with weights.

    Returns:
        The level as far as it is known then; bandwidth and dropped edges where edges are listed.

    Raises:
        SpecError: there are none, or no such weights.
    """
    if level.spec.weights != "voronoi":
        level = _with_lists(build, level)
    if level.weights_listed:
        key = level.key(level.spec.weights)
        return level, build.once(level, key, lambda: _listed(build, level))
    vertices, neighbors = level.full_vertices, level.spec.searched_neighbors
    measured = build.sweep(Measured(level), vertices * neighbors)
    entries = sum(result["entries"] for result in measured)
    if not entries:
        raise level.neighbours.too_few()
    mean = rounded(sum(result["squared_lengths"] for result in measured)) / entries
    return replace(level, mean=mean), None


def _with_lists(build: Build, level: Level) -> Level:
    """The level with the rings of images that its lists of nearest vertices take."""
    # It needs torch, which edges of Voronoi cells do without.
    from cheblienet_graphs.neighbours.search import list_type

    shape = (level.full_vertices, level.spec.searched_neighbors)
    level = replace(level, rings=1 if level.full.periodic else 0)
    while True:
        build.scratch(level, level.lists_name, shape, list_type(shape[0]))
        listed = build.sweep(Lists(level), shape[0] * shape[1])
        farthest = max(result["farthest"] for result in listed)
        lists = build.kept.of(SearchedRows, level).lists
        if lists.complete(farthest):
            return level
        level = replace(level, rings=lists.next_rings(farthest))


def _listed(build: Build, level: Level) -> Result:
    """List the edges inside with their weights, in one piece."""
    bandwidth, dropped_edges = None, 0
    if level.spec.weights == "voronoi":
        # Neither this nor matching is quick to import.
        from cheblienet_graphs.weights.voronoi import voronoi_entries

        build.show(level, "finding Voronoi cells")
        edges = voronoi_entries(level.full, level.number)
    else:
        edges, dropped, bandwidth = _matched(build, level)
        if level.inside is not None:
            dropped = level.inside.edges(*dropped)[:2]
        dropped_edges = len(dropped[0]) // 2
    if level.inside is not None:
        *ends, kept = level.inside.edges(*edges[:2])
        edges = *ends, edges[2][kept]
    for (name, dtype), values in zip(LISTED.items(), edges, strict=True):
        build.write(build.scratch(level, name, values.shape, dtype), values, durable=True)
    return {"bandwidth": bandwidth, "dropped_edges": dropped_edges}


def _matched(build: Build, level: Level) -> tuple[Edges, tuple[Indices, Indices], float | None]:
    """Solve for matched weights, all edges together; those left out, and the bandwidth."""
    from cheblienet_graphs.weights.scattered import matched_edges

    rows = build.kept.of(SearchedRows, level)
    if rows.nearest.total_degree == 0:
        raise level.neighbours.too_few()
    build.show(level, "matching weights to the metric", 0, rows.nearest.total_degree)
    found = matched_edges(level.spec, level.sampled(), rows.nearest, rows.lengths)
    return found.entries, found.dropped, found.bandwidth
