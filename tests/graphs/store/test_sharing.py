"""A store in a folder that a group shares: members build, tag and remove beside each other."""

import errno
import os
import re
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from outside import HEX, NAME, OTHER, SPEC

from cheblienet_graphs import StoreError, build, verify
from cheblienet_graphs.store import durable, layout, refs
from cheblienet_graphs.store.leftovers import clean, leftovers
from cheblienet_graphs.store.staging_folder import locked
from cheblienet_models import open_store

FIRST, SECOND, GROUP = 50_001, 50_002, 50_100
"""Numbers of users and of their group, which need no names."""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be other users")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with setgid that its group may write in, where other users may come."""
    with tempfile.TemporaryDirectory() as folder:
        above = Path(folder)
        above.chmod(0o711)
        if not all(path.stat().st_mode & stat.S_IXOTH for path in above.resolve().parents):
            pytest.skip("others may not enter the folder of temporary files")
        shared = above / "shared"
        shared.mkdir()
        if os.geteuid() == 0:
            os.chown(shared, 0, GROUP)
        shared.chmod(0o2770)
        yield shared


def done_by(user: int, umask: int, work: Callable[[], object], group: int = GROUP) -> str:
    """What a call returns or raises that a process of another user makes."""
    read, write = os.pipe()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # those of a pool are not in the child
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other threads, since Python 3.12
        child = os.fork()
    if child == 0:
        os.setgroups([group])
        os.setgid(user)
        os.setuid(user)
        os.umask(umask)
        try:
            told = repr(work())
        except Exception as error:  # noqa: BLE001 -- whatever it is
            told = f"{type(error).__name__}: {error}"
        os.write(write, told.encode())
        os._exit(0)
    torch.set_num_threads(threads)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def modes(store: Path) -> tuple[set[int], set[int]]:
    """Those of folders and of files, setgid left out."""
    paths = [store, *store.rglob("*")]
    folders, files = (
        {stat.S_IMODE(path.stat().st_mode) & 0o777 for path in paths if kind(path)}
        for kind in (Path.is_dir, Path.is_file)
    )
    return folders, files


@pytest.mark.parametrize("umask", [0o002, 0o022, 0o027, 0o077])
def test_new_folders_have_the_rights_of_the_group(place: Path, umask: int) -> None:
    store, before = place / "g.zarr", os.umask(umask)
    try:
        build(SPEC, store)
        refs.tag(store, NAME, "paper")
        with locked(store) as staging:
            staged = stat.S_IMODE(os.fstat(staging).st_mode)
    finally:
        os.umask(before)
    folders, files = modes(store)
    assert {mode & 0o770 for mode in folders} == {0o770}
    assert {mode & 0o440 for mode in files} == {0o440}
    assert not any(mode & 0o022 for mode in files)
    assert staged & 0o1770 == 0o1770


def test_without_setgid_the_umask_alone_decides(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir(mode=0o775)
    before = os.umask(0o077)
    try:
        build(SPEC, tmp_path / "place/g.zarr")
    finally:
        os.umask(before)
    folders, files = modes(tmp_path / "place/g.zarr")
    assert folders == {0o700}
    assert files == {0o444, 0o600}


@needs_root
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_members_work_beside_each_other(place: Path, umask: int) -> None:
    store = place / "g.zarr"
    build(SPEC, place.parent / "warm.zarr")  # loads what the others may not be allowed to read

    def killed() -> None:
        with locked(store) as staging:
            os.mkdir(HEX[0], 0o700, dir_fd=staging)
            os.close(os.open(f"{HEX[1]}.json", os.O_CREAT, dir_fd=staging))

    def swapped() -> None:
        (layout.staging_folder(store) / HEX[0]).rename(layout.staging_folder(store) / HEX[2])

    steps: list[tuple[int, Callable[[], object], str]] = [
        (FIRST, lambda: build(SPEC, store).version, "'v001'"),
        (SECOND, lambda: open_store(store, verify=True)[NAME].version, "'v001'"),
        (SECOND, lambda: build(OTHER, store).version, "'v001'"),
        (SECOND, lambda: build(SPEC, store, force=True).version, "'v002'"),
        (FIRST, lambda: refs.tag(store, NAME, "paper").name, "'v002'"),
        (SECOND, lambda: refs.untag(store, NAME, "paper"), "None"),
        (SECOND, lambda: refs.remove(store, f"{NAME}@v001").versions, "('v001',)"),
        (FIRST, lambda: refs.remove(store, f"{NAME}@v002").versions, "('v002',)"),
        (FIRST, lambda: verify(store), "[]"),
        (FIRST, lambda: os.listdir(place), "['g.zarr']"),
        (FIRST, killed, "None"),
        (SECOND, swapped, "PermissionError: [Errno 1] Operation not permitted"),
        (SECOND, lambda: build(SPEC, store).version, "'v003'"),
        (SECOND, lambda: (leftovers(store), clean(store)), "([], [])"),
        (FIRST, lambda: refs.remove(store, f"{NAME}@v003").versions, "('v003',)"),
        (FIRST, lambda: len(clean(store)), "2"),
        (FIRST, lambda: os.listdir(place), "['g.zarr']"),
    ]
    for number, (user, work, expected) in enumerate(steps):
        assert done_by(user, umask, work).startswith(expected), number
    assert verify(store) == []


@needs_root
def test_who_may_not_write_is_told_what_is_missing(place: Path) -> None:
    store = place / "g.zarr"
    build(SPEC, place.parent / "warm.zarr")
    assert done_by(FIRST, 0o022, lambda: build(SPEC, store).version) == "'v001'"
    for folder in (store, store / NAME):
        folder.chmod(0o2755)
    for folder, work in (
        (store, lambda: build(OTHER, store)),
        (store / NAME, lambda: build(SPEC, store, force=True)),
        (store / NAME, lambda: refs.tag(store, NAME, "paper")),
        (store / NAME, lambda: refs.remove(store, f"{NAME}@v001")),
    ):
        told = done_by(SECOND, 0o022, work)
        owner = rf"group {GROUP} may not write in {re.escape(str(folder))}, which {FIRST} can"
        assert re.fullmatch(
            rf"StoreError: .* can't be written: Permission denied\. Nothing was \w+; {owner} "
            rf"change: chmod g\+ws {re.escape(str(folder))}\.",
            told,
        )
        folder.chmod(0o2775)
        assert "StoreError" not in done_by(SECOND, 0o022, work)
        folder.chmod(0o2755)
    store.chmod(0o755)
    told = done_by(SECOND, 0o022, lambda: build(OTHER, store, name="x"), group=SECOND)
    assert "can't be read: Permission denied" in told
    place.chmod(0o2775)
    told = done_by(SECOND, 0o022, lambda: build(OTHER, store, name="x"), group=SECOND)
    assert told.endswith(
        f"{place} belongs to root: ask for the right to write there, or choose another."
    )


@needs_root
def test_who_may_not_write_in_an_own_folder_is_told_so(place: Path) -> None:
    """The rights of its group would not help."""
    os.chown(place, FIRST, GROUP)
    place.chmod(0o2555)
    told = done_by(FIRST, 0o022, lambda: build(SPEC, place / "g.zarr"))
    assert told.endswith(f"Nothing was published; {place} is yours: chmod u+wx {place}.")


def test_names_in_open_folders_are_not_looked_for_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v001").mkdir()
    with (
        pytest.raises(StoreError, match=r"^g can't be written: .* denied\. Nothing .* place\.$"),
        durable.write_errors("g"),
    ):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "v001")
