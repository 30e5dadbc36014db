"""Stores that several tests read, built once."""

from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, build


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three graphs: plane, open and periodic SE(2)."""
    path = tmp_path_factory.mktemp("shared") / "graphs.zarr"
    build(GraphSpec("r2", "24x16"), path)
    build(GraphSpec("se2", 16, orientations=6, eps_squared=0.1), path)
    build(GraphSpec("se2", 16, orientations=4, boundary="periodic", levels=2), path, name="torus")
    return path
