"""A layer that is equivariant under D4, quarter turns and flips: escnn's beside ours.

They compute different functions, so what is compared first is what all promise: that a turned image
gives the turned output. All have as many numbers a pixel.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from classifiers import parameters
from layers import forth_and_back
from networks import accept_matrices
from scripts import print_head, print_row, pyramid_of
from torch import Tensor, nn
from turns import in_turns, installed, progress, times_or_refusal

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Pyramid
from cheblienet_models.testing import assert_equivariant

FIELDS, GROUP, SIZE, BATCH = 8, 8, 3, 8
NUMBERS = FIELDS * GROUP
"""A pixel."""
ORIENTATIONS, KERNEL_SIZE = 4, 4
TOLERANCE = 1e-4
"""Largest difference between the output of a turned image and the turned output, relative."""
PLAIN, SCALARS, ORIENTED = "plain 3 x 3", "ours, plane", "ours, SE(2)"


class SteerableConv(nn.Module):
    """escnn's 3 x 3 convolution between regular fields of D4, on tensors (B, 8 FIELDS, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        accept_matrices()
        from escnn import gspaces  # no dependency of ours
        from escnn import nn as steerable

        space = gspaces.flipRot2dOnR2(N=4)
        self.fields: Any = steerable.FieldType(space, FIELDS * [space.regular_repr])
        self.wrap = steerable.GeometricTensor
        self.layer: Any = steerable.R2Conv(
            self.fields, self.fields, SIZE, padding=SIZE // 2, bias=False
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, 8 FIELDS, H, W) -> the same shape."""
        y: Tensor = self.layer(self.wrap(x, self.fields)).tensor
        return y

    def turned(self, x: Tensor) -> Iterator[Tensor]:
        """The images under each element of D4."""
        for element in self.fields.gspace.testing_elements:
            moved: Tensor = self.wrap(x, self.fields).transform(element).tensor
            yield moved


def change_of_ours(layer: nn.Module, pyramid: Pyramid, x: Tensor) -> float:
    """The largest difference under the lattice's symmetries, relative to the largest output."""
    changes = assert_equivariant(layer, pyramid, x, tolerance=math.inf)
    with torch.no_grad():
        return max(changes.values()) / float(layer(x).abs().max())


def change_of_images(
    layer: nn.Module, turned: Callable[[Tensor], Iterator[Tensor]], x: Tensor
) -> float:
    """As `change_of_ours` of a layer on (B, C, H, W), `turned` yielding all images of a tensor."""
    with torch.no_grad():
        y = layer(x)
        pairs = zip(turned(x), turned(y), strict=True)
        most = max(float((layer(image) - moved).abs().max()) for image, moved in pairs)
        return most / float(y.abs().max())


def turned_pixels(x: Tensor) -> Iterator[Tensor]:
    """Images by quarter turns and flipped, their channels left alone."""
    for image in (x, x.flip(3)):
        for quarters in range(4):
            yield image.rot90(quarters, (2, 3))


def layers(side: int, device: str) -> Iterator[tuple[str, nn.Module, Tensor, float]]:
    """Each with its name, a signal for it, and how much turning that changes its output."""
    pixels = torch.randn(BATCH, NUMBERS, side, side, device=device)
    if installed("escnn", "pip install escnn"):
        layer = SteerableConv().to(device)
        yield "escnn 3 x 3, D4", layer, pixels, change_of_images(layer, layer.turned, pixels)
    for name, manifold, orientations in ((SCALARS, "r2", 1), (ORIENTED, "se2", ORIENTATIONS)):
        n_o = orientations if orientations > 1 else None
        pyramid = pyramid_of(GraphSpec(manifold, side, orientations=n_o, levels=1)).to(device)
        graph, channels = pyramid.levels[0], NUMBERS // orientations
        ours = ChebConv(channels, channels, KERNEL_SIZE, graph, bias=False).to(device)
        x = torch.randn(graph.num_vertices, BATCH, channels, device=device).permute(1, 2, 0)
        yield name, ours, x, change_of_ours(ours, pyramid, x)
    plain = nn.Conv2d(NUMBERS, NUMBERS, SIZE, padding=SIZE // 2, bias=False).to(device)
    yield PLAIN, plain, pixels, change_of_images(plain, turned_pixels, pixels)


def steerable_layers(rounds: int, device: str, *, quick: bool) -> None:
    """Print the table."""
    print("### Layers that are equivariant under quarter turns and flips\n")
    side = 8 if quick else 32
    progress("D4: turning images")
    made = list(layers(side, device))
    print(
        f"{side} x {side} pixels, {NUMBERS} numbers each, B = {BATCH}, float32: {FIELDS} regular "
        f"fields of D4; {NUMBERS} channels on the plane, {NUMBERS // ORIENTATIONS} on "
        f"{ORIENTATIONS} orientations of SE(2), {KERNEL_SIZE} polynomials. A layer whose output "
        f"does not turn with the image, to {TOLERANCE:g}, is refused; a plain convolution does not "
        "promise it.\n"
    )
    changed = {name: change for name, _, _, change in made if name != PLAIN}
    refused = {n: "turns otherwise" for n, off in changed.items() if not off <= TOLERANCE}
    works = {
        name: partial(forth_and_back, layer, x.detach().requires_grad_(), torch.ones_like(x))
        for name, layer, x, _ in made
        if name not in refused
    }
    took = in_turns(works, rounds, device, warm=True)
    print_head("layer", "parameters", "turned image", "forward + backward (quartiles)", "/ ours")
    for name, layer, _, change in made:
        times = times_or_refusal(name, took, ORIENTED, refused)
        print_row(name, f"{parameters(layer):,}", f"{change:.1e}", *times)
