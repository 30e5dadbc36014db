"""Graphs whose figures are computed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cheblienet_graphs.plot.opened import OpenedGraph, open_graph


@pytest.fixture(scope="session")
def opened(figured: Path) -> Callable[[str], OpenedGraph]:
    def graph(name: str) -> OpenedGraph:
        return open_graph(figured, name)

    return graph
