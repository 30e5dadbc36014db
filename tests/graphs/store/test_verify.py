"""What verification notices, and what cleaning spares."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, verify
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder
from cheblienet_graphs.store.listing import listing
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


def to_link(path: Path) -> None:
    path.rename(path.with_name(".elsewhere"))
    path.symlink_to(path.with_name(".elsewhere"))


def to_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES: list[Callable[[Path], object]] = [
    flip,
    lambda path: path.write_bytes(path.read_bytes()[:-1]),
    lambda path: path.write_bytes(path.read_bytes() + b" "),
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


def resealed(version: Path, key: str, change: Callable[[np.ndarray], object]) -> None:
    """Change an array and make the manifest agree, as a broken writer would."""
    import hashlib

    path = layout.manifest_file(version, key)
    attributes = layout.check_version(version)
    kind = layout.DTYPES[layout.read_document(version / key)["data_type"]]
    values = np.frombuffer(path.read_bytes(), kind).copy()
    change(values)
    path.chmod(0o644)
    path.write_bytes(values.tobytes())
    attributes["manifest"][key]["sha256"] = hashlib.sha256(values.tobytes()).hexdigest()
    attributes["attributes_sha256"] = layout.canonical_sha256(attributes)
    (version / "zarr.json").chmod(0o644)
    document = layout.group_document({"clg": attributes})
    (version / "zarr.json").write_bytes(layout.document_bytes(document))


@pytest.mark.parametrize(
    ("part", "change", "what", "in_training"),
    [
        ("data", lambda v: v.__setitem__(1, v[1] + 1), "symmetric", "symmetric"),
        ("data", lambda v: v.__setitem__(0, np.nan), "finite", "finite"),
        ("data", lambda v: v.__imul__(1.05), r"outside \[-1, 1\]", r"outside \[-1, 1\]"),
        ("indices", lambda v: v.__setitem__(0, 99), "outside", "outside"),
        ("indices", lambda v: v.__setitem__(0, v[1]), "ascend", "ascend"),
        ("indptr", lambda v: v.__setitem__(1, 10**6), "", "valid CSR"),
    ],
)
def test_consistently_hashed_nonsense_is_noticed(
    tmp_path: Path, part: str, change: Callable, what: str, in_training: str
) -> None:
    build(GraphSpec("r2", 8, levels=1, boundary="periodic"), tmp_path / "g.zarr", name="g")
    resealed(tmp_path / "g.zarr/g/v001", f"levels/0/laplacian/{part}", change)
    (fault,) = verify(tmp_path / "g.zarr")
    assert fault.where == "g/v001/levels/0/laplacian"
    assert re.search(what, fault.what)
    with pytest.raises(ModelsStoreError, match=in_training):
        open_store(tmp_path / "g.zarr", verify=True)["g"]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("eigenvalues", lambda v: v.__setitem__(4, v[4] * 1.01)),
        ("eigenvectors", lambda v: v.__imul__(1.01)),
        ("eigenvectors", lambda v: v.__imul__(0)),
        ("eigenvectors", lambda v: v.__setitem__(5, np.nan)),
        ("eigenvectors", lambda v: v.__setitem__(slice(1, None, 5), v[::5])),
    ],
)
def test_consistently_hashed_wrong_eigenpairs_are_noticed(
    tmp_path: Path, part: str, change: Callable
) -> None:
    build(GraphSpec("r2", 8, levels=1, eigenpairs=5), tmp_path / "g.zarr", name="g")
    assert not verify(tmp_path / "g.zarr")
    resealed(tmp_path / "g.zarr/g/v001", f"levels/0/{part}", change)
    (fault,) = verify(tmp_path / "g.zarr")
    assert fault.where == "g/v001/levels/0/eigenvectors"
    with pytest.raises(ModelsStoreError, match="eigen"):
        open_store(tmp_path / "g.zarr", verify=True)["g"]


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
