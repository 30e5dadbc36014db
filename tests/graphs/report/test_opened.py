"""What differs between two graphs, as their specifications and stores have it."""

import json
from pathlib import Path

from damage import writable_copy
from stores import store_of

from cheblienet_graphs import GraphSpec, build, compare
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts

KERNEL = GraphSpec("se2", 8, orientations=4, levels=2)
SPECS = {
    "kernel": KERNEL,
    "selling": GraphSpec("se2", 8, orientations=4, levels=1, weights="selling"),
    "plane": GraphSpec("r2", "16x16", levels=1),
    "more": GraphSpec("r2", "16x16", levels=1, neighbors=9),
}


store = store_of(SPECS)


def test_equal_builds_are_identical(store: Path, tmp_path: Path) -> None:
    store = writable_copy(store, tmp_path / "g.zarr")
    build(KERNEL, store, name="kernel", force=True)
    difference = compare(store, "kernel@v001", "kernel@v002")
    assert difference.identical
    assert difference.levels == ({}, {})
    assert str(difference).startswith("kernel@v001 and kernel@v002 are identical: ")
    build(KERNEL, tmp_path / "other.zarr", name="mine")
    other = compare(store, "kernel@v001", "mine", other_store=tmp_path / "other.zarr")
    assert other.identical
    assert other.names == ("kernel@v001", "mine@v001")


def test_the_same_files_of_another_specification(store: Path) -> None:
    """Whole shells have 8 neighbors, whether 8 or 9 are allowed."""
    difference = compare(store, "plane", "more")
    assert not difference.identical
    assert difference.same_files
    assert difference.specification == {"neighbors": (8, 9)}
    assert "have the same digests" in str(difference)


def test_fields_and_facts_that_differ(store: Path) -> None:
    difference = compare(store, "kernel", "selling")
    before, after = (SPECS[name].to_dict() for name in ("kernel", "selling"))
    assert difference.specification == {
        name: (before.get(name), after.get(name))
        for name in before | after
        if before.get(name) != after.get(name)
    }
    (facts,) = difference.levels
    recorded = [
        read_facts(Folder(store / name / "v001")).levels[0] for name in ("kernel", "selling")
    ]
    assert {"edges", "lambda_max", "bandwidth"} <= facts.keys()
    assert "vertices" not in facts
    assert facts == {name: tuple(level[name] for level in recorded) for name in facts}
    lines = [line.split() for line in str(difference).splitlines()]
    assert ["specification:", "bandwidth", "0.2", "none"] in lines
    assert ["level", "0:", "edges", *(str(edges) for edges in facts["edges"])] in lines
    assert json.loads(json.dumps(difference.to_json(), allow_nan=False))["identical"] is False
