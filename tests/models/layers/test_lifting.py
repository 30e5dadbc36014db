"""Lifting to orientations and projecting from them."""

import pytest
import torch

from cheblienet_models import (
    Lift,
    Project,
    Pyramid,
)


def test_lift_and_project(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    images = torch.randn(2, 3, 16, 16)
    lifted = Lift(graph)(images)
    assert lifted.shape == (2, 3, 4 * 256)
    assert torch.equal(Lift(graph)(images.flatten(2)), lifted)
    for mode in ("max", "mean"):
        assert torch.allclose(Project(graph, mode)(lifted).view_as(images), images)
    x = torch.randn(2, 3, 1024)
    assert torch.equal(Project(graph)(x), x.view(2, 3, 4, 256).amax(2))
    with pytest.raises(
        ValueError, match=r"\(B, C, 16, 16\) or \(B, C, 256\). Got \(2, 3, 15, 16\)"
    ):
        Lift(graph)(images[:, :, 1:])
    with pytest.raises(ValueError, match=r"Project takes \(B, C, 1024\)"):
        Project(graph)(images)
    with pytest.raises(ValueError, match="mode"):
        Project(graph, "sum")
