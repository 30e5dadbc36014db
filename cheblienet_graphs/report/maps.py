"""The report on a published map between samplings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.report.opened import VersionReport
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.spec.words import domain, map_sentences, percent
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.map_arrays import MapArrays
from cheblienet_graphs.store.map_facts import read_map_facts


@dataclass(frozen=True)
class Spread:
    """The least, mean and largest of some numbers."""

    min: float
    mean: float
    max: float

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Spread":
        """That of an array with at least one number."""
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
    version = layout.resolve(store, name)
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
