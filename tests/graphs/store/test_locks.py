"""Locks of folders that come and go."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from cheblienet_graphs.store import durable, layout, refs
from cheblienet_graphs.store.durable import locked_folder
from cheblienet_graphs.store.refs import locked, tidy


def test_lock_of_a_folder_that_was_removed_is_not_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    @contextmanager
    def slow(folder: Path) -> Iterator[int]:
        taken.append(folder)
        with locked_folder(folder) as descriptor:
            if len(taken) < 3:  # whoever had the lock until now removed the folder,
                folder.rmdir()
            if len(taken) == 1:
                folder.mkdir()  # and somebody else made another
            yield descriptor

    monkeypatch.setattr(refs, "locked_folder", slow)
    with locked(tmp_path / "g"):
        assert len(taken) == 3
        with pytest.raises(BlockingIOError), locked_folder(layout.staging_folder(tmp_path / "g")):
            pass
    assert list(tmp_path.iterdir()) == []


def test_only_one_has_the_lock(tmp_path: Path) -> None:
    """Of many who want it at the same time, each removing the folder after use."""
    inside, most = [], []

    def work() -> None:
        for _ in range(20):
            with locked(tmp_path / "g"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    with ThreadPoolExecutor(8) as pool:
        for worker in [pool.submit(work) for _ in range(8)]:
            worker.result()
    assert most == [1] * 160
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_store_excludes_others_while_its_folder_comes_and_goes(
    tmp_path: Path,
) -> None:
    """Threads hold it by descriptors of their own, as processes do."""
    store, folder = tmp_path / "g.zarr", layout.staging_folder(tmp_path / "g.zarr")
    inside, most, failures = [0], [0], []

    def work() -> None:
        try:
            for _ in range(100):
                with locked(store):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    (folder / "file").write_text("x")
                    (folder / "file").unlink()
                    inside[0] -= 1
                tidy(store)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert most == [1]
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
