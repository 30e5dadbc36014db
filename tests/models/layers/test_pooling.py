"""Pooling between levels and over all vertices, against the stored matrices."""

from pathlib import Path

import pytest
import torch
from csr_truth import stored
from refusing import refused

from cheblienet_graphs import open_group
from cheblienet_models import GlobalPool, Pyramid, SpatialPool, SpatialUnpool, open_store


@pytest.mark.parametrize(
    ("layer", "path"), [(SpatialPool, "pooling/0to1"), (SpatialUnpool, "unpooling/1to0")]
)
@pytest.mark.parametrize("name", ["torus", "icosahedral"])
def test_spatial_maps(symmetric_graphs: Path, name: str, layer: type, path: str) -> None:
    """Rows of the icosphere's matrices are not equally long."""
    pyramid = open_store(symmetric_graphs)[name]
    matrix = torch.from_numpy(stored(open_group(symmetric_graphs, name)[path]).toarray())
    x = torch.randn(2, 3, matrix.shape[1])
    assert torch.allclose(layer(pyramid, 0, "mean")(x), x @ matrix.T, atol=1e-6)
    masked = torch.where(matrix > 0, x[:, :, None], -torch.inf)
    assert torch.equal(layer(pyramid, 0, "max")(x), masked.amax(3))
    drawn = layer(pyramid, 0, "random")
    assert torch.allclose(drawn.eval()(x), x @ matrix.T, atol=1e-6)
    y = drawn.train()(x)
    sources = (x[:, :, None] == y[..., None]) & (matrix > 0)
    assert sources.all(1).all(0).any(-1).all()  # one source a vertex, the same in every channel


def test_random_pooling_draws_every_source(pyramid: Pyramid) -> None:
    pool = SpatialPool(pyramid, 0, "random")
    x = torch.arange(pyramid.levels[0].num_vertices, dtype=torch.float32)[None, None]
    draws = torch.stack([pool(x)[0, 0] for _ in range(60)])
    assert all(len(column.unique()) == 4 for column in draws.T)


def test_pooling_refusals(pyramid: Pyramid) -> None:
    refused("levels 0 to 1; there is no map between levels 1 and 2", SpatialPool, pyramid, 1)
    refused("mode must be", SpatialPool, pyramid, 0, "median")
    refused("mode must be", GlobalPool, "sum")


def test_global_pool() -> None:
    x = torch.randn(2, 3, 7)
    assert torch.equal(GlobalPool("max")(x), x.amax(2))
    assert torch.equal(GlobalPool("mean")(x), x.mean(2))
