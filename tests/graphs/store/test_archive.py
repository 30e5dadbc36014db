"""The way out and back as a zip archive."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sealing import writable

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, StoreError, build, verify
from cheblienet_graphs.archives import zips
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.leftovers import leftovers
from cheblienet_graphs.store.publishing import InStore
from cheblienet_models import open_store


@pytest.fixture
def zipped(store: Path, tmp_path: Path) -> Path:
    export_zip(Folder(store / "torus" / "v001"), tmp_path / "g.zip")
    return tmp_path / "g.zip"


def test_zip_round_trip(store: Path, zipped: Path, tmp_path: Path) -> None:
    version, other = store / "torus" / "v001", tmp_path / "other.zarr"
    files = [path for path in version.rglob("*") if path.is_file()]
    assert zipped.stat().st_size < sum(path.stat().st_size for path in files) / 2
    assert import_zip(zipped, other) == InStore(other, "torus", "v001", built=True)
    assert import_zip(zipped, other) == InStore(other, "torus", "v001", built=False)
    assert import_zip(zipped, other, "copy") == InStore(other, "copy", "v001", built=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zip", "other.zarr"]
    assert verify(other) == []
    for path in files:
        again = other / "copy" / "v001" / path.relative_to(version)
        assert again.read_bytes() == path.read_bytes()
    assert open_store(other, verify=True)["copy"].levels
    export_zip(Folder(version), tmp_path / "h.zip")
    assert (tmp_path / "h.zip").read_bytes() == zipped.read_bytes()


DEGREE, FACTS = "torus/levels/0/degree/c/0", "torus/zarr.json"
HOSTILE: list[tuple[str, Callable[[str, bytes], tuple[str, bytes]]]] = [
    (DEGREE, lambda name, data: (name, data[::-1])),
    (DEGREE, lambda name, data: (name, data[:-1])),
    (DEGREE, lambda name, data: (name, data + b"x" * 10**6)),
    (DEGREE, lambda name, data: ("../" * 9 + name, data)),
    (DEGREE, lambda name, data: ("/etc/" + name, data)),
    (DEGREE, lambda name, data: ("else/" + name[6:], data)),
    (DEGREE, lambda name, data: (name + "/0", data)),
    (FACTS, lambda name, _: (name, b"{}")),
    (FACTS, lambda name, _: (name, b'{"node_type": "group"}')),
    (FACTS, lambda name, _: (name, b"[" * 10**5)),
    (FACTS, lambda name, _: (name, b" " * 5 * 10**6)),
    *((name, lambda name, _: ("torus/stray/c/0", b"x" * len(name))) for name in (DEGREE, FACTS)),
]


def rewritten(
    source: Path, target: Path, name: str, change: Callable, *, announced: bool = False
) -> None:
    """The archive with one file changed, of which its directory may say the size of before."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            file = entry.filename, old.read(entry)
            new.writestr(*(change(*file) if entry.filename == name else file))
        if announced:
            new.getinfo(name).file_size = old.getinfo(name).file_size


@pytest.mark.parametrize(
    ("hostile", "change", "announced"),
    [*((*each, False) for each in HOSTILE), *((*each, True) for each in HOSTILE[1:3])],
)
def test_hostile_archives_are_refused(
    zipped: Path, tmp_path: Path, hostile: str, change: Callable, announced: bool
) -> None:
    """Of a file that is longer than announced no more is read: its digest tells."""
    rewritten(zipped, tmp_path / "bad.zip", hostile, change, announced=announced)
    with pytest.raises(StoreError, match=r"bad\.zip"):
        import_zip(tmp_path / "bad.zip", tmp_path / "other.zarr")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.zip", "g.zip"]


def test_what_the_manifest_does_not_have_is_not_even_written(
    zipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "Staging", None)
    reasons = dict.fromkeys(("torus/stray", DEGREE), "not as its manifest says")
    reasons |= dict.fromkeys((f"../{DEGREE}", f"/{DEGREE}", "torus/.."), "no file of a version")
    for name, reason in reasons.items():
        rewritten(zipped, tmp_path / "bad.zip", DEGREE, lambda *_, name=name: (name, b"x"))
        with pytest.raises(StoreError, match=reason):
            import_zip(tmp_path / "bad.zip", tmp_path / "other.zarr")


def test_archives_that_are_none(zipped: Path, tmp_path: Path) -> None:
    store, contents = tmp_path / "other.zarr", bytearray(zipped.read_bytes())
    contents[len(contents) // 3] ^= 255
    (tmp_path / "flipped.zip").write_bytes(contents)
    (tmp_path / "cut.zip").write_bytes(contents[: len(contents) // 2])
    (tmp_path / "folder.zip").mkdir()
    reasons = {"absent": "No such file", "cut": "not a whole", "folder": "not a file"}
    reasons |= {"flipped": "flipped", "x" * 300: "File name too long"}
    for name, reason in reasons.items():
        with pytest.raises(StoreError, match=reason):
            import_zip(tmp_path / f"{name}.zip", store)
    assert not store.exists()
    assert leftovers(store) == []


def test_an_archive_is_imported_again_only_where_what_is_there_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what is damaged is not exported."""
    store, zipped = tmp_path / "g.zarr", tmp_path / "g.zip"
    build(GraphSpec("r2", 4), store, name="g")
    export_zip(Folder(store / "g/v001"), zipped)
    for expected in ("", "It is there already, as g@v001.\n"):
        assert run(["import", str(zipped), "--store", str(tmp_path / "other.zarr")]) == 0
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("g@v001\n", expected)
    assert import_zip(zipped, store) == InStore(store, "g", "v001", built=False)
    degree = writable(store / "g/v001") / "levels/0/degree/c/0"
    degree.write_bytes(degree.read_bytes()[::-1])
    assert import_zip(zipped, store) == InStore(store, "g", "v002", built=True)
    assert import_zip(zipped, store) == InStore(store, "g", "v002", built=False)
    with pytest.raises(StoreError, match="other contents than were published"):
        export_zip(Folder(store / "g/v001"), tmp_path / "damaged.zip")
    assert {path.name for path in tmp_path.iterdir()} == {"g.zarr", "g.zip", "other.zarr"}
