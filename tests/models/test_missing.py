"""Missing values, NaN and healpy's UNSEEN in any dtype: refused, or left out where asked for."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from marks import OFF_THEIR_METRIC
from refusing import refused
from stores import store_of
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec, MapSpec, build_map
from cheblienet_models import (
    UNSEEN,
    ChebConv,
    Diffusion,
    GlobalPool,
    Gradient,
    GradientNorm,
    LatLonToVertices,
    Lift,
    OrientedLift,
    Project,
    ResidualBlock,
    SpatialPool,
    SpatialUnpool,
    Store,
    UNet,
    VerticesToLatLon,
    WideResNet,
    check_finite,
    inpaint,
    open_store,
    regular_grid,
)

HEALPY = -1.6375e30
"""healpy.UNSEEN, from its documentation, with a relative tolerance of 1e-5."""
GRID = regular_grid(6, 12, west=0)
INSIDE = np.hypot(*(np.mgrid[:8, :8] - 3.5)) < 3
opened = store_of(
    {
        "arrows": GraphSpec("se2", 8, orientations=4, period="2pi", levels=2, gradients=True),
        "ring": GraphSpec("se2", 8, orientations=4, levels=1, mask=INSIDE),
        "sky": GraphSpec("s2", nside=2, levels=2),
    },
    opened=True,
)


def marks(dtype: torch.dtype) -> list[Tensor]:
    """What is missing in a dtype: healpy's number and others within its tolerance, rounded."""
    unseen = [torch.tensor(HEALPY * factor, dtype=dtype) for factor in (1, 1 + 9e-6, 1 - 9e-6)]
    return [torch.tensor(math.nan, dtype=dtype), *unseen]


def layers(of: Store) -> list[tuple[nn.Module, int]]:
    """All that mix points, and how many they take."""
    pyramid = of["arrows"]
    fine, coarse = pyramid.levels
    one, many = (level.num_vertices for level in (coarse, fine))
    return [
        *((ChebConv(2, 3, k, fine), many) for k in (1, 3)),
        (ChebConv(2, 3, 3, fine, operators="first-order"), many),
        (ResidualBlock(2, 2, 2, fine), many),
        (ResidualBlock(2, 3, 2, fine), many),
        (Diffusion(2, fine), many),
        (Gradient(fine), many),
        (GradientNorm(2, 2, fine), many),
        *((SpatialPool(pyramid, 0, mode), many) for mode in ("max", "mean", "random")),
        *((SpatialUnpool(pyramid, 0, mode), one) for mode in ("max", "mean")),
        *((GlobalPool(mode, keep), many) for mode in ("max", "mean") for keep in (None, fine)),
        (OrientedLift(fine), 64),
        (SpatialPool(of["sky"], 0, "mean"), 48),
    ]


@OFF_THEIR_METRIC
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_layers_refuse_what_is_missing(opened: Store, dtype: torch.dtype) -> None:
    for layer, count in layers(opened):
        layer = layer.to(dtype)
        x = torch.randn(2, 2, count, dtype=dtype)
        layer(x)
        for mode in (layer.train, layer.eval):
            for mark in marks(dtype):
                holed = x.clone()
                holed[1, 1, 5] = mark
                message = rf"^{type(layer).__name__}.* takes finite values.*channel 1, vertex 5:"
                refused(message, mode(), holed)
        layer.check_finite = False
        layer(holed)


def test_maps_refuse_what_is_missing(tmp_path: Path) -> None:
    sky, near = GraphSpec("s2", nside=2, levels=1), GraphSpec("s2", subdivisions=1, levels=1)
    build_map(MapSpec(sky, near, neighbors=3), store=tmp_path / "m.zarr", name="down")
    down = open_store(tmp_path / "m.zarr").maps["down"]
    for mark in marks(torch.float32):
        x = torch.ones(1, 1, 48)
        x[..., 3] = mark
        refused("takes finite values.*vertex 3", down, x)


