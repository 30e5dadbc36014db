"""Graphs of domains that cut pixels: maps of all pixels, training, damaged stores."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from damage import writable_copy

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Lift, Pyramid, SpatialPool, StoreError, UNet, open_store
from cheblienet_models.testing import assert_equivariant

PARTS = np.clip(7.2 - np.hypot(*(np.indices((16, 16)) - 7.5)), 0, 1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cut") / "g.zarr"
    given = {"mask": PARTS, "mask_edge": "cut", "weights": "selling"}
    build(GraphSpec("se2", orientations=4, levels=3, **given), folder, name="disc")
    return folder


@pytest.fixture
def pyramid(store: Path) -> Pyramid:
    return open_store(store, verify=True)["disc"]


def test_fractions_come_back(pyramid: Pyramid) -> None:
    finest, coarser = pyramid.levels[:2]
    assert finest.fraction.numpy() == pytest.approx(PARTS, abs=1e-4)
    means = PARTS.reshape(8, 2, 8, 2).mean(axis=(1, 3))
    assert coarser.fraction.numpy() == pytest.approx(means, abs=1e-4)
    assert copy.deepcopy(pyramid).to("cpu").levels[0].fraction.shape == (16, 16)


def test_small_pixels_show_the_nearest_points(pyramid: Pyramid) -> None:
    """All of the domain is filled, constants stay, points keep their values."""
    graph = pyramid.levels[0]
    x = torch.randn(2, 3, graph.num_vertices)
    full = graph.to_grid(x)
    shown = graph.fraction > 0
    assert torch.equal(full.isnan(), ~shown.expand_as(full))
    assert torch.equal(
        Lift(graph)(full[:, :, 0].nan_to_num())[..., : graph.num_points], x[..., : graph.num_points]
    )
    ones = graph.to_grid(torch.ones(1, 1, graph.num_points))[0, 0]
    assert torch.equal(ones[shown], torch.ones(int(shown.sum())))
    numbers = graph.to_grid(torch.arange(graph.num_points)[None, None], fill=-1)[0, 0]
    assert torch.equal(numbers >= 0, shown)
    small = shown & (graph.fraction < 0.19)
    assert bool(small.any())
    for y, row in torch.nonzero(small).tolist():
        near = full[..., max(y - 1, 0) : y + 2, max(row - 1, 0) : row + 2]
        low, high = near.nan_to_num(9).amin((-1, -2)), near.nan_to_num(-9).amax((-1, -2))
        assert bool(((full[..., y, row] >= low - 1e-6) & (full[..., y, row] <= high + 1e-6)).all())


def test_areas_are_masses_and_pooling_keeps_the_integral(pyramid: Pyramid) -> None:
    fine, coarse = pyramid.levels[:2]
    points = fine.num_points
    mean = PARTS.sum() / points
    assert float(fine.area[:points].mean()) == pytest.approx(1)
    center = fine.base_index == 8 * 16 + 8
    assert float(fine.area[:points][center]) == pytest.approx(1 / mean, rel=1e-4)
    pooled = SpatialPool(pyramid, 0, "mean")(torch.ones(1, 1, fine.num_vertices))
    assert torch.allclose(pooled, torch.ones_like(pooled))
    x = fine.coordinates[:, 0].float()[None, None]
    sums = [
        float((graph.area * y[0, 0]).mean())
        for graph, y in ((fine, x), (coarse, SpatialPool(pyramid, 0, "mean")(x)))
    ]
    assert sums[0] == pytest.approx(sums[1], abs=2e-3)


def test_diffusion_keeps_constants_and_the_integral(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    x = torch.rand(1, 1, graph.num_vertices)
    ones = torch.ones_like(x)
    assert torch.allclose(graph.diffuse(ones, 0.01, density=True), ones, atol=1e-5)
    spread = graph.diffuse(x, 0.01, density=True)
    assert float((spread * graph.area).sum()) == pytest.approx(
        float((x * graph.area).sum()), rel=1e-5
    )


def test_symmetric_domains_keep_the_certificate(pyramid: Pyramid) -> None:
    network = UNet(pyramid, 1, 2, kernel_size=3, channels=(4, 4, 5, 6)).eval()
    assert_equivariant(network, pyramid)


def test_networks_train(pyramid: Pyramid) -> None:
    """Which half of the disc a pixel is in, from its place."""
    torch.manual_seed(0)
    network = UNet(pyramid, 2, 2, kernel_size=3, channels=(4, 4, 5, 6))
    optimizer = torch.optim.Adam(network.parameters(), 0.02)
    y, x = torch.meshgrid(*[torch.linspace(-1, 1, 16)] * 2, indexing="ij")
    signal, target = torch.stack([y, x])[None], (x + y > 0).long()[None]
    inside = pyramid.levels[0].fraction[None] > 0
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.nll_loss(network(signal).movedim(1, -1)[inside], target[inside])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.25 < 0.5 < losses[0]


@pytest.mark.parametrize(
    ("path", "damage", "message"),
    [
        ("fraction", lambda x: x * 2, r"numbers in \[0, 1\]"),
        ("filling/data", lambda x: x * 0.5, "sum to 1"),
        ("filling/indices", lambda x: np.maximum(x - 1, 0), "show each point|ascend"),
    ],
)
def test_damaged_pixels_are_refused(
    store: Path, tmp_path: Path, path: str, damage: object, message: str
) -> None:
    other = writable_copy(store, tmp_path / "g.zarr")
    folder = other / "disc" / "v001" / "levels" / "0"
    file = next((folder / path / "c").rglob("0*"))
    while file.is_dir():
        file = next(file.iterdir())
    kind = np.int32 if path.endswith("indices") else np.float32
    damage(np.fromfile(file, kind)).astype(kind).tofile(file)
    with pytest.raises(StoreError, match=message):
        open_store(other)["disc"]
