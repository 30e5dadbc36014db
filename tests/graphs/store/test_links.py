"""Links at every level of a store: nothing is read through them, nor changed."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from marks import slow_but
from outside import COMMANDS, NAME, state

from cheblienet_cli.main import run
from cheblienet_graphs import (
    CheblienetError,
    StoreError,
    compare,
    eigenvalues,
    inspect,
    neighbors_of,
    open_group,
)
from cheblienet_graphs.archives.npz import to_npz
from cheblienet_graphs.archives.zips import export_zip
from cheblienet_graphs.store.catalog import resolve
from cheblienet_graphs.verification.versions import verify
from cheblienet_models import open_store

PLACES = {
    "store document": "zarr.json",
    "graph": NAME,
    "graph document": f"{NAME}/zarr.json",
    "version": f"{NAME}/v003",
    "version document": f"{NAME}/v003/zarr.json",
    "levels": f"{NAME}/v003/levels",
    "level": f"{NAME}/v003/levels/0",
    "matrix": f"{NAME}/v003/levels/0/laplacian",
    "array": f"{NAME}/v003/levels/0/laplacian/data",
    "array document": f"{NAME}/v003/levels/0/laplacian/data/zarr.json",
    "folder of a chunk": f"{NAME}/v003/levels/0/laplacian/data/c",
    "chunk": f"{NAME}/v003/levels/0/laplacian/data/c/0",
}
READERS: dict[str, Callable[[Path], object]] = {
    "open": lambda store: open_store(store)[f"{NAME}@v003"],
    "zarr": lambda store: open_group(store, f"{NAME}@v003"),
    "inspect": lambda store: inspect(store, f"{NAME}@v003"),
    "eigenvalues": lambda store: eigenvalues(store, f"{NAME}@v003"),
    "neighbors": lambda store: neighbors_of(store, f"{NAME}@v003", vertex=0),
    "compare": lambda store: compare(store, f"{NAME}@v003", f"{NAME}@v003"),
    "npz": lambda store: to_npz(resolve(store, f"{NAME}@v003"), store.parent / "npz"),
    "zip": lambda store: export_zip(resolve(store, f"{NAME}@v003"), store.parent / "v.zip"),
}
OF_FACTS = {"compare"}
"""Those that read no array."""


@pytest.mark.parametrize("place", slow_but(["graph", "version document", "chunk"], PLACES))
def test_no_link_below_a_store_is_followed(tagged: Path, place: str) -> None:
    """What it leads to is what was there: read through it, all would be as published."""
    path, outside = tagged / PLACES[place], tagged.parent / "outside"
    outside.mkdir()
    path.rename(outside / "there")
    path.symlink_to(outside / "there")
    before = state(outside)
    is_below = f"{NAME}/v003/levels" in PLACES[place]
    for name, read in READERS.items():
        if not (name in OF_FACTS and is_below):
            with pytest.raises(CheblienetError):
                read(tagged)
        assert not [*tagged.parent.glob("*npz"), *tagged.parent.glob("v.zip")]
    assert _faults(tagged)
    assert run(["ls", "--store", str(tagged)]) == (place == "store document")
    for name, write in COMMANDS.items():
        copy = tagged.parent / f"{name}/g.zarr"
        shutil.copytree(tagged, copy, symlinks=True)
        shutil.copy(tagged.parent / "g.zip", copy.parent)
        try:
            write(copy)
        except StoreError as error:
            assert "\n" not in str(error)  # noqa: PT017 -- most do work
        assert state(outside) == before, name


def _faults(store: Path) -> object:
    try:
        return verify(store)
    except StoreError as error:
        return error


def test_a_link_within_a_version_is_deleted_with_it(tagged: Path) -> None:
    """And what it leads to is not."""
    outside = tagged.parent / "outside"
    outside.mkdir()
    (tagged / f"{NAME}/v001/levels/0/area").rename(outside / "area")
    (tagged / f"{NAME}/v001/levels/0/area").symlink_to(outside / "area")
    before = state(outside)
    COMMANDS["remove"](tagged)
    assert not (tagged / f"{NAME}/v001").exists()
    assert state(outside) == before


@pytest.mark.parametrize("place", ["version document", "array document", "chunk"])
def test_groups_of_zarr_do_not_wait_for_pipes(three: Path, place: str) -> None:
    (three / PLACES[place]).unlink()
    os.mkfifo(three / PLACES[place])
    with pytest.raises(StoreError, match="is not a file of a version"):
        open_group(three, f"{NAME}@v003")


def test_groups_of_zarr_have_no_folders_that_were_not_looked_into(three: Path) -> None:
    """Zarr would follow the links in them."""
    (three / f"{NAME}/v003/a folder").mkdir()
    (three / f"{NAME}/v003/a folder/link").symlink_to(three.parent)
    with pytest.raises(StoreError, match="is not a file of a version"):
        open_group(three, f"{NAME}@v003")
