"""Edges do not depend on guesses, block sizes, or the rows that are read at once."""

from collections.abc import Callable

import numpy as np
import pytest
from all_pairs import SOME, edges, engine_and_lengths, listed, name

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.search import cloud as clouds
from cheblienet_graphs.search import lists, pruned
from cheblienet_graphs.search.pruned import PrunedSearch


def blocks_called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of candidates that searches try from now on."""
    tried: list[int] = []
    block = PrunedSearch._block

    def counting(
        self: PrunedSearch, points: np.ndarray, own: slice, images: np.ndarray, *rest: object
    ) -> tuple:
        tried.append(images.shape[1])
        return block(self, points, own, images, *rest)

    monkeypatch.setattr(PrunedSearch, "_block", counting)
    return tried


@pytest.mark.parametrize(("fields", "count"), SOME, ids=name)
def test_candidates_grow_from_a_poor_guess(
    fields: dict, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 2)
    tried = blocks_called(monkeypatch)
    assert edges(spec) == expected
    assert {2, 4, 8} <= set(tried)


def halved(module: object, constant: str, value: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, constant, value)


@pytest.mark.parametrize(
    "change",
    [
        halved(pruned, "MOST_POINTS", 7),
        halved(lists, "COMPARISONS_AT_ONCE", 5),
        halved(pruned, "PAIRS_AT_ONCE", {"cpu": 100, "cuda": 100}),
        halved(clouds, "PAIRS_AT_ONCE", 5),
        halved(clouds, "PAIRS_AT_ONCE", 2**30),
    ],
    ids=["points", "rows", "pairs", "edge by edge", "images together"],
)
@pytest.mark.parametrize(("fields", "count"), SOME[1::3], ids=name)
def test_edges_do_not_depend_on_block_sizes(
    fields: dict, count: int, change: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    change(monkeypatch)
    assert edges(spec) == expected


@pytest.mark.parametrize("block", [1, 17, 100])
def test_edges_do_not_depend_on_rows_read(block: int) -> None:
    spec = GraphSpec("so3", subdivisions=1)
    engine, lengths = engine_and_lengths(spec)
    whole = listed(engine, lengths, spec.num_vertices)
    assert listed(engine, lengths, spec.num_vertices, block) == whole
