"""Values that are not finite are named before a network spreads them."""

import pytest
import torch
from refusing import refused
from torch import nn

from cheblienet_models import Pyramid, UNet, WideResNet, check_finite

NAN, INFINITY = float("nan"), float("inf")


def networks(pyramid: Pyramid, **settings: bool) -> list[nn.Module]:
    return [
        WideResNet(pyramid, 2, 3, kernel_size=2, depth=1, widen=1, **settings).eval(),
        UNet(pyramid, 2, 3, kernel_size=2, channels=(2, 2, 2), **settings).eval(),
    ]


def test_one_value_would_spread_over_everything(pyramid: Pyramid) -> None:
    """What is refused: one vertex of one sample, and all of that sample's output is NaN."""
    images = torch.randn(2, 2, 16, 16)
    images[1, 0, 3, 4] = NAN
    for network in networks(pyramid, check_finite=False):
        assert network.train()(images).isnan().all()


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