def test_an_oriented_lift_on_a_mask_names_the_pixel(opened: Store) -> None:
    """As UNet does: outside of the mask, where its filters see it."""
    lift, image = OrientedLift(opened["ring"].levels[0]), torch.randn(1, 1, 8, 8)
    assert lift(image).isfinite().all()
    image[0, 0, 0, 7] = math.nan
    refused(r"OrientedLift on ring@v001, level 0 takes finite .* pixel \(0, 7\):", lift, image)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("method", ["bilinear", "conservative", "nearest"])
def test_resampling_knows_unseen_as_nan(opened: Store, method: str, dtype: torch.dtype) -> None:
    sky = opened["sky"]
    for kind, shape in ((VerticesToLatLon, (1, 1, 48)), (LatLonToVertices, (1, 1, 6, 12))):
        x = torch.randn(shape).to(dtype)
        with_nan = x.clone()
        with_nan[..., 3] = math.nan
        for fill in (None, 7.0):
            skips = kind(sky, *GRID, method, skipna=True, fill=fill)
            expected = skips(with_nan)
            assert expected.nan_to_num().abs().max() < 10
            for mark in marks(dtype):
                holed = torch.where(with_nan.isnan(), mark, with_nan)
                assert torch.equal(skips(holed).nan_to_num(99), expected.nan_to_num(99))
                refused("without NaN or UNSEEN. Got [16] of", kind(sky, *GRID, method), holed)


@OFF_THEIR_METRIC
def test_what_is_not_missing(opened: Store) -> None:
    """Twice healpy's tolerance off, and other large numbers; integers have none."""
    for factor in (1 + 2e-5, 1 - 2e-5, -1, 0.5):
        x = torch.full((1, 1, 3), HEALPY * factor)
        check_finite("Mine", x)
        x = torch.full((1, 1, 48), HEALPY * factor, dtype=torch.float64)
        assert torch.equal(inpaint(opened["sky"], x), x)
    check_finite("Mine", torch.full((1, 1, 3), -(2**62)))
    refused(
        "Got 1 NaN, 2 UNSEEN and 1 infinite among 6, the first in sample 0, channel 0, vertex 1",
        check_finite,
        "Mine",
        torch.tensor([[[0.0, UNSEEN, math.nan, math.inf, UNSEEN, 1.0]]]),
    )


def test_networks_search_once(opened: Store) -> None:
    """Their layers do not, whatever the network was told, but for those of a lift that is given."""
    pyramid, image = opened["arrows"], torch.randn(1, 2, 8, 8)
    own = OrientedLift(pyramid.levels[0])
    for lift in ("repeat", "cake", own):
        for network in (
            UNet(pyramid, 2, 2, 2, (2, 2, 2), lift=lift, operators="first-order"),
            WideResNet(pyramid, 2, 2, depth=1, widen=0.125, lift=lift),
        ):
            search = [m for m in network.modules() if getattr(m, "check_finite", False)]
            assert search == [network, *[own] * (lift is own)]
    holed = image.clone()
    holed[0, 0, 1, 1] = UNSEEN
    refused(r"WideResNet takes .* 1 UNSEEN .*pixel \(1, 1\)", WideResNet(pyramid, 2, 2), holed)


def test_what_mixes_no_points_leaves_them(opened: Store) -> None:
    ring = opened["ring"].levels[0]
    for mark in marks(torch.float32):
        image = torch.where(torch.from_numpy(INSIDE), 1.0, mark).expand(1, 1, 8, 8)
        assert bool((Project(ring)(Lift(ring)(image)) == 1).all())


def test_nothing_is_searched_where_a_tensor_stands_for_many(opened: Store) -> None:
    pool = SpatialPool(opened["sky"], 0, "max")
    x = torch.randn(3, 1, 2, 48)
    x[0, 0, 0, 0] = math.nan
    assert torch.func.vmap(pool)(x).shape == (3, 1, 2, 12)
