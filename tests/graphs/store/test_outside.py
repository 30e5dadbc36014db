"""Nothing outside of a store is changed: what links lead to, what others own, what is not ours."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from builds import SPECS, interrupted
from failures import failing
from marks import slow_but
from outside import COMMANDS, HEX, NAME, OTHER, SPEC, state, victim

from cheblienet_cli.main import run
from cheblienet_graphs import StoreError, build, open_or_build
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.store import catalog, durable, layout, refs, staging_folder
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.leftovers import clean, leftovers
from cheblienet_graphs.store.staging_folder import tidy
from cheblienet_graphs.verification.versions import verify
from cheblienet_models import open_store


@pytest.fixture
def store(tagged: Path) -> Path:
    return tagged


PLACES: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda staging, victim: staging.symlink_to(victim),
    "relative link": lambda staging, victim: staging.symlink_to(victim.name),
    "link to nothing": lambda staging, _: staging.symlink_to("nowhere"),
    "link to itself": lambda staging, _: staging.symlink_to(staging.name),
    "link to a file": lambda staging, victim: staging.symlink_to(victim / "a"),
    "file": lambda staging, _: staging.write_text("mine"),
    "pipe": lambda staging, _: os.mkfifo(staging),
}


@pytest.mark.parametrize("place", slow_but(["link", "link to nothing", "file"], PLACES))
def test_what_has_the_place_of_the_staging_folder_is_refused(store: Path, place: str) -> None:
    """At once, by everything that writes; what it leads to stays as it is, as the store does."""
    staging = layout.staging_folder(store)
    victim(store.parent / "victim")
    PLACES[place](staging, store.parent / "victim")
    before = state(store.parent)
    for command in COMMANDS.values():
        with pytest.raises(StoreError) as refused:
            command(store)
        words = f"{staging}, where versions are staged, must be a folder of yours. Got "
        assert str(refused.value).startswith(words)
        assert str(refused.value).endswith("Remove it, or choose another `store`.")
        tidy(store)
        assert leftovers(store) == []
        assert state(store.parent) == before
    remarks: list[tuple[str, str]] = []
    assert verify(store, remark=lambda *told: remarks.append(told)) == []
    [(where, what)] = remarks
    assert where == staging.name
    assert what.endswith("nothing can be built or changed before it is removed")
    assert open_or_build(SPEC, store).version == open_store(store)[NAME].version == "v003"
    assert state(store.parent) == before


def test_the_command_line_spares_what_a_link_leads_to(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And never calls it left by builds."""
    layout.staging_folder(store).symlink_to(victim(store.parent / "victim"))
    before = state(store.parent)
    assert run(["verify", "--store", str(store)]) == 0
    told = capsys.readouterr().err
    assert ".g.zarr.staging is a link, which is not followed: nothing can be built" in told
    assert "left by" not in told
    for line in (
        "verify --clean",
        "build r2 --size 12 --resume",
        f"tag {NAME} paper",
        f"rm {NAME}@v001",
    ):
        exit_code, message = failing(capsys, *line.split(), "--store", str(store))
        assert exit_code == 1
        assert "must be a folder of yours. Got a link" in message
        assert message.endswith("or choose another --store.\n")
    assert state(store.parent) == before


def test_only_what_builds_leave_is_deleted(store: Path) -> None:
    """Names that the package does not give, and links under names that it does, stay."""
    staging, outside = layout.staging_folder(store), victim(store.parent / "victim")
    for name in ("notes", "0123", HEX[0][:-1], f"{HEX[0]}.npz", "v001", f"{'0' * 32}"):
        victim(staging / name)
    (staging / "file").write_text("mine")
    (staging / HEX[4]).write_text("a file, not a folder")
    (staging / f"{HEX[4]}.json").mkdir()
    (staging / HEX[5]).symlink_to(outside)
    (staging / f"{HEX[5]}.json").symlink_to(outside / "a")
    (staging / f"opening-{'0' * 32}").symlink_to(outside)
    before, there, lead_to = state(store.parent), sorted(staging.iterdir()), state(outside)
    (staging / HEX[6] / "version").mkdir(parents=True)
    (staging / HEX[6] / "version/way").symlink_to(outside)
    (staging / HEX[6] / "build.json").symlink_to(outside / "a")
    (staging / f"{HEX[6]}.json").write_text("{}")
    (staging / f"opening-{'1' * 32}").mkdir()
    ours = [staging / HEX[6], staging / f"{HEX[6]}.json", staging / f"opening-{'1' * 32}"]
    assert leftovers(store) == clean(store) == ours
    assert leftovers(store) == clean(store) == []
    assert state(store.parent) == before
    build(OTHER, store, resume=True)
    refs.remove(store, f"{NAME}@v001")
    assert sorted(staging.iterdir()) == there
    assert state(outside) == lead_to
    remarks: dict[str, str] = {}
    assert verify(store, remark=remarks.__setitem__) == []
    assert remarks == {
        f".g.zarr.staging/{path.name}": "was not left by a build and is never deleted"
        for path in there
    }


