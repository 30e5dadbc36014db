"""What verification notices, and what cleaning spares."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import extend, to_fifo, to_link, truncate
from sealing import writable

from cheblienet_graphs import GraphSpec, build, verify
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder
from cheblienet_graphs.store.facts import listing
from cheblienet_graphs.store.verify import clean, leftovers, version_faults
from cheblienet_models import StoreError as ModelsStoreError
from cheblienet_models import open_store

SPEC = GraphSpec("r2", 8)
NAME = "r2-8x8"


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
    version = build(GraphSpec("r2", 4, levels=2), tmp_path, name="g").store / "g/v001"
    assert verify(tmp_path) == []
    files = sorted(path for path in writable(version).rglob("*") if path.is_file())
    assert len(files) > 40
    shutil.copytree(version, untouched := tmp_path / "untouched")
    for path in files:
        change(path)
        assert all(str(fault.where) for fault in version_faults(version))
        assert version_faults(version), path
        with pytest.raises(ModelsStoreError):
            open_store(tmp_path, verify=True)["g"]
        shutil.rmtree(path.parent)
        shutil.copytree(untouched / path.parent.relative_to(version), path.parent)
    assert version_faults(version) == []


def put_attributes(graph: Path, **attributes: object) -> None:
    document = layout.group_document({"clg": attributes})
    (graph / "zarr.json").write_bytes(layout.document_bytes(document))


def test_what_is_wrong_elsewhere_hides_no_version(three: Path) -> None:
    """A folder that is no version, a stray file, a dangling ref, a graph that can't be read."""
    (three / NAME / "v004").mkdir()
    assert build(SPEC, three).version == "v003"
    (three / NAME / "notes.txt").write_text("mine")
    put_attributes(three / NAME, refs={"paper": "v009"})
    build(SPEC, three, name="broken")
    (three / "broken" / "zarr.json").write_text("{")
    assert [(fault.where, fault.what.split()[0]) for fault in verify(three)] == [
        ("broken", str(three / "broken/zarr.json")),
        (NAME, "ref"),
        (f"{NAME}/notes.txt", "does"),
        (f"{NAME}/v004/zarr.json", "is"),
    ]
    assert [(version.name, version.fault is None) for version in listing(three)] == [
        *[(NAME, True)] * 3,
        (NAME, False),
    ]
    assert open_store(three)[f"{NAME}@v003"].version == "v003"


def test_clean_spares_builds_at_work(three: Path) -> None:
    staging = layout.staging_folder(three)
    dead, alive = staging / "dead", staging / "alive"
    (dead / "folder").mkdir(parents=True)
    alive.mkdir()
    (staging / "temporary.json").write_text("{}")
    with locked_folder(alive):
        assert leftovers(three) == [dead, staging / "temporary.json"]
        assert clean(three) == [dead, staging / "temporary.json"]
        assert list(staging.iterdir()) == [alive]
    assert clean(three) == [alive]
    assert not staging.exists()
    assert clean(three) == []


def test_crash_between_the_steps_of_publishing(three: Path) -> None:
    """A killed builder can leave a graph without versions, or a version that no ref names."""
    (three / "new").mkdir()
    put_attributes(three / "new", refs={})
    assert list(open_store(three)) == [NAME]
    assert [version.name for version in listing(three)] == [NAME] * 3
    assert build(SPEC, three, name="new").version == "v001"
    put_attributes(three / NAME, refs={"latest": "v002"})
    assert open_store(three)[NAME].version == layout.resolve(three, NAME).name == "v003"
    assert build(SPEC, three, force=True).version == "v004"
    assert verify(three) == []
