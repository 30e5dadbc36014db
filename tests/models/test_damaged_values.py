"""NaN and infinity in a store that is opened without being verified: told where they are used."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from damage import writable_copy
from refusing import refused
from sealing import reseal_array
from stores import store_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import (
    ChebConv,
    Diffusion,
    Graph,
    Pyramid,
    StoreError,
    open_store,
)

SPECS = {
    "plane": GraphSpec("se2", 8, orientations=2, directional=0.05, weights="selling", eigenpairs=3),
    "sphere": GraphSpec("s2", subdivisions=2, levels=2),
}


graphs = store_of(SPECS)


def damaged(graphs: Path, copy: Path, array: str, value: float) -> Mapping[str, Pyramid]:
    """A copy of a store, one entry of an array of which is another."""
    name, key = array.split("/", 1)
    version = writable_copy(graphs, copy) / name / "v001"
    reseal_array(version, key, lambda values: values.__setitem__(len(values) // 2, value))
    return open_store(copy)


def signal(graph: Graph) -> torch.Tensor:
    return torch.ones(1, 1, graph.num_vertices)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_laplacian(graphs: Path, tmp_path: Path, value: float) -> None:
    store = damaged(graphs, tmp_path / "g.zarr", "plane/levels/0/laplacian/data", value)
    for use in (
        lambda graph: ChebConv(1, 1, 2, graph),
        lambda graph: Diffusion(1, graph),
        lambda graph: graph.diffuse(signal(graph), 0.1),
        lambda graph: graph.filter(signal(graph), torch.cos),
        lambda graph: graph.laplacian,
        lambda graph: graph.neighbors(0),
        lambda graph: graph.edges,
    ):
        graph = store["plane"].levels[0]  # opening does not read it
        message = "^plane@v001, level 0, .*: 1 of .* entries of its Laplacian are NaN or infinite"
        refused(message, use, graph, error=StoreError)


directed = lambda p: ChebConv(1, 1, 2, p.levels[0], operators="directional")  # noqa: E731
transformed = lambda p: p.levels[0].fourier(signal(p.levels[0]))  # noqa: E731


@pytest.mark.parametrize(
    ("array", "message", "use"),
    [
        ("plane/levels/0/directional/forward/data", "forward Laplacian are NaN", directed),
        ("plane/levels/0/eigenvectors", "eigenvectors are NaN", transformed),
        ("plane/levels/0/coordinates", "coordinates are NaN", lambda p: p.levels[0].coordinates),
    ],
)
def test_other_arrays(
    graphs: Path, tmp_path: Path, array: str, message: str, use: Callable[[Pyramid], object]
) -> None:
    pyramid = damaged(graphs, tmp_path / "g.zarr", array, np.nan)[array.split("/")[0]]
    refused(message, use, pyramid, error=StoreError)
