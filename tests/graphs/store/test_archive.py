"""The way out and back as a zip archive."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, StoreError, build, verify
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.archive import export_zip, import_zip
from cheblienet_graphs.store.verify import leftovers
from cheblienet_models import open_store


@pytest.fixture
def version(store: Path) -> Path:
    return store / "torus" / "v001"


def test_zip_round_trip(version: Path, tmp_path: Path) -> None:
    export_zip(version, tmp_path / "g.zip")
    uncompressed = sum(path.stat().st_size for path in version.rglob("*") if path.is_file())
    assert (tmp_path / "g.zip").stat().st_size < uncompressed / 2
    other = tmp_path / "other.zarr"
    assert import_zip(tmp_path / "g.zip", other) == ("torus", "v001", True)
    assert import_zip(tmp_path / "g.zip", other) == ("torus", "v001", False)
    assert import_zip(tmp_path / "g.zip", other, "copy") == ("copy", "v001", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.zip", "other.zarr"]
    assert verify(other) == []
    for path in version.rglob("*"):
        if path.is_file():
            again = other / "copy" / "v001" / path.relative_to(version)
            assert again.read_bytes() == path.read_bytes()
    again = open_store(other, verify=True)["copy"]
    assert again.spec_sha256 == layout.check_version(version)["spec_sha256"]
    export_zip(version, tmp_path / "h.zip")
    assert (tmp_path / "h.zip").read_bytes() == (tmp_path / "g.zip").read_bytes()


def test_faulty_versions_are_not_exported(tmp_path: Path) -> None:
    build(GraphSpec("r2", 8), tmp_path / "g.zarr", name="g")
    degree = tmp_path / "g.zarr/g/v001/levels/0/degree/c/0"
    degree.chmod(0o644)
    degree.write_bytes(degree.read_bytes()[::-1])
    with pytest.raises(StoreError, match="other contents than were published"):
        export_zip(tmp_path / "g.zarr/g/v001", tmp_path / "g.zip")
    assert not (tmp_path / "g.zip").exists()


def rewritten(
    source: Path, target: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]
) -> None:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            changed = change(entry.filename, old.read(entry))
            if changed is not None:
                new.writestr(*changed)


DEGREE = "torus/levels/0/degree/c/0"
HOSTILE: list[Callable[[str, bytes], tuple[str, bytes] | None]] = [
    lambda name, data: (name, data[::-1] if name == DEGREE else data),
    lambda name, data: (name, data[:-1] if name == DEGREE else data),
    lambda name, data: None if name == DEGREE else (name, data),
    lambda name, data: None if name == "torus/zarr.json" else (name, data),
    lambda name, data: (name, b"{}" if name == "torus/zarr.json" else data),
    lambda name, data: (name, b"[" * 10**5 if name == "torus/zarr.json" else data),
    lambda name, data: (name, b" " * 5 * 10**6 if name == "torus/zarr.json" else data),
    lambda name, data: ("../" * 9 + name if name == DEGREE else name, data),
    lambda name, data: ("/etc/" + name if name == DEGREE else name, data),
    lambda name, data: ("else/" + name[6:] if name == DEGREE else name, data),
    lambda name, data: (name + "/0" if name == DEGREE else name, data),
    lambda name, data: (name, data + b"x" * 10**6 if name == DEGREE else data),
]


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_archives_are_refused(version: Path, tmp_path: Path, change: Callable) -> None:
    export_zip(version, tmp_path / "g.zip")
    rewritten(tmp_path / "g.zip", tmp_path / "bad.zip", change)
    with pytest.raises(StoreError, match=r"bad\.zip"):
        import_zip(tmp_path / "bad.zip", tmp_path / "other.zarr")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.zip", "g.zip"]


def test_archives_that_are_none(version: Path, tmp_path: Path) -> None:
    store = tmp_path / "other.zarr"
    with pytest.raises(StoreError, match="No such file"):
        import_zip(tmp_path / "absent.zip", store)
    (tmp_path / "text.zip").write_text("x" * 100)
    with pytest.raises(StoreError, match="not a whole zip"):
        import_zip(tmp_path / "text.zip", store)
    export_zip(version, tmp_path / "g.zip")
    contents = bytearray((tmp_path / "g.zip").read_bytes())
    contents[len(contents) // 3] ^= 255
    (tmp_path / "flipped.zip").write_bytes(contents)
    with pytest.raises(StoreError):
        import_zip(tmp_path / "flipped.zip", store)
    (tmp_path / "cut.zip").write_bytes(contents[: len(contents) // 2])
    with pytest.raises(StoreError, match="not a whole zip"):
        import_zip(tmp_path / "cut.zip", store)
    assert not store.exists()
    assert leftovers(store) == []


SMALL = GraphSpec("r2", 4)


def test_an_archive_imported_twice_is_there_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(SMALL, tmp_path / "g.zarr", name="g")
    build(SMALL, tmp_path / "g.zarr", name="g", force=True)
    export_zip(tmp_path / "g.zarr/g/v001", tmp_path / "g.zip")
    where = ["--store", str(tmp_path / "other.zarr")]
    for expected in ("", "It is there already, as g@v001.\n"):
        assert run(["import", str(tmp_path / "g.zip"), *where]) == 0
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("g@v001\n", expected)
    assert import_zip(tmp_path / "g.zip", tmp_path / "g.zarr") == ("g", "v001", False)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["g.zarr", "g.zip", "other.zarr"]


def test_a_damaged_version_is_no_reason_not_to_import_it_again(tmp_path: Path) -> None:
    build(SMALL, tmp_path / "g.zarr", name="g")
    export_zip(tmp_path / "g.zarr/g/v001", tmp_path / "g.zip")
    degree = tmp_path / "g.zarr/g/v001/levels/0/degree/c/0"
    degree.chmod(0o644)
    degree.write_bytes(degree.read_bytes()[::-1])
    assert import_zip(tmp_path / "g.zip", tmp_path / "g.zarr") == ("g", "v002", True)
    assert import_zip(tmp_path / "g.zip", tmp_path / "g.zarr") == ("g", "v002", False)
