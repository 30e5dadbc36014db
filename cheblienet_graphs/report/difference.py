"""What differs between two published graphs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.limits import EIGENVALUES
from cheblienet_graphs.report import diagnostics
from cheblienet_graphs.report.first_eigenvalues import first_eigenvalues
from cheblienet_graphs.report.shared_edges import SharedEdges, shared_edges
from cheblienet_graphs.sparse.rows import ENTRIES
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import VersionFacts, read_facts
from cheblienet_graphs.store.reader import LevelArrays, weights_of
from cheblienet_graphs.store.sampled import sampling_of
from cheblienet_graphs.typing import Floats, Progress
from cheblienet_graphs.values import Number, callback, integer

SAME_PLACE = 1e-9
"""Difference of coordinates up to which vertices are the same ones."""


@dataclass(frozen=True)
class LevelDifference:
    """Two graphs' levels of the same number; pairs are of the first graph and of the second.

    Args:
        level: 0 is the finest.
        vertices: V of each.
        edges: of each, undirected.
        not_compared: why their edges are not compared, as the vertices are not the same; else None.
        shared: what the edges have in common; None where they are not compared.
        areas: the largest relative difference of the vertices' areas, of the larger one; None where
            they are not compared.
        eigenvalues: the smallest of each, ascending.
        of_operator: whether they are scaled to estimate those of the metric's operator, as they are
            where both scales are recorded; else they are Delta's.
    """

    level: int
    vertices: tuple[int, int]
    edges: tuple[int, int]
    not_compared: str | None
    shared: SharedEdges | None
    areas: float | None
    eigenvalues: tuple[list[float], list[float]]
    of_operator: bool


@dataclass(frozen=True)
class Difference:
    """Two published graphs, compared.

    Args:
        names: NAME@VERSION of each.
        same_files: whether all files have the same digests, as recorded; then `levels` is empty.
        specification: field -> its value in each, for those that differ; None where one has none.
        generators: name and version of the packages that built them.
        num_levels: of each.
        levels: those that both have, finest first.
    """

    names: tuple[str, str]
    same_files: bool
    specification: dict[str, tuple[Any, Any]]
    generators: tuple[str, str]
    num_levels: tuple[int, int]
    levels: tuple[LevelDifference, ...]

    @property
    def identical(self) -> bool:
        """Whether files and specifications are the same, whenever and wherever they were built."""
        return self.same_files and not self.specification

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types."""
        return {"identical": self.identical} | asdict(self)


def compare(
    store: str | Path,
    first: str,
    second: str,
    *,
    other_store: str | Path | None = None,
    eigenvalues: Number = 6,
    entries: int = ENTRIES,
    progress: Progress | None = None,
) -> Difference:
    """Compare two published graphs. Files are read block by block; memory holds a few vectors.

    Args:
        store: path of the store.
        first: NAME, NAME@v001 or NAME@REF.
        second: the same of the other one.
        other_store: path of the second one's store; default the same.
        eigenvalues: number of the smallest to compute for each level, in [0, 1000].
        entries: stored entries of a block of rows.
        progress: as of `inspect`.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `eigenvalues` is out of range.
    """
    count = integer("eigenvalues", eigenvalues, *EIGENVALUES)
    callback("progress", progress)
    stores = (store, store if other_store is None else other_store)
    versions = [
        layout.resolve(layout.store_path(path), name)
        for path, name in zip(stores, (first, second), strict=True)
    ]
    a, b = (read_facts(version) for version in versions)
    same_files = a.files == b.files
    compared = range(0 if same_files else min(a.spec.levels, b.spec.levels))

    def step(what: str, done: int = 0, total: int = 0) -> None:
        if progress is not None:
            progress(what, done, total)

    def of_level(level: int) -> LevelDifference:
        pair = LevelArrays(versions[0], a, level), LevelArrays(versions[1], b, level)
        return _of_level(pair, count, entries, step)

    return Difference(
        (_name(versions[0]), _name(versions[1])),
        same_files,
        _specification(a, b),
        (_generator(a), _generator(b)),
        (a.spec.levels, b.spec.levels),
        tuple(map(of_level, compared)),
    )


def _name(version: Path) -> str:
    return f"{version.parent.name}@{version.name}"


def _generator(facts: VersionFacts) -> str:
    return f"{facts.generator.get('name')} {facts.generator.get('version')}"


def _specification(a: VersionFacts, b: VersionFacts) -> dict[str, tuple[Any, Any]]:
    """The fields that differ, in the order of the first one's."""
    first, second = a.spec.to_dict(), b.spec.to_dict()
    fields = first | second
    return {
        field: (first.get(field), second.get(field))
        for field in fields
        if first.get(field) != second.get(field)
    }


def _of_level(
    pair: tuple[LevelArrays, LevelArrays], count: int, entries: int, step: Progress
) -> LevelDifference:
    a, b = pair
    level = a.level
    step(f"level {level}: vertices", 0, 0)
    other, shared, areas = _other_vertices(a, b), None, None
    if other is None:
        step(f"level {level}: edges", 0, 0)
        shared = shared_edges(weights_of(a), weights_of(b), entries=entries)
        areas = _largest_difference(a, b)
    scales = [arrays.of_level.eigenvalue_scale for arrays in pair]
    of_operator = None not in scales
    first, second = (
        _eigenvalues(arrays, count, step) * (scale if of_operator and scale else 1.0)
        for arrays, scale in zip(pair, scales, strict=True)
    )
    return LevelDifference(
        level,
        (a.of_level.vertices, b.of_level.vertices),
        (a.of_level.edges, b.of_level.edges),
        other,
        shared,
        areas,
        (first.tolist(), second.tolist()),
        of_operator,
    )


def _other_vertices(a: LevelArrays, b: LevelArrays) -> str | None:
    """Why vertices of the same number are not the same; None where they are."""
    if a.facts.spec.manifold != b.facts.spec.manifold:
        return "other manifolds"
    if a.of_level.vertices != b.of_level.vertices:
        return "other numbers of vertices"
    for start in range(0, a.of_level.vertices, ENTRIES):
        block = slice(start, start + ENTRIES)
        if (abs(a.coordinates[block] - b.coordinates[block]) > SAME_PLACE).any():
            return "vertices at other places"
    return None


def _largest_difference(a: LevelArrays, b: LevelArrays) -> float:
    """Of the areas, relative to the larger one."""
    largest = 0.0
    for start in range(0, a.of_level.vertices, ENTRIES):
        block = slice(start, start + ENTRIES)
        first, second = (np.asarray(x.area[block], np.float64) for x in (a, b))
        largest = max(largest, float((abs(first - second) / np.maximum(first, second)).max()))
    return largest


def _eigenvalues(arrays: LevelArrays, count: int, step: Progress) -> Floats:
    """The smallest of Delta, as many as are asked for, or as there are."""
    if not count:
        return np.empty(0)

    def report(what: str, done: int = 0, total: int = 0) -> None:
        step(f"level {arrays.level}: {what}", done, total)

    report("components")
    components = diagnostics.components(arrays.laplacian)
    few = min(count, arrays.of_level.vertices)
    report("eigenvalues")
    return first_eigenvalues(arrays, few, components, sampling_of(arrays), report).values