LEAD_OUT: dict[str, Callable[[Path, Path], object]] = {
    "version": lambda folder, outside: swapped(folder / "version", outside),
    "finished": lambda folder, outside: swapped(folder / "finished", outside),
    "scratch": lambda folder, outside: swapped(folder / "scratch", outside),
    "identity": lambda folder, outside: swapped(folder / "build.json", outside),
    "level": lambda folder, outside: swapped(folder / "version/levels", outside),
    "array": lambda folder, outside: swapped(first(folder, "version/**/degree"), outside),
    "chunk": lambda folder, outside: swapped(first(folder, "version/**/c/0"), outside),
    "document": lambda folder, outside: swapped(first(folder, "version/**/zarr.json"), outside),
    "record": lambda folder, outside: swapped(first(folder, "finished/*/*.json"), outside),
    "second name": lambda folder, outside: os.link(first(folder, "version/**/c/0"), outside),
    "pipe": lambda folder, _: os.mkfifo(folder / "finished" / "pipe"),
}


def swapped(path: Path, outside: Path) -> None:
    """Move a file or folder out, and leave a link to it."""
    path.rename(outside)
    path.symlink_to(outside)


def first(folder: Path, pattern: str) -> Path:
    return min(folder.glob(pattern))


@pytest.mark.parametrize("way", slow_but(["chunk", "finished", "second name"], LEAD_OUT))
def test_a_build_whose_files_lead_out_is_not_gone_on_with(tmp_path: Path, way: str) -> None:
    """It would write there: what an archive unpacked could be such a build."""
    spec, store = SPECS["lattice"], tmp_path / "g"
    interrupted(spec, store, 9, block_rows=211)
    [left] = leftovers(store)
    (tmp_path / "outside").mkdir()
    LEAD_OUT[way](left, tmp_path / "outside" / "moved")
    before = state(tmp_path)
    assert not build(spec, store, resume=True, block_rows=211).resumed
    there = state(tmp_path)
    assert {path: there[path] for path in before} == before
    outside = state(tmp_path / "outside")
    assert clean(store) == [left]
    assert state(tmp_path / "outside") == outside
    assert verify(store) == []


GROUP, OTHER_GROUP = 70, 71
ME, STORES, ABOVE, ELSE = 501, 502, 503, 504
SHARED = 0o775 | stat.S_ISGID


def status(user: int, group: int = OTHER_GROUP, mode: int = 0o755) -> SimpleNamespace:
    return SimpleNamespace(st_uid=user, st_gid=group, st_mode=stat.S_IFDIR | mode)


@pytest.mark.parametrize(
    ("folder", "place", "known"),
    [
        (status(ME), status(ABOVE), True),
        (status(STORES), status(ABOVE), True),
        (status(ABOVE), status(ABOVE), True),
        (status(ELSE), status(ABOVE), False),
        (status(ELSE, GROUP), status(ABOVE, GROUP, 0o775), False),
        (status(ELSE, GROUP), status(ABOVE, GROUP, SHARED), True),
        (status(ELSE, OTHER_GROUP), status(ABOVE, GROUP, SHARED), False),
        (status(ELSE, GROUP), status(ABOVE, GROUP, SHARED | 0o002), False),
    ],
)
def test_whose_staging_folder_it_is(
    monkeypatch: pytest.MonkeyPatch, folder: SimpleNamespace, place: SimpleNamespace, known: bool
) -> None:
    """The user's, the owner's of the store or of where it is, or the group's of such a place.

    Before there is a store, it has no owner.
    """
    store = Path("/place/g.zarr")
    there = {store: status(STORES), store.parent: place}

    def stat_of(path: Path, **_: object) -> SimpleNamespace:
        if path in there:
            return there[path]
        raise FileNotFoundError

    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: ME)
        patch.setattr(os, "fstat", lambda _: folder)
        patch.setattr(Path, "stat", stat_of)
        found = [staging_folder.is_known(0, store)]
        del there[store]
        found += [staging_folder.is_known(0, store)]
    assert found == [known, known and folder.st_uid != STORES]


