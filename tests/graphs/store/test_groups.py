"""Consolidated metadata: accepted where they are true, named where not, dropped by changes."""

import json
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarr
from damage import edit
from outside import NAME, OTHER, SPEC

from cheblienet_cli.main import run
from cheblienet_graphs import StoreError, build, verify
from cheblienet_graphs.store import refs
from cheblienet_graphs.store.layout import COPIES
from cheblienet_models import open_store


def consolidate(group: Path) -> None:
    """Do as the documentation of zarr says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are no part of the specification
        zarr.consolidate_metadata(group)


def copies(group: Path) -> dict[str, Any] | None:
    return json.loads((group / "zarr.json").read_bytes()).get(COPIES)


@pytest.mark.parametrize("where", [".", NAME, f"{NAME}/v003"])
def test_true_copies_are_accepted(three: Path, where: str) -> None:
    """In the store and in a graph; the document of a version is never written again."""
    consolidate(three / where)
    assert copies(three / where)
    assert open_store(three)[NAME].version == "v003"
    assert run(["ls", "--store", str(three)]) == 0
    if where.endswith("v003"):
        [fault] = verify(three)
        assert fault.what == "holds more or other text than was published"
        with pytest.raises(StoreError, match="more or other text than was published"):
            open_store(three, verify=True).get(NAME)
    else:
        assert verify(three) == []
        assert open_store(three, verify=True)[NAME].version == "v003"
    assert not build(SPEC, three).built


def forge(path: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def forged(store: Path) -> None:
        edit(store / "zarr.json", lambda d: change(d[COPIES]["metadata"][f"{NAME}/{path}"]))

    return forged


def in_copies(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda store: edit(store / "zarr.json", lambda d: change(d[COPIES]["metadata"]))


def in_copies_of(**fields: object) -> Callable[[Path], None]:
    return lambda store: edit(store / "zarr.json", lambda d: d[COPIES].update(fields))


AREA = "v003/levels/0/area"
FORGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "type": (forge(AREA, lambda d: d.update(data_type="int32")), f"disagree with '{NAME}/{AREA}'"),
    "shape": (forge(AREA, lambda d: d.update(shape=[32])), f"disagree with '{NAME}/{AREA}'"),
    "kind": (forge(AREA, lambda d: d["shape"].insert(0, True)), "disagree"),
    "attributes": (forge("v001", lambda d: d.update(attributes={})), f"with '{NAME}/v001'"),
    "refs": (forge(["v001", ".."][0], lambda d: d.pop("attributes")), "disagree"),
    "more": (in_copies(lambda d: d.update(more=d[f"{NAME}/v001"])), "disagree with 'more'"),
    "outside": (in_copies(lambda d: d.update({"../x": d[NAME]})), "disagree with '../x'"),
    "less": (in_copies(lambda d: d.pop(f"{NAME}/{AREA}")), f"lack '{NAME}/{AREA}'"),
    "no version": (in_copies(lambda d: d.pop(f"{NAME}/v001")), f"lack '{NAME}/v001'"),
    "none": (lambda s: edit(s / "zarr.json", lambda d: d.update({COPIES: None})), ""),
    "list": (lambda s: edit(s / "zarr.json", lambda d: d.update({COPIES: []})), "another form"),
    "text": (in_copies(lambda d: d.update({NAME: "x"})), f"disagree with '{NAME}'"),
    "other": (in_copies_of(kind="other"), "another form than zarr's"),
    "must": (in_copies_of(must_understand=True), "another form than zarr's"),
    "more fields": (in_copies_of(x=1), "another form than zarr's"),
    "nested": (forge("v001", lambda d: d[COPIES]["metadata"].update(x={})), "'r2-8x8/v001'"),
    "stale": (lambda s: shutil.rmtree(s / f"{NAME}/v002"), f"disagree with '{NAME}/v002"),
}


@pytest.mark.parametrize("name", FORGED)
def test_copies_that_are_not_true_are_named(three: Path, name: str) -> None:
    """By verifying and by `open_store(verify=True)`; without that they are not looked at."""
    change, message = FORGED[name]
    consolidate(three)
    change(three)
    assert open_store(three)[NAME].version == "v003"
    faults = verify(three)
    assert [fault.where for fault in faults] == ["zarr.json"] * bool(message)
    assert not message or message in faults[0].what
    if message:
        with pytest.raises(StoreError, match=COPIES):
            open_store(three, verify=True).get(NAME)


@pytest.mark.parametrize(
    "change",
    [
        lambda store: build(OTHER, store),
        lambda store: build(SPEC, store, force=True),
        lambda store: refs.tag(store, NAME, "paper"),
        lambda store: refs.untag(store, NAME, "kept"),
        lambda store: refs.remove(store, f"{NAME}@v001"),
        lambda store: refs.prune(store, NAME, 1, force=True),
    ],
)
def test_changes_drop_copies(tagged: Path, change: Callable[[Path], object]) -> None:
    """Else zarr would not see what was added, and look for what is gone."""
    for group in (tagged / NAME, tagged):
        consolidate(group)
    change(tagged)
    assert copies(tagged) is None
    assert verify(tagged) == []
    consolidate(tagged)
    assert verify(tagged) == []


def test_what_no_change_touches_keeps_them(three: Path) -> None:
    """A graph whose own document is as it was, and groups of other programs."""
    theirs = zarr.create_group(three / "theirs", attributes={"a": 1})
    theirs.create_array("b c", shape=(2,), dtype="f4")
    (three / "my group").mkdir()
    (three / "my group/zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    build(OTHER, three, name="other")
    consolidate(three / NAME)
    before = (three / NAME / "zarr.json").read_bytes()
    refs.tag(three, "other", "paper")
    assert (three / NAME / "zarr.json").read_bytes() == before
    consolidate(three)
    assert {"theirs/b c", "my group"} < (copies(three) or {})["metadata"].keys()
    assert verify(three) == []


def test_a_fault_of_a_graph_is_told_in_one_sentence(three: Path) -> None:
    document = three / NAME / "zarr.json"
    edit(document, lambda known: known["attributes"]["clg"]["refs"].update(x=5))
    told = f"{document} has refs of another form than ours."
    with pytest.raises(StoreError, match=rf"^{re.escape(told)}$"):
        open_store(three, verify=True).get(NAME)
