"""Every file of a version against its manifest, by the reader alone; and how levels are joined."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sealing import writable

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import StoreError
from cheblienet_models.store.files import opened, own_attributes
from cheblienet_models.store.verify import verify_files
from cheblienet_models.store.version import read_version


@pytest.fixture
def version(tmp_path: Path) -> Path:
    """Of three levels, with a file of more than one dimension."""
    build(GraphSpec("r2", (8, 12), levels=3), tmp_path / "g.zarr", name="g")
    return writable(tmp_path / "g.zarr/g/v001")


def check(version: Path) -> None:
    with opened(str(version.parents[1])) as root:
        folder = root / "g" / "v001"
        verify_files(folder, own_attributes(folder))


def rewritten(change: Callable[[dict], object]) -> Callable[[Path], None]:
    """Our attributes changed, and nothing computed anew."""

    def mutate(version: Path) -> None:
        document = json.loads((version / "zarr.json").read_bytes())
        change(document)
        (version / "zarr.json").write_text(json.dumps(document, indent=2))

    return mutate


def appended(version: Path) -> None:
    with (version / "zarr.json").open("a") as file:
        file.write("\n")


CHUNK, DOCUMENT = "levels/1/coordinates/c/0/0", "levels/1/coordinates/zarr.json"
CHANGES: list[tuple[Callable[[Path], object], str]] = [
    (appended, "v001/zarr.json holds more or other text than was published"),
    (rewritten(lambda d: d["attributes"].update(note=1)), "holds more or other text"),
    (rewritten(lambda d: d["attributes"]["clg"].update(note=1)), "attributes that differ from"),
    (
        rewritten(lambda d: d["attributes"]["clg"].pop("attributes_sha256")),
        "attributes that differ",
    ),
    (lambda v: (v / CHUNK).unlink(), f"v001/{CHUNK} is missing"),
    (lambda v: (v / CHUNK).write_bytes(b""), f"v001/{CHUNK} is not what was published"),
    (lambda v: (v / CHUNK).write_bytes((v / CHUNK).read_bytes()[::-1]), f"{CHUNK} is not what was"),
    (lambda v: (v / DOCUMENT).write_bytes((v / DOCUMENT).read_bytes() + b" "), "is not what was"),
    (lambda v: (v / "levels/1/zarr.json").unlink(), "v001/levels/1/zarr.json is missing"),
    (lambda v: (v / "notes").write_text(""), "v001/notes is not in the manifest"),
    (lambda v: (v / "levels/notes").mkdir(), "v001/levels/notes is not in the manifest"),
    (lambda v: (v / "levels/1/c").symlink_to("degree"), "v001/levels/1/c is not in the manifest"),
]


@pytest.mark.parametrize(("change", "told"), CHANGES)
def test_changed_versions(version: Path, change: Callable[[Path], object], told: str) -> None:
    check(version)
    change(version)
    with pytest.raises(StoreError, match=told):
        check(version)


def test_maps_join_each_level_with_the_next(version: Path) -> None:
    with opened(str(version.parents[1])) as root:
        read = read_version(root / "g" / "v001", "g", verify=True)
    assert [level.grid for level in read.levels] == [(1, 12, 8), (1, 6, 4), (1, 3, 2)]
    sizes = [96, 24, 6]
    assert [level.num_vertices for level in read.levels] == sizes
    for pooling, unpooling, fine, coarse in zip(
        read.poolings, read.unpoolings, sizes, sizes[1:], strict=False
    ):
        assert pooling.shape == (coarse, fine)
        assert unpooling.shape == (fine, coarse)
        assert (len(pooling.indptr), len(unpooling.indptr)) == (coarse + 1, fine + 1)
        assert set(pooling.indices.tolist()) == set(range(fine))
        assert set(unpooling.indices.tolist()) == set(range(coarse))
    assert len(read.poolings) == len(read.unpoolings) == 2
