"""Graphs whose figures are computed."""

from collections.abc import Callable
from pathlib import Path

import figured as of_figures
import pytest

from cheblienet_graphs import build
from cheblienet_graphs.plot.opened import OpenedGraph, open_graph


@pytest.fixture(scope="session")
def figured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the graphs of `figured`."""
    path = tmp_path_factory.mktemp("figured") / "g.zarr"
    for name, spec in of_figures.SPECS.items():
        build(spec, path, name=name)
    return path


@pytest.fixture(scope="session")
def opened(figured: Path) -> Callable[[str], OpenedGraph]:
    def graph(name: str) -> OpenedGraph:
        return open_graph(figured, name)

    return graph
