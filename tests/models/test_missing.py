"""Missing values, NaN and healpy's UNSEEN in any dtype: refused, or left out where asked for."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from marks import OFF_THEIR_METRIC
from refusing import refused
from stores import store_of
from torch import nn
from unseen import HEALPY, marks

from cheblienet_graphs import GraphSpec, MapSpec, build_map
from cheblienet_models import (
    UNSEEN,
    LatLonToVertices,
    Lift,
    OrientedLift,
    Project,
    Pyramid,
    SpatialPool,
    Store,
    UNet,
    VerticesToLatLon,
    WideResNet,
    check_finite,
    inpaint,
    open_store,
    regular_grid,
)

NAN, INFINITY = float("nan"), float("inf")
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


def networks(pyramid: Pyramid, **settings: bool) -> list[nn.Module]:
    return [
        WideResNet(pyramid, 2, 3, kernel_size=2, depth=1, widen=1, **settings).eval(),
        UNet(pyramid, 2, 3, kernel_size=2, channels=(2, 2, 2), **settings).eval(),
    ]


@pytest.mark.parametrize("value", [NAN, INFINITY, -INFINITY])
def test_images_that_are_not_finite(pyramid: Pyramid, value: float) -> None:
    images = torch.randn(2, 2, 16, 16)
    images[1, 0, 3, 4] = images[1, 1, 2, 2] = value
    counts = "2 NaN and 0 infinite" if value != value else "0 NaN and 2 infinite"
    expected = rf"takes finite values. Got {counts} among 1024, the first in sample 1, channel 0"
    for network in networks(pyramid):
        for mode in (network.train, network.eval):
            refused(rf"{expected}, pixel \(3, 4\): fill them first", mode(), images)
        lifted = torch.zeros(1, 2, 1024)
        lifted[0, 1, 77] = value
        refused("sample 0, channel 1, vertex 77: fill", network, lifted)


def test_finite_values_pass(pyramid: Pyramid) -> None:
    largest = torch.finfo(torch.float32).max
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool):
        for x in (torch.ones(1, 1, 2000), torch.ones(0, 1, 3), torch.full((1, 2, 4), 2.0)):
            check_finite("Mine", x.to(dtype))
    check_finite("Mine", torch.full((1, 1, 9), largest))  # their sum is infinite
    check_finite("Mine", torch.full((1, 1, 2000), 6e4, dtype=torch.float16))
    check_finite("Mine", torch.full((1, 1, 9), NAN, device="meta"))
    with pytest.raises(TypeError, match=r"Mine takes a torch\.Tensor"):
        check_finite("Mine", [1.0])
    x = torch.tensor([[[largest, largest, NAN]]])
    refused(r"Mine takes finite values\. Got 1 NaN", check_finite, "Mine", x)
    volume = torch.zeros(1, 2, 3, 4, 5)
    volume[0, 1, 2, 3, 4] = torch.inf
    refused(r"sample 0, channel 1, voxel \(2, 3, 4\)", check_finite, "Mine", volume)


@pytest.mark.slow
def test_nothing_is_checked_in_programs(pyramid: Pyramid) -> None:
    """Which take whatever they are given, whatever they were compiled with."""
    images, holed = torch.randn(2, 2, 16, 16), torch.full((2, 2, 16, 16), NAN)
    wide, unet = networks(pyramid)
    exported = torch.export.export(wide, (images,)).module()
    compiled = torch.compile(unet, fullgraph=True, backend="eager")
    for network, program in ((wide, exported), (unet, compiled)):
        assert torch.allclose(program(images), network(images), atol=1e-5)
        assert program(holed).isnan().all()
