"""A store that several tests change."""

from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, build


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A store with three versions of one graph."""
    for _ in range(3):
        build(GraphSpec("r2", 8), tmp_path / "g.zarr", force=True)
    return tmp_path / "g.zarr"
