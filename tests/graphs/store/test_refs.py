"""Refs, removal and concurrency."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, StoreError, UnknownGraphError, build, verify
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.listing import listing
from cheblienet_graphs.store.refs import remove, tag, untag
from cheblienet_graphs.store.verify import leftovers
from cheblienet_models import StoreError as ModelsStoreError
from cheblienet_models import open_store

SPEC = GraphSpec("r2", 8)
NAME = "r2-8x8"


def test_tags(three: Path) -> None:
    tag(three, f"{NAME}@v001", "paper")
    assert open_store(three)[f"{NAME}@paper"].version == "v001"
    assert layout.resolve(three, f"{NAME}@paper").name == "v001"
    tag(three, NAME, "paper")
    assert layout.refs(three / NAME) == {"latest": "v003", "paper": "v003"}
    build(SPEC, three, force=True)
    assert layout.refs(three / NAME) == {"latest": "v004", "paper": "v003"}
    assert listing(three)[2].refs == ("paper",)
    untag(three, NAME, "paper")
    assert layout.refs(three / NAME) == {"latest": "v004"}
    with pytest.raises(UnknownGraphError, match="no ref 'paper'"):
        untag(three, NAME, "paper")


@pytest.mark.parametrize("ref", ["latest", "v001", "v5", "", "a/b", "..", "x@y", "é"])
def test_refs_that_can_not_be(three: Path, ref: str) -> None:
    with pytest.raises(UnknownGraphError, match="ref must be"):
        tag(three, NAME, ref)


def test_removal(three: Path) -> None:
    tag(three, f"{NAME}@v002", "paper")
    with pytest.raises(StoreError, match="named paper; `force=True`"):
        remove(three, f"{NAME}@v002")
    with pytest.raises(UnknownGraphError, match="Say which version"):
        remove(three, NAME)
    with pytest.raises(UnknownGraphError, match="No graph 'nothing'"):
        remove(three, "nothing")
    remove(three, f"{NAME}@latest")
    assert layout.versions(three / NAME) == ["v001", "v002"]
    assert open_store(three)[NAME].version == "v002"
    assert build(SPEC, three, force=True).version == "v004"  # numbers are not given again
    remove(three, f"{NAME}@v002", force=True)
    assert layout.refs(three / NAME) == {"latest": "v004"}
    remove(three, f"{NAME}@v001")
    remove(three, f"{NAME}@v004")
    assert list(open_store(three)) == []
    assert listing(three) == []
    assert verify(three) == []
    assert leftovers(three) == []
    assert build(SPEC, three).version == "v005"


@pytest.mark.parametrize("operation", ["write", "fsync", "replace", "rename"])
def test_refused_removal_changes_nothing(
    three: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    tag(three, f"{NAME}@v002", "paper")
    with monkeypatch.context() as patch:

        def refuse(*_: object, **__: object) -> None:
            raise OSError(5, "Input/output error")

        patch.setattr(os, operation, refuse)
        with pytest.raises(StoreError, match="Nothing was changed"):
            remove(three, f"{NAME}@v002", force=True)
    assert layout.refs(three / NAME) == {"latest": "v003", "paper": "v002"}
    assert layout.versions(three / NAME) == ["v001", "v002", "v003"]
    remove(three, f"{NAME}@v002", force=True)
    assert verify(three) == []


def test_tags_survive_concurrent_builds_and_removals(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    names = ["a", "b"]
    for name in names:
        build(SPEC, store, name=name)

    def work(number: int) -> str:
        name = names[number % 2]
        version = build(SPEC, store, name=name, force=True).version
        tag(store, f"{name}@{version}", f"tag{number}")
        doomed = build(SPEC, store, name=name, force=True).version
        remove(store, f"{name}@{doomed}")
        return version

    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(work, range(8)))
    for number, version in enumerate(kept):
        assert layout.refs(store / names[number % 2])[f"tag{number}"] == version
    for parity in (0, 1):
        assert len(set(kept[parity::2])) == 4
        versions = layout.versions(store / names[parity])
        assert sorted(versions) == sorted(["v001", *kept[parity::2]])
    assert verify(store) == []


@pytest.mark.slow
def test_readers_keep_what_is_removed(three: Path) -> None:
    pyramid = open_store(three)[f"{NAME}@v001"]
    expected = pyramid.levels[0].values.numpy().copy()
    stop, failures = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                opened = open_store(three)[NAME]
                assert opened.levels[0].laplacian.to_dense().isfinite().all()
            except ModelsStoreError as error:  # between listing and opening it may go
                if "can't be read" not in str(error) and "There:" not in str(error):
                    failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(5):
        build(SPEC, three, force=True)
        remove(three, f"{NAME}@latest")
    remove(three, f"{NAME}@v001")
    stop.set()
    reader.join()
    assert failures == []
    assert np.array_equal(pyramid.levels[0].values.numpy(), expected)
