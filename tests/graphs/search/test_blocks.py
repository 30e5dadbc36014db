"""Edges do not depend on guesses, block sizes, or the rows that are read at once."""

import numpy as np
import pytest
from all_pairs import SOME, edges, engine_and_lengths, listed, name

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.search import cloud as clouds
from cheblienet_graphs.search import lists, pruned
from cheblienet_graphs.search.pruned import PrunedSearch


@pytest.mark.parametrize(("fields", "count"), SOME, ids=name)
def test_candidates_grow_from_a_poor_guess(
    fields: dict, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    tried, block = set(), PrunedSearch._block

    def counting(self: PrunedSearch, *arguments: np.ndarray) -> tuple:
        tried.add(arguments[2].shape[1])
        return block(self, *arguments)

    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 2)
    monkeypatch.setattr(PrunedSearch, "_block", counting)
    assert edges(spec) == expected
    assert {2, 4, 8} <= tried


@pytest.mark.parametrize(
    ("module", "constant", "value"),
    [
        (pruned, "MOST_POINTS", 7),
        (lists, "COMPARISONS_AT_ONCE", 5),
        (pruned, "PAIRS_AT_ONCE", {"cpu": 100, "cuda": 100}),
        (clouds, "PAIRS_AT_ONCE", 5),
    ],
)
@pytest.mark.parametrize(("fields", "count"), SOME[1::3], ids=name)
def test_edges_do_not_depend_on_block_sizes(
    fields: dict,
    count: int,
    module: object,
    constant: str,
    value: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    monkeypatch.setattr(module, constant, value)
    assert edges(spec) == expected


@pytest.mark.parametrize("block", [1, 17, 100])
def test_edges_do_not_depend_on_rows_read(block: int) -> None:
    spec = GraphSpec("so3", subdivisions=1)
    engine, lengths = engine_and_lengths(spec)
    whole = listed(engine, lengths, spec.num_vertices)
    assert listed(engine, lengths, spec.num_vertices, block) == whole
