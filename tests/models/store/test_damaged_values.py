"""NaN and infinity in a store that is opened without being verified: told where they are used."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    ChebConv,
    Diffusion,
    Graph,
    LatLonToVertices,
    Pyramid,
    StoreError,
    open_store,
    regular_grid,
)
from cheblienet_models.testing import assert_equivariant

SPECS = {
    "plane": GraphSpec("se2", 8, orientations=2, directional=0.05, weights="selling", eigenpairs=3),
    "sphere": GraphSpec("s2", subdivisions=2, levels=2),
}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damaged") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    return path


def damaged(graphs: Path, copy: Path, array: str, dtype: str, value: float) -> Path:
    """A copy of a store, one entry of an array of which is another."""
    for file in sorted(graphs.rglob("*")):
        place = copy / file.relative_to(graphs)
        if file.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    (chunk,) = [file for file in (copy / array / "c").rglob("*") if file.is_file()]
    values = np.frombuffer(chunk.read_bytes(), dtype).copy()
    values[len(values) // 2] = value
    chunk.write_bytes(values.tobytes())
    return copy


def signal(graph: Graph) -> torch.Tensor:
    return torch.ones(1, 1, graph.num_vertices)


LAPLACIAN = "1 of .* entries of its Laplacian are NaN or infinite"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "use",
    [
        lambda graph: ChebConv(1, 1, 2, graph),
        lambda graph: Diffusion(1, graph),
        lambda graph: graph.diffuse(signal(graph), 0.1),
        lambda graph: graph.filter(signal(graph), torch.cos),
        lambda graph: graph.laplacian,
        lambda graph: graph.neighbors(0),
        lambda graph: graph.edges,
    ],
)
def test_the_laplacian(
    graphs: Path, tmp_path: Path, use: Callable[[Graph], object], value: float
) -> None:
    array = "plane/v001/levels/0/laplacian/data"
    store = damaged(graphs, tmp_path / "g.zarr", array, "<f4", value)
    graph = open_store(store)["plane"].levels[0]  # opening does not read it
    with pytest.raises(StoreError, match=rf"^plane@v001, level 0, .*: {LAPLACIAN}"):
        use(graph)


@pytest.mark.parametrize(
    ("array", "dtype", "message", "use"),
    [
        (
            "plane/v001/levels/0/directional/forward/data",
            "<f4",
            "entries of its forward Laplacian are NaN",
            lambda p: ChebConv(1, 1, 2, p.levels[0], operators="directional"),
        ),
        (
            "plane/v001/levels/0/eigenvectors",
            "<f4",
            "entries of its eigenvectors are NaN",
            lambda p: p.levels[0].fourier(signal(p.levels[0])),
        ),
        (
            "plane/v001/levels/0/coordinates",
            "<f8",
            "entries of its coordinates are NaN",
            lambda p: assert_equivariant(ChebConv(1, 1, 2, p.levels[0]), p),
        ),
        (
            "sphere/v001/levels/0/coordinates",
            "<f8",
            "entries of its coordinates are NaN",
            lambda p: LatLonToVertices(p, *regular_grid(6, 12, west=0)),
        ),
        ("sphere/v001/levels/0/area", "<f4", "area must have finite numbers from 0", None),
        ("plane/v001/levels/0/degree", "<f4", "degree must have finite numbers from 0", None),
        ("sphere/v001/pooling/0to1/data", "<f4", "must have weights from 0 in every row", None),
    ],
)
def test_other_arrays(
    graphs: Path,
    tmp_path: Path,
    array: str,
    dtype: str,
    message: str,
    use: Callable[[Pyramid], object] | None,
) -> None:
    """Small ones and those that are read anyway are looked at when a graph is opened."""
    store = open_store(damaged(graphs, tmp_path / "g.zarr", array, dtype, np.nan))
    name = array.split("/")[0]
    if use is None:
        with pytest.raises(StoreError, match=message):
            store[name]
        return
    pyramid = store[name]
    with pytest.raises(StoreError, match=message):
        use(pyramid)
