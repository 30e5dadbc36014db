"""Graphs with directional Laplacians, which several files test layers on."""

import pytest
from masks import disc
from stores import store_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, Store

SE2 = {"orientations": 4, "levels": 2}
SPECS = {
    "whole": GraphSpec("se2", 16, **SE2, directional=0.05),
    "masked": GraphSpec("se2", mask=disc(16), **SE2, directional=0.05),
    "single": GraphSpec("se2", 16, **SE2),
}
directional = store_of(SPECS, "session", opened=True)
"""A plane with orientations: as it is, without directions, and on a disc."""


@pytest.fixture
def graph(directional: Store) -> Graph:
    """The coarser level of the whole plane, 8 x 8 x 4 vertices."""
    return directional["whole"].levels[1]
