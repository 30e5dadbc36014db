"""Layers hand on vertex-major memory, and transpose nothing between them."""

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from cheblienet_models import BatchNorm, Lift, Pyramid, SpatialPool, SpatialUnpool, UNet, WideResNet


def test_nothing_is_transposed_between_layers(pyramid: Pyramid) -> None:
    """Copies of a signal: one where the image is lifted, else only the recursion's own buffers."""
    network = WideResNet(pyramid, 2, 4, kernel_size=3, depth=1, widen=1, pool="max")
    images = torch.randn(2, 2, 16, 16)
    network(images).sum().backward()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        network(images).sum().backward()
    copies = []
    for event in recorded.events():
        shape = event.input_shapes[0] if event.input_shapes else []
        if event.name not in {"aten::copy_", "aten::clone"} or torch.Size(shape).numel() < 2048:
            continue
        text, parent = "", event.cpu_parent
        while parent is not None:
            text, parent = f"{text} {parent.name}", parent.cpu_parent
        # The gradient of a maximum turns its mask of ties into numbers.
        if "cheblienet_models::" not in text and "AmaxBackward" not in text:
            copies.append((event.name, shape))
    lifted = [4, 256, 2, 2]
    assert copies == [("aten::clone", lifted), ("aten::copy_", lifted)]


def test_layers_hand_on_vertex_major_memory(pyramid: Pyramid) -> None:
    graph, signals = pyramid.levels[0], []
    unet = UNet(pyramid, 3, 2, kernel_size=2, channels=(3, 4, 5), lift="cake")
    pools = SpatialPool(pyramid, 0, "random"), SpatialUnpool(pyramid, 0, "max")
    for module in (unet.lift, *unet.down, *unet.up, *pools):
        module.register_forward_hook(lambda _, inputs, y: signals.extend([*inputs, y]))
    unet(torch.randn(2, 3, 16, 16))
    pools[1](pools[0](Lift(graph)(torch.randn(2, 3, 16, 16))))
    assert len(signals) == 2 * len([unet.lift, *unet.down, *unet.up, *pools])
    assert all(signal.permute(2, 0, 1).is_contiguous() for signal in signals[1:])


def test_batch_norm_is_torchs(pyramid: Pyramid) -> None:
    ours, theirs = BatchNorm(5), nn.BatchNorm1d(5)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(3, 5, 40, requires_grad=True)
    major = x.detach().permute(2, 0, 1).contiguous().permute(1, 2, 0).requires_grad_()
    for training in (True, True, False):
        ours.train(training)
        theirs.train(training)
        assert torch.allclose(ours(major), theirs(x), atol=1e-6)
    (ours(major) ** 3).sum().backward()
    (theirs(x) ** 3).sum().backward()
    assert torch.allclose(major.grad, x.grad, atol=1e-5)
    for name, value in theirs.state_dict().items():
        assert torch.allclose(ours.state_dict()[name].float(), value.float(), atol=1e-6)
    one = x[:1].detach()
    expected = torch.autograd.functional.jacobian(theirs, one)
    assert torch.allclose(torch.func.jacrev(ours)(one), expected, atol=1e-6)
