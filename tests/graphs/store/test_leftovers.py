"""What killed builds leave: told from builds at work and from what others own, then deleted."""

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest
from builds import SPECS, interrupted
from outside import HEX

from cheblienet_graphs import GraphSpec, StoreError, build
from cheblienet_graphs.store import layout
from cheblienet_graphs.store import leftovers as module
from cheblienet_graphs.store.durable import locked_folder
from cheblienet_graphs.store.leftovers import clean, leftovers
from cheblienet_graphs.verification.versions import verify

SPEC = GraphSpec("r2", 8)


def test_clean_spares_builds_at_work(three: Path) -> None:
    staging = layout.staging_folder(three)
    dead, alive = staging / HEX[0], staging / HEX[2]
    (dead / "folder").mkdir(parents=True)
    alive.mkdir()
    (staging / f"{HEX[1]}.json").write_text("{}")
    with locked_folder(alive):
        assert leftovers(three) == [dead, staging / f"{HEX[1]}.json"]
        assert clean(three) == [dead, staging / f"{HEX[1]}.json"]
        assert list(staging.iterdir()) == [alive]
    assert clean(three) == [alive]
    assert not staging.exists()
    assert clean(three) == []


def test_leftovers_are_looked_at_under_the_lock_of_the_store(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a build that begins would find its own folder locked by who looks."""
    staging, looked = layout.staging_folder(three), []
    (staging / HEX[0]).mkdir(parents=True)

    def look(folder: int, name: str) -> bool:
        with pytest.raises(BlockingIOError), locked_folder(staging):
            pass
        looked.append(name)
        return is_left(folder, name)

    is_left = module._is_left
    monkeypatch.setattr(module, "_is_left", look)
    assert leftovers(three) == clean(three) == [staging / HEX[0]]
    assert looked == [HEX[0]] * 2


def test_nobody_is_advised_to_delete_what_only_others_may(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staging = layout.staging_folder(three)
    (staging / HEX[0]).mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert leftovers(three) == []


def test_what_goes_while_leftovers_are_listed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Builders at work end between the listing of their folder and the look at what is in it."""
    store = tmp_path / "g.zarr"
    staging = layout.staging_folder(store)
    (staging / HEX[0]).mkdir(parents=True)
    monkeypatch.setattr(os, "listdir", lambda _: [HEX[0], HEX[1], f"{HEX[1]}.json"])
    assert leftovers(store) == [staging / HEX[0]]


def test_what_is_private_or_refused_stops_nothing_else(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders of other users are passed over; what can't be deleted is told after all others."""
    staging = layout.staging_folder(three)
    for name in HEX[:3]:
        (staging / name).mkdir(parents=True)
    opened, discard = os.open, module.discard

    def private(path: str | Path, *given: int, **options: int) -> int:
        if path == HEX[0]:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *given, **options)

    def refused(name: str, within: int) -> None:
        if name == HEX[1]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        discard(name, within)

    monkeypatch.setattr(os, "open", private)
    monkeypatch.setattr(module, "discard", refused)
    assert leftovers(three) == [staging / HEX[1], staging / HEX[2]]
    with pytest.raises(StoreError, match=r"Input/output error\. Not everything was cleaned"):
        clean(three)
    assert sorted(path.name for path in staging.iterdir()) == sorted(HEX[:2])


def test_crafted_leftovers_end_in_one_line(tmp_path: Path) -> None:
    """Folders nested thousandfold, a folder for a document, texts nested as deeply."""
    spec, store = SPECS["lattice"], tmp_path / "g"
    interrupted(spec, store, 9, block_rows=211)
    [left] = leftovers(store)
    staging = left.parent
    (left / "finished/sweep").mkdir()
    (left / "finished/sweep/notes.json").write_text("{}")
    next(left.glob("finished/*/*-*.json")).write_text("[" * 200_000)
    assert build(spec, store, resume=True, block_rows=211).resumed
    (staging / HEX[0] / "build.json").mkdir(parents=True)
    (staging / HEX[1]).mkdir()
    (staging / HEX[1] / "build.json").write_text("[" * 200_000)
    assert not build(spec, store, force=True, resume=True, block_rows=211).resumed
    assert not staging.exists()
    (staging / HEX[2]).mkdir(parents=True)
    deep = os.open(staging / HEX[2], os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("deeper", dir_fd=deep)
        above, deep = deep, os.open("deeper", os.O_RDONLY, dir_fd=deep)
        os.close(above)
    os.close(deep)
    assert build(SPEC, store, name="other", resume=True).built
    with suppress(StoreError):  # later versions of Python delete folders nested as deeply
        clean(store)
    assert verify(store) == []
    for folder in staging.glob("*"):
        while inner := list(folder.glob("deeper/deeper")):
            inner[0].rename(folder / "next")
            (folder / "deeper").rmdir()
            (folder / "next").rename(folder / "deeper")
    clean(store)
    assert not staging.exists()
