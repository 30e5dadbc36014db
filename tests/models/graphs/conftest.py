"""Graphs that several files of this room read, built once."""

from pathlib import Path

import heated
import pytest

from cheblienet_graphs import build


@pytest.fixture(scope="session")
def heated_graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the graphs of `heated.SPECS`."""
    path = tmp_path_factory.mktemp("heated") / "graphs.zarr"
    for name, spec in heated.SPECS.items():
        build(spec, path, name=name)
    return path
