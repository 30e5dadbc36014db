"""What verification notices, what cleaning spares, and what is no fault of a store."""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damage import to_fifo, to_folder, to_link, truncate
from failures import failing
from marks import slow_but
from outside import whole_path
from sealing import writable
from stores import store_of

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, StoreError, build, verify
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.errors import UnreadableError
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import listing
from cheblienet_graphs.store.refs import remove
from cheblienet_graphs.verification.versions import version_faults
from cheblienet_models import open_store

SPEC = GraphSpec("r2", 8)
SMALL = GraphSpec("r2", 8, levels=1)
NAME = "r2-8x8"


CHANGES: list[Callable[[Path], object]] = [
    lambda path: path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1])),
    truncate,
    lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    lambda path: path.unlink(),
    lambda path: (path.parent / "stray").write_bytes(b""),
    to_link,
    to_fifo,
    to_folder,
]


@pytest.mark.parametrize("change", slow_but(CHANGES[::2], CHANGES))
def test_every_change_of_every_file_is_noticed(tmp_path: Path, change: Callable) -> None:
    levels = 1 + (change is CHANGES[0])
    version = build(GraphSpec("r2", 4, levels=levels), tmp_path, name="g").store / "g/v001"
    assert verify(tmp_path) == []
    files = sorted(path for path in writable(version).rglob("*") if path.is_file())
    assert len(files) > {1: 12, 2: 40}[levels]
    shutil.copytree(version, untouched := tmp_path / "untouched")
    for path in files:
        change(path)
        assert (faults := version_faults(Folder(version))), path
        place = path.relative_to(version)
        beside = (place.with_name(name) for name in ("stray", "elsewhere"))
        known = set(map(str, (place, *place.parents, *beside)))
        assert all(fault.where in known and fault.what not in known for fault in faults), faults
        with pytest.raises(StoreError):
            open_store(tmp_path, verify=True)["g"]
        shutil.rmtree(path.parent)
        shutil.copytree(untouched / path.parent.relative_to(version), path.parent)
    assert version_faults(Folder(version)) == []


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
    for name, document in (
        ("blank", layout.group_document({})),
        ("later", layout.group_document({"clg": {"refs": {}}}) | {"zarr_format": 4}),
    ):
        build(SPEC, three, name=name)
        (three / name / "zarr.json").write_bytes(layout.document_bytes(document))
    shutil.copytree(three / NAME, three / "no name")
    assert [(fault.where, fault.what.split()[0]) for fault in verify(three)] == [
        ("blank/zarr.json", "is"),
        ("broken", str(three / "broken/zarr.json")),
        ("later/zarr.json", "is"),
        ("no name", "is"),
        (f"{NAME}/zarr.json", "has"),
        (f"{NAME}/notes.txt", "does"),
        (f"{NAME}/v004/zarr.json", "is"),
    ]
    assert [(version.name, version.fault is None) for version in listing(three)] == [
        ("later", True),
        *[(NAME, True)] * 3,
        (NAME, False),
    ]
    assert open_store(three)[f"{NAME}@v003"].version == "v003"


def test_crash_between_the_steps_of_publishing(three: Path) -> None:
    """A killed builder can leave a graph without versions, or a version that no ref names."""
    (three / "new").mkdir()
    put_attributes(three / "new", refs={})
    assert list(open_store(three)) == [NAME]
    assert [version.name for version in listing(three)] == [NAME] * 3
    assert build(SPEC, three, name="new").version == "v001"
    put_attributes(three / NAME, refs={"latest": "v002"})
    assert open_store(three)[NAME].version == catalog.resolve(three, NAME).name == "v003"
    assert build(SPEC, three, force=True).version == "v004"
    assert verify(three) == []


CODES = [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EACCES, errno.EPERM]


small = store_of({NAME: SMALL})
"""Read only."""


def refusing(code: int, real: Callable[..., Any], part: str) -> Callable[..., Any]:
    """A function that the system refuses for paths that end so."""

    def refuse(path: Any, *arguments: Any, **named: Any) -> Any:
        opened = path if isinstance(path, str | Path) else path.fileno()
        if whole_path(opened, named.get("dir_fd")).endswith(part):
            raise OSError(code, os.strerror(code))
        return real(path, *arguments, **named)

    return refuse


PLACES = [
    (os, "open", "v001/zarr.json"),
    (os, "open", f"{NAME}/zarr.json"),
    (os, "open", "graphs.zarr/zarr.json"),
    (os, "open", "laplacian/data/zarr.json"),
    (hashlib, "file_digest", "/c/0"),
    (os, "open", "laplacian/data/c/0"),
]


@pytest.mark.parametrize("code", CODES, ids=lambda code: errno.errorcode[code])
@pytest.mark.parametrize(("module", "name", "part"), PLACES)
def test_no_fault_of_a_store(
    small: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, part: str, code: int
) -> None:
    monkeypatch.setattr(module, name, refusing(code, getattr(module, name), part))
    with pytest.raises(UnreadableError, match=f"{os.strerror(code)}.* no fault of the store") as no:
        verify(small)
    assert not any(word in str(no.value) for word in ("damaged", "rebuild", "build it", "import"))


def test_others_that_read_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = build(SMALL, tmp_path / "g.zarr").store
    export_zip(Folder(small / NAME / "v001"), f"{small}.zip")
    monkeypatch.setattr(os, "open", refusing(errno.EMFILE, os.open, "v001/zarr.json"))
    for command in ("inspect", "export --to npz", "neighbors --vertex 0", "verify"):
        exit_code, message = failing(capsys, *command.split(), NAME, "--store", str(small))
        assert exit_code == 1
        assert f"{os.strerror(errno.EMFILE)}. That is no fault of the store" in message
    with pytest.raises(UnreadableError):  # else it would be built again
        build(SMALL, small)
    with pytest.raises(UnreadableError):
        import_zip(f"{small}.zip", small)
    assert run(["ls", "--store", str(small)]) == 0
    assert "unreadable" in capsys.readouterr().out
    assert [path.name for path in (small / NAME).iterdir() if path.is_dir()] == ["v001"]


@pytest.mark.parametrize("code", CODES, ids=lambda code: errno.errorcode[code])
@pytest.mark.parametrize("part", ["zarr.json", NAME, "v001", "data", "0"])
def test_opening_for_training(
    small: Path, monkeypatch: pytest.MonkeyPatch, part: str, code: int
) -> None:
    monkeypatch.setattr(os, "open", refusing(code, os.open, part))
    with pytest.raises(UnreadableError, match=f"{os.strerror(code)}.*no fault of the store"):
        open_store(small)[NAME]


def test_a_version_that_is_removed_while_it_is_verified_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        build(SMALL, tmp_path, name="g", force=True)
    read = layout.check_version

    def removing(version: Folder) -> layout.Attributes:
        attributes = read(version)
        if version.name == "v001":
            remove(tmp_path, "g@v001")
        return attributes

    monkeypatch.setattr(layout, "check_version", removing)
    assert verify(tmp_path) == []
