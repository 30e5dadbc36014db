"""Reports on published graphs and maps: one object behind the terminal, JSON and the tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.limits import EIGENVALUES, callback, integer
from cheblienet_graphs.measure.opened_graph import OpenedGraph, open_graph
from cheblienet_graphs.report.level import level_report
from cheblienet_graphs.report.text import Report as Report
from cheblienet_graphs.report.version import VersionReport
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.spec.words import domain, map_sentences, percent
from cheblienet_graphs.store import catalog
from cheblienet_graphs.store.map_facts import read_map_facts
from cheblienet_graphs.store.map_reader import MapArrays
from cheblienet_graphs.typing import Progress


def inspect(
    store: str | Path,
    name: str | None = None,
    *,
    eigenvalues: int = 6,
    level: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Examine a published graph; its files are read block by block.

    Memory holds a few vectors of its vertices and, for the median, one number for each edge.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        eigenvalues: number of the smallest to compute for each level, in [0, 1000].
        level: the only level to examine; default all.
        progress: called with the name of a stage, its steps done and the most there may be; 0 and
            0 where steps are not counted.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `level` or `eigenvalues` is out of range.

    Example:
        >>> torus = GraphSpec("r2", 16, boundary="periodic", levels=1)
        >>> build(torus, "graphs.zarr", name="torus").built
        True
        >>> [level] = inspect("graphs.zarr", "torus").levels
        >>> level.consistency, level.components
        ('consistent', 1)
    """
    callback("progress", progress)
    return examined(open_graph(store, name), eigenvalues, level, progress)


def examined(
    graph: OpenedGraph, eigenvalues: int, level: int | None, progress: Progress | None
) -> Report:
    """Examine an opened graph, which then knows what figures of it need, too.

    Args:
        graph: opened.
        eigenvalues: as of `inspect`.
        level: the only one; None for all.
        progress: as of `inspect`.

    Raises:
        StoreError, SpecError: as `inspect`.
    """
    levels = [graph.level(n) for n in (range(graph.spec.levels) if level is None else [level])]
    eigenvalues = integer("eigenvalues", eigenvalues, *EIGENVALUES)
    report_on = progress or (lambda *_: None)
    measured = tuple(level_report(arrays, eigenvalues, report_on) for arrays in levels)
    return Report.of(graph.version, graph.facts, levels=measured)


@dataclass(frozen=True)
class Spread:
    """The least, mean and largest of some numbers."""

    min: float
    mean: float
    max: float

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Spread":
        """The spread of an array with at least one number."""
        least, largest = values.min().item(), values.max().item()
        return cls(least, float(np.mean(values, dtype=np.float64)), largest)


@dataclass(frozen=True, kw_only=True)
class MapReport(VersionReport):
    """A published map: a `VersionReport`, and what was measured. str() is its text.

    Args:
        sources, targets: numbers of vertices.
        entries: of the matrix.
        sources_of_target: how many each target has.
        targets_of_source: how many each source has.
        unused: sources without a target.
        weights: of the entries.
        farthest: the largest distance of an entry.
    """

    spec: MapSpec
    sources: int
    targets: int
    entries: int
    sources_of_target: Spread
    targets_of_source: Spread
    unused: int
    weights: Spread
    farthest: float

    def __str__(self) -> str:
        spec, unit = self.spec, self.spec.source.geometry.base.unit
        each, back = self.sources_of_target, self.targets_of_source
        unused = percent(self.unused / self.sources)
        counts = f"{each.min} to {each.max} sources a target, mean {each.mean:.3g}"
        weights = f"weights {self.weights.min:.3g} to {self.weights.max:.3g}"
        lines = [
            self.title,
            f"  from  {self.sources:,} vertices: {domain(spec.source)}",
            f"  to    {self.targets:,} vertices: {domain(spec.target)}",
            f"  {map_sentences(spec)}",
            f"  {self.entries:,} entries: {counts}; {back.min} to {back.max} targets a source",
            f"  {self.unused:,} sources ({unused}) have no target",
            f"  farthest source {self.farthest:.4g} {unit}; {weights}",
            f"  {self.origin}",
        ]
        return "\n".join(lines)


def inspect_map(store: str | Path, name: str | None = None) -> MapReport:
    """Examine a published map.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store holds nothing else.

    Raises:
        UnknownGraphError: there is none of that name.
        StoreError: it can't be read, or is a graph.
    """
    version = catalog.resolve(store, name)
    facts = read_map_facts(version)
    arrays = MapArrays(version, facts)
    back = np.diff(arrays.transposed.indptr)
    return MapReport.of(
        version,
        facts,
        sources=facts.sizes.sources,
        targets=facts.sizes.targets,
        entries=facts.sizes.nnz,
        sources_of_target=Spread.of(np.diff(arrays.matrix.indptr)),
        targets_of_source=Spread.of(back),
        unused=int((back == 0).sum()),
        weights=Spread.of(arrays.matrix.data),
        farthest=facts.sizes.farthest,
    )
