"""The staging folder: its lock and turns, which come and go."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from outside import state

from cheblienet_graphs import GraphSpec, StoreError, build, open_or_build
from cheblienet_graphs.store import durable, layout, refs, staging_folder
from cheblienet_graphs.store.leftovers import clean
from cheblienet_graphs.store.staging_folder import exclusively, locked, tidy

SPEC = GraphSpec("r2", 8)
NAME = "r2-8x8"


def test_no_wait_is_for_ever(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that is not given back ends in one line, and nothing is changed."""
    for name in ("LONGEST_LOCK", "LONGEST_TURN"):
        monkeypatch.setattr(staging_folder, name, 0.0)
    with locked(three):
        before = state(three)
        for command in (
            lambda: refs.tag(three, NAME, "paper"),
            lambda: refs.remove(three, f"{NAME}@v001"),
            lambda: build(SPEC, three, force=True),
            lambda: clean(three),
        ):
            with pytest.raises(StoreError, match=r"Waited 0 s for the lock of .*End that process"):
                command()
        assert state(three) == before
    other = GraphSpec("r2", 12, levels=1)
    with (
        exclusively(three, f"opening-{other.sha256[:32]}"),
        pytest.raises(StoreError, match=r"Waited 0 s for another process, which builds the same"),
    ):
        open_or_build(other, three)
    assert [path.name for path in three.parent.iterdir()] == ["g.zarr"]
    assert state(three) == before


def test_a_long_wait_is_told_once(
    three: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(staging_folder, "SILENT", 0.0)
    sleeps: list[float] = []
    with ExitStack() as held:

        def sleep(seconds: float) -> None:
            sleeps.append(seconds)
            if len(sleeps) == 3:
                held.close()

        held.enter_context(locked(three))
        monkeypatch.setattr(staging_folder.time, "sleep", sleep)
        assert refs.tag(three, NAME, "paper").name == "v003"
    folder = layout.staging_folder(three)
    told = f"Waiting for the lock of {folder}, which another process holds.\n"
    assert capsys.readouterr().err == told
    assert len(sleeps) == 3


def test_the_lock_of_a_store_excludes_others_while_its_folder_comes_and_goes(
    tmp_path: Path,
) -> None:
    """Threads hold it by descriptors of their own, as processes do."""
    store, folder = tmp_path / "g.zarr", layout.staging_folder(tmp_path / "g.zarr")
    inside, most = [], []

    def work() -> None:
        for _ in range(50):
            with locked(store):
                inside.append(1)
                most.append(len(inside))
                (folder / "file").write_text("x")
                (folder / "file").unlink()
                inside.pop()
            tidy(store)

    with ThreadPoolExecutor(8) as pool:
        for worker in [pool.submit(work) for _ in range(8)]:
            worker.result()
    assert most == [1] * 400
    assert not folder.exists()


def test_who_tidies_leaves_the_folder_of_another_that_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would lock the folder that went, and remove the one whose lock another holds."""
    folder = layout.staging_folder(tmp_path / "g.zarr")
    folder.mkdir()
    flock = durable.fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        folder.rename(tmp_path / "gone")
        folder.mkdir()
        flock(descriptor, operation)

    monkeypatch.setattr(durable.fcntl, "flock", late)
    tidy(tmp_path / "g.zarr")
    assert folder.exists()


def test_who_waited_for_a_folder_that_went_makes_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder goes between opening and locking it, and another takes its place."""
    folder = layout.staging_folder(tmp_path / "g.zarr")
    flock, waits = durable.fcntl.flock, []

    def late(descriptor: int, operation: int) -> None:
        if len(waits) < 2:
            folder.rename(tmp_path / f"gone{len(waits)}")
            if not waits:
                folder.mkdir()
        waits.append(descriptor)
        flock(descriptor, operation)

    monkeypatch.setattr(durable.fcntl, "flock", late)
    with locked(tmp_path / "g.zarr"):
        assert os.path.samestat(os.fstat(waits[-1]), folder.stat())
    assert len(waits) == 3
    assert not folder.exists()


def test_the_folder_of_a_turn_goes_while_another_looks_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its holder removes it without the store's lock, here just before the other opens it."""
    store = tmp_path / "g.zarr"
    turn, end, opened = threading.Event(), threading.Event(), os.open

    def first() -> None:
        with exclusively(store, "turn"):
            turn.set()
            end.wait()

    holder = threading.Thread(target=first)

    def late(path: str | Path, *arguments: int, **options: int) -> int:
        if Path(path).name == "turn" and not end.is_set() and turn.is_set():
            end.set()
            while (layout.staging_folder(store) / "turn").exists():
                pass
        return opened(path, *arguments, **options)

    holder.start()
    turn.wait()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", late)
        with exclusively(store, "turn"):
            assert (layout.staging_folder(store) / "turn").is_dir()
    holder.join()
    assert not layout.staging_folder(store).exists()
