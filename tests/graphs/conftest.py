"""Graphs that tests in several files compare with."""

from pathlib import Path

import examined
import figured as of_figures
import pytest
from builds import Whole

from cheblienet_graphs import build


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """What is published of each of the specifications of `builds`, built at once."""
    return Whole(tmp_path_factory.mktemp("expected"))


@pytest.fixture(scope="session")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blocks") / "g.zarr"
    for name, spec in examined.SPECS.items():
        build(spec, path, name=name)
    return path


@pytest.fixture(scope="session")
def figured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the graphs of `figured`."""
    path = tmp_path_factory.mktemp("figured") / "g.zarr"
    for name, spec in of_figures.SPECS.items():
        build(spec, path, name=name)
    return path