def test_the_owner_of_new_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked without a trace; a folder that can't be written has none."""
    with durable.opened_folder(tmp_path) as folder:
        assert staging_folder.owner_of_new_files(folder) == tmp_path.stat().st_uid
        assert list(tmp_path.iterdir()) == []
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        monkeypatch.setattr(os, "open", lambda *_, **__: (_ for _ in ()).throw(refused))
        assert staging_folder.owner_of_new_files(folder) is None


def test_the_folder_of_somebody_else_is_refused(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty or not, it stays; but where files have one owner, whoever makes them, it is used."""
    staging, owner = layout.staging_folder(store), os.geteuid()
    victim(staging)
    before = state(store.parent)
    monkeypatch.setattr(staging_folder, "is_known", lambda *_: False)
    with monkeypatch.context() as patch:
        patch.setattr(staging_folder, "owner_of_new_files", lambda _: owner + 1)
        for name in COMMANDS.keys() - {"dry run"}:
            user = f"must be a folder of yours. Got a folder of user {owner}. Let them end"
            with pytest.raises(StoreError, match=user):
                COMMANDS[name](store)
        assert leftovers(store) == []
        remarks: dict[str, str] = {}
        assert verify(store, remark=remarks.__setitem__) == []
        assert remarks == {staging.name: f"belongs to user {owner}, who may be building"}
        assert state(store.parent) == before
    assert refs.tag(store, NAME, "paper").name == "v003"
    assert len(clean(store)) == 4


def test_builds_of_other_users_are_neither_gone_on_with_nor_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write into the folder could have put wrong rows there."""
    spec, store = SPECS["lattice"], tmp_path / "g"
    interrupted(spec, store, 9, block_rows=211)
    [left] = leftovers(store)
    before = state(left)
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    with monkeypatch.context() as patch:
        patch.setattr(staging_folder, "owner_of_new_files", lambda _: os.geteuid() + 1)
        assert not build(spec, store, force=True, resume=True, block_rows=211).resumed
    assert state(left) == before
    assert build(spec, store, force=True, resume=True, block_rows=211).resumed


def test_links_to_graphs_and_versions_are_not_followed(tmp_path: Path) -> None:
    """By nothing that writes: what they lead to, here another store, stays as it is."""
    far, store = tmp_path / "far/far.zarr", tmp_path / "g.zarr"
    build(SPEC, far, name="far")
    build(SPEC, far, name="far", force=True)
    build(SPEC, store, name="near")
    export_zip(Folder(far / "far/v001"), tmp_path / "g.zip")
    (store / "linked").symlink_to(far / "far")
    (store / "dangling").symlink_to("nowhere")
    (store / "near/v002").symlink_to(far / "far/v002")
    before = state(far.parent)
    for name, command in {
        "build": lambda: build(OTHER, store, name="linked"),
        "build dangling": lambda: build(OTHER, store, name="dangling"),
        "import": lambda: import_zip(tmp_path / "g.zip", store, "linked"),
        "tag": lambda: refs.tag(store, "linked@v001", "paper"),
        "remove": lambda: refs.remove(store, "linked@v001"),
        "remove version": lambda: refs.remove(store, "near@v002"),
        "prune": lambda: refs.prune(store, "linked", 1),
    }.items():
        with pytest.raises(StoreError):
            command()
        assert state(far.parent) == before, name
    assert [(fault.where, fault.what) for fault in verify(store)] == [
        ("dangling", "is a link, which is not followed"),
        ("linked", "is a link, which is not followed"),
        ("near/v002", "does not belong in a graph"),
    ]
    assert catalog.graph_names(Folder(store)) == list(open_store(store)) == ["near"]
    assert refs.tag(store, "near", "paper").name == open_store(store)["near"].version == "v001"
    assert refs.prune(store, "near", 1).versions == ()
    assert build(SPEC, store, name="near", force=True).version == "v003"
    assert state(far.parent) == before
