"""What verification notices, and what cleaning spares."""

from collections.abc import Callable
from pathlib import Path

import pytest
from damage import extend, to_fifo, to_link, truncate

from cheblienet_graphs import GraphSpec, build, verify
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder
from cheblienet_graphs.store.facts import listing
from cheblienet_graphs.store.verify import clean, leftovers, version_faults
from cheblienet_models import StoreError as ModelsStoreError
from cheblienet_models import open_store

SPEC = GraphSpec("r2", 8)
NAME = "r2-8x8"


def test_one_unreadable_version_hides_no_other(three: Path) -> None:
    (three / NAME / "v004").mkdir()
    assert [version.fault is None for version in listing(three)] == [True, True, True, False]
    assert build(SPEC, three).version == "v003"
    assert [fault.where for fault in verify(three)] == [f"{NAME}/v004/zarr.json"]


def flip(path: Path) -> None:
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 1
    path.write_bytes(contents)


CHANGES: list[Callable[[Path], object]] = [
    flip,
    truncate,
    extend,
    lambda path: path.unlink(),
    lambda path: path.rename(path.with_name("other")),
    lambda path: (path.parent / "stray").write_bytes(b""),
    to_link,
    to_fifo,
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_every_file_is_noticed(tmp_path: Path, change: Callable) -> None:
    build(GraphSpec("r2", 4, levels=2), tmp_path / "g.zarr", name="g")
    version = tmp_path / "g.zarr" / "g" / "v001"
    assert verify(tmp_path / "g.zarr") == []
    assert open_store(tmp_path / "g.zarr", verify=True)["g"]
    files = sorted(path for path in version.rglob("*") if path.is_file())
    assert len(files) > 40
    for path in files:
        contents = path.read_bytes()
        path.chmod(0o644)
        others = set(path.parent.iterdir())
        change(path)
        faults = version_faults(version)
        assert faults, path
        assert all(str(fault.where) for fault in faults)
        with pytest.raises(ModelsStoreError):
            open_store(tmp_path / "g.zarr", verify=True)["g"]
        for stray in set(path.parent.iterdir()) - others:
            stray.unlink()
        path.unlink(missing_ok=True)
        path.write_bytes(contents)
    assert verify(tmp_path / "g.zarr") == []


def test_strays_and_dangling_refs_are_noticed(three: Path) -> None:
    (three / NAME / "notes.txt").write_text("mine")
    attributes = layout.read_attributes(three / NAME)
    attributes["refs"]["paper"] = "v009"
    document = layout.group_document({"clg": attributes})
    (three / NAME / "zarr.json").write_bytes(layout.document_bytes(document))
    assert sorted(fault.what for fault in verify(three)) == [
        "does not belong in a graph",
        "ref 'paper' names v009, not there",
    ]


def test_unreadable_groups_hide_nothing_else(three: Path) -> None:
    build(SPEC, three, name="broken")
    (three / "broken" / "zarr.json").write_text("{")
    assert {version.name for version in listing(three)} == {NAME}
    assert open_store(three)[NAME].version == "v003"
    (fault,) = verify(three)
    assert fault.where == "broken"


def test_clean_spares_builds_at_work(three: Path) -> None:
    staging = layout.staging_folder(three)
    dead, alive = staging / "dead", staging / "alive"
    dead.mkdir(parents=True)
    (dead / "file").write_text("x")
    alive.mkdir()
    (staging / "temporary.json").write_text("{}")
    with locked_folder(alive):
        assert leftovers(three) == [dead, staging / "temporary.json"]
        assert clean(three) == [dead, staging / "temporary.json"]
        assert list(staging.iterdir()) == [alive]
    assert clean(three) == [alive]
    assert not staging.exists()
    assert clean(three) == []
    assert verify(three) == []


@pytest.mark.parametrize("stage", ["graph", "published"])
def test_crash_between_the_steps_of_publishing(three: Path, stage: str) -> None:
    """A killed builder can leave a graph without versions, or a version that no ref names."""
    if stage == "graph":
        (three / "new").mkdir()
        document = layout.group_document({"clg": {"refs": {}}})
        (three / "new" / "zarr.json").write_bytes(layout.document_bytes(document))
        assert list(open_store(three)) == [NAME]
        assert [version.name for version in listing(three)] == [NAME] * 3
        assert build(SPEC, three, name="new").version == "v001"
    else:
        document = layout.group_document({"clg": {"refs": {"latest": "v002"}}})
        (three / NAME / "zarr.json").write_bytes(layout.document_bytes(document))
        assert open_store(three)[NAME].version == "v003"
        assert layout.resolve(three, NAME).name == "v003"
        assert build(SPEC, three, force=True).version == "v004"
    assert verify(three) == []
