"""Graphs with directional Laplacians, which several files test layers on."""

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Graph, Pyramid, Store, open_store


@pytest.fixture(scope="session")
def directional(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A plane with orientations: as it is, without directions, and on a disc."""
    path = tmp_path_factory.mktemp("directional") / "graphs.zarr"
    y, x = np.mgrid[:16, :16] - 7.5
    domains = {"whole": {"size": 16}, "masked": {"mask": x**2 + y**2 < 64}}
    for name, domain in domains.items():
        spec = GraphSpec("se2", **domain, orientations=4, levels=2, directional=0.05)
        build(spec, path, name=name)
    build(GraphSpec("se2", 16, orientations=4, levels=2), path, name="single")
    return open_store(path, verify=True)


@pytest.fixture
def plane(directional: Store) -> Pyramid:
    return directional["whole"]


@pytest.fixture
def graph(plane: Pyramid) -> Graph:
    """The coarser level, 8 x 8 x 4 vertices."""
    return plane.levels[1]
