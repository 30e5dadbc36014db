"""A store that several tests change."""

from pathlib import Path

import pytest
from outside import NAME, SPEC

from cheblienet_graphs import build
from cheblienet_graphs.archives.zips import export_zip
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.refs import tag


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A store with three versions of one graph."""
    for _ in range(3):
        build(SPEC, tmp_path / "g.zarr", force=True)
    return tmp_path / "g.zarr"


@pytest.fixture
def tagged(three: Path) -> Path:
    """A store with three versions, one of them tagged, and an archive beside it."""
    tag(three, NAME, "kept")
    export_zip(Folder(three / NAME / "v001"), three.parent / "g.zip")
    return three
