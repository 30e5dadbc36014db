"""The difference between two published graphs: fields of the specification, facts of levels."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import aligned, one_line
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.spec import words

WIDEST = 40
"""Most characters of a value in the text."""
Pairs = dict[str, tuple[Any, Any]]
"""Values in each graph by name, where they differ; None where one has none."""


@dataclass(frozen=True)
class Difference:
    """Two published graphs, compared. str() is the text for a terminal.

    Args:
        names: NAME@VERSION of each.
        same_files: whether all files have the same digests, as recorded.
        specification: the fields that differ.
        generators: name and version of the packages that built them.
        num_levels: of each.
        levels: the facts that differ, of each level that both have, finest first.
    """

    names: tuple[str, str]
    same_files: bool
    specification: Pairs
    generators: tuple[str, str]
    num_levels: tuple[int, int]
    levels: tuple[Pairs, ...]

    @property
    def identical(self) -> bool:
        """True if files and specifications are the same, whenever and wherever they were built."""
        return self.same_files and not self.specification

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON types."""
        return {"identical": self.identical} | asdict(self)

    def __str__(self) -> str:
        """A line where both are identical; else a table."""
        a, b = self.names
        if self.identical:
            return f"{a} and {b} are identical: the same specification and digests of all files"
        files = {"files": ("all files", "have the same digests")} if self.same_files else {}
        built_by = _different({"built by": self.generators[0]}, {"built by": self.generators[1]})
        rows = [["", *self.names], *_rows("specification", self.specification)]
        for number, facts in enumerate(self.levels):
            rows += _rows(f"level {number}", facts)
        return "\n".join(aligned([*rows, *_rows("graph", built_by | files)], "<"))


def compare(
    store: str | Path, first: str, second: str, *, other_store: str | Path | None = None
) -> Difference:
    """Compare two published graphs by what is recorded of them; no matrix is read.

    Args:
        store: path of the store.
        first: NAME, NAME@v001 or NAME@REF.
        second: the other graph, in the same form.
        other_store: path of the second one's store; default the same.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.

    Example:
        >>> first = build(GraphSpec("r2", 8, levels=1), "graphs.zarr", name="a")
        >>> second = build(GraphSpec("r2", 8, levels=1, weights="selling"), "graphs.zarr", name="b")
        >>> compare("graphs.zarr", "a", "b").specification["weights"]
        ('kernel', 'selling')
    """
    graph = open_graph(store, first)
    other = open_graph(store if other_store is None else other_store, second)
    a, b = graph.facts, other.facts
    return Difference(
        (graph.name, other.name),
        a.files == b.files,
        _different(a.spec.to_dict(), b.spec.to_dict()),
        (" ".join(a.generator.values()), " ".join(b.generator.values())),
        (a.spec.levels, b.spec.levels),
        tuple(
            _different(dict(_flat(x.to_dict())), dict(_flat(y.to_dict())))
            for x, y in zip(a.levels, b.levels, strict=False)
        ),
    )


def _flat(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values; a name in an inner mapping becomes a path, 'outer.inner'."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _different(a: Mapping[str, Any], b: Mapping[str, Any]) -> Pairs:
    """The values that differ, in the order of the first one's."""
    return {name: (a.get(name), b.get(name)) for name in {**a, **b} if a.get(name) != b.get(name)}


def _rows(title: str, pairs: Pairs) -> list[list[str]]:
    return [
        [f"{title}: {name}", *(one_line(words.shown(value), WIDEST) for value in pair)]
        for name, pair in pairs.items()
    ]
