"""What a store lists and resolves, with whatever else lies in its folder."""

import re
import shutil
from pathlib import Path

import pytest
from damage import edit
from refusing import refused

from cheblienet_graphs.store.folder import Folder
from cheblienet_models import StoreError, open_store
from cheblienet_models.store.version import UnknownGraphError, versions_of

NAMES = ["r2-24x16", "se2-16x16x6", "torus"]


def test_other_folders_and_files_are_no_graphs(copy: Path) -> None:
    (copy / "notes.txt").write_text("mine")
    (copy / "backup").mkdir()
    shutil.copytree(copy / "torus", copy / "without-versions")
    shutil.rmtree(copy / "without-versions" / "v001")
    shutil.copytree(copy / "torus", copy / "without-refs")
    edit(copy / "without-refs/zarr.json", lambda d: d["attributes"]["clg"].pop("refs"))
    shutil.copytree(copy / "torus", copy / "_torus")
    with Folder(copy).kept_open() as root:
        assert [name for name in root.names() if versions_of(root, name)] == NAMES
        assert not versions_of(root, "_torus")
        assert not versions_of(root, "../torus")
    assert sorted(open_store(copy)) == NAMES


def test_refs_name_versions(copy: Path) -> None:
    """The newest is the latest by its number, whatever is written down as that."""
    graph = copy / "torus"
    for version in ("v002", "v1000", "v12", "v900", "w003"):
        shutil.copytree(graph / "v001", graph / version)
    (graph / "v999").write_text("no folder")
    refs = {"paper": "v002", "latest": "v001", "lost": "v007", "odd": ["v001"], "twelve": "v12"}
    edit(graph / "zarr.json", lambda d: d["attributes"]["clg"].update(refs=refs))
    with Folder(copy).kept_open() as root:
        own = {name: name for name in ("v001", "v002", "v900", "v1000")}
        assert versions_of(root, "torus") == own | {"paper": "v002", "latest": "v1000"}
    for unknown in ("v003", "v999", "v12", "twelve", "w003", "lost", "none"):
        message = f"No version '{unknown}'.*There: v001, v002, v900, v1000, paper, latest"
        refused(message, open_store(copy).__getitem__, f"torus@{unknown}", error=UnknownGraphError)
    for refs in ([1], "v001", None):
        edit(graph / "zarr.json", lambda d, refs=refs: d["attributes"]["clg"].update(refs=refs))
        with Folder(copy).kept_open() as root:
            assert not versions_of(root, "torus")


def test_places_that_are_no_store_of_this_format(copy: Path) -> None:
    """What they are instead is said."""
    (copy / "empty").mkdir()
    edit(copy / "r2-24x16/zarr.json", lambda d: d["attributes"]["clg"].pop("refs"))
    for place, message in (
        ("empty", "is no store: it has no zarr.json"),
        ("torus", f"is a graph within a store: open the store, {copy}"),
        ("r2-24x16", "has store schema None; this version reads 1"),
    ):
        refused(message, open_store, copy / place, error=StoreError)


@pytest.mark.parametrize(
    "schema",
    ["1.7", "1.10", "1", "1.", "1.x", "1.01", "01.0", "1.1.0", "1.-1", "2.0", "", None, 1.1],
)
def test_other_schemas(copy: Path, schema: object) -> None:
    message = re.escape(f"has schema {schema!r}; this version reads 1.0 to 1.6. Install")
    edit(copy / "torus/v001/zarr.json", lambda d: d["attributes"]["clg"].update(schema=schema))
    refused(message, open_store(copy).__getitem__, "torus", error=StoreError)
