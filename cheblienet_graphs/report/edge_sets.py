"""Reports on graphs that other programs saved: what may be wrong with each set of edges."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from cheblienet_graphs.archives.edge_files import SavedEdges, read_edges
from cheblienet_graphs.errors import aligned
from cheblienet_graphs.report.inspect import Spread

TITLES = (
    *("set", "sources", "targets", "edges", "incoming, min / mean / max"),
    *("length, min / mean / max", "components"),
)


@dataclass(frozen=True)
class EdgeSetReport:
    """A set of edges, measured.

    Args:
        name: of the set.
        sources, targets: numbers of nodes.
        edges: number of edges.
        incoming: smallest, mean and largest number of edges that lead to a target.
        lengths: the same of lengths; None where they are not recorded, or there are no edges.
        components: number of parts that no edge joins.
        isolated_targets: number of targets that no edge leads to.
        isolated_sources: number of sources without an edge.
        double: number of edges that are there already.
        loops: number of edges from a node to itself, within one set of nodes.
        one_way: number of edges without the reversed one; None between two sets of nodes.
    """

    name: str
    sources: int
    targets: int
    edges: int
    incoming: Spread
    lengths: Spread | None
    components: int
    isolated_targets: int
    isolated_sources: int
    double: int
    loops: int
    one_way: int | None


@dataclass(frozen=True)
class SavedGraphReport:
    """A graph that another program saved. str() is a table, and a line for each oddity.

    Args:
        path: of its folder or file.
        components: number of parts that no edge of any set joins.
        sets: of edges.
    """

    path: Path
    components: int
    sets: tuple[EdgeSetReport, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        sets = [asdict(one) for one in self.sets]
        return {"path": str(self.path), "components": self.components, "sets": sets}

    def __str__(self) -> str:
        rows = [TITLES, *map(_row, self.sets)]
        odd = [line for one in self.sets for line in _oddities(one)]
        if self.components > 1:
            odd.append(f"all sets: {self.components:,} components; no message passes between them")
        found = odd or ["nothing odd: no target without edges, no double edges, none of one way"]
        lines = [f"{self.path}", "", *aligned(rows, "<>"), "", *found]
        return "\n".join(
            f"  {line}".rstrip() if number else line for number, line in enumerate(lines)
        )


def inspect_saved(path: Path) -> SavedGraphReport:
    """Examine a folder of neural-lam, or a file of anemoi-graphs.

    Raises:
        InputError: it can't be read, or has another form.
    """
    sets = read_edges(path)
    return SavedGraphReport(path, _components(sets), tuple(map(_measured, sets)))


def _measured(one: SavedEdges) -> EdgeSetReport:
    source, target = one.edges
    within = one.source == one.target
    incoming, outgoing = (
        np.bincount(ends, minlength=count)
        for ends, count in ((target, one.targets), (source, one.sources))
    )
    pairs = np.unique(source * one.targets + target)
    one_way = None
    if within:
        reverse = pairs % one.targets * one.targets + pairs // one.targets
        one_way = int(len(pairs) - np.isin(reverse, pairs).sum())
    return EdgeSetReport(
        one.name,
        one.sources,
        one.targets,
        len(source),
        Spread.of(incoming),
        None if one.lengths is None or not len(source) else Spread.of(one.lengths),
        _components([one]),
        int((incoming == 0).sum()),
        int((outgoing == 0).sum()),
        len(source) - len(pairs),
        int((source == target).sum()) if within else 0,
        one_way,
    )


def _components(sets: Sequence[SavedEdges]) -> int:
    """The number of components of all nodes that sets of edges name."""
    counts = {one.source: one.sources for one in sets} | {one.target: one.targets for one in sets}
    starts = dict(zip(counts, np.cumsum([0, *counts.values()]).tolist(), strict=False))
    ends = [one.edges + np.array([[starts[one.source]], [starts[one.target]]]) for one in sets]
    pairs, total = np.concatenate(ends, axis=1), sum(counts.values())
    matrix = scipy.sparse.coo_array((np.ones(pairs.shape[1]), tuple(pairs)), (total, total))
    return int(connected_components(matrix, directed=False, return_labels=False))


def _row(one: EdgeSetReport) -> tuple[str, ...]:
    each = one.incoming
    incoming = f"{each.min} / {each.mean:.3g} / {each.max}"
    far = one.lengths
    lengths = "-" if far is None else f"{far.min:.3g} / {far.mean:.3g} / {far.max:.3g}"
    counts = [f"{count:,}" for count in (one.sources, one.targets, one.edges)]
    return one.name, *counts, incoming, lengths, f"{one.components:,}"


def _oddities(one: EdgeSetReport) -> Iterator[str]:
    """A line for each fact that may spoil a network."""
    counts = {
        "targets that no edge leads to": one.isolated_targets,
        "sources without an edge": one.isolated_sources,
        "double edges": one.double,
        "edges from a node to itself": one.loops,
        "edges without the reversed one": one.one_way or 0,
    }
    for what, count in counts.items():
        if count:
            yield f"{one.name}: {count:,} {what}"
    if one.one_way is not None and one.components > 1:
        yield f"{one.name}: {one.components:,} components; no message passes between them"
