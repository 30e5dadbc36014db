"""What networks are made of: an entrance for signals, batch normalization, residual blocks."""

from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import (
    check_dtype,
    check_signal,
    check_tensor,
    choice,
    integer,
    number,
)
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.layers.cheb_conv import ChebConv, Operators
from cheblienet_models.layers.lifting import Lift, has_orientations, is_lifted
from cheblienet_models.layers.oriented_lift import OrientedLift
from cheblienet_models.layers.wavelets import Kind
from cheblienet_models.tensors import check_finite, logical, vertex_major

LiftChoice = Literal["repeat", "cake", "gabor"] | nn.Module
"""How a network lifts images: repeated over orientations, by an `OrientedLift` of one scale, or by
a module that makes (B, C', V) of them, C' being C, or `num_scales` times C where it has that."""


def chosen_lift(graph: Graph, lift: LiftChoice) -> nn.Module:
    """The lift that a choice stands for.

    Raises:
        ValueError: another choice, or one that the graph does not allow.
    """
    if isinstance(lift, nn.Module):
        return lift
    kind = choice("lift", lift, ("repeat", *get_args(Kind)), more="a module")
    return Lift(graph) if kind == "repeat" else OrientedLift(graph, kind)


def lifted_channels(lift: nn.Module, in_channels: int) -> int:
    """How many channels a lift makes of so many."""
    scales: int = getattr(lift, "num_scales", 1)
    return in_channels * scales


def check_entering(
    name: str,
    graph: Graph,
    lift: nn.Module,
    places: Lift,
    channels: tuple[int, int],
    signal: Tensor,
) -> None:
    """Check that a network's signal has a shape that it takes.

    Args:
        name: of the network, for messages.
        graph: the finest level.
        lift: of images; those that name no sizes take the images of `places`.
        places: of signals that have orientations.
        channels: of an image, and of a lifted one.
        signal: (B, C, *base shape), or as `entered` takes it.

    Raises:
        TypeError: it is no tensor.
        ValueError: it has another shape, or no floating-point dtype.
    """
    check_tensor(name, signal)
    images = getattr(lift, "sizes", places.sizes)
    fibres = [*[graph.grid] * (graph.orientations > 1), (graph.num_vertices,)]
    taken = [(channels[0], *size) for size in images if size not in fibres]
    taken += [(channels[1], *size) for size in fibres]
    if tuple(signal.shape[1:]) not in taken:
        shapes = " or ".join(f"(B, {', '.join(map(str, shape))})" for shape in taken)
        raise ValueError(f"{name} on {graph.label} takes {shapes}. Got {tuple(signal.shape)}.")
    check_dtype(name, signal)


def entered(
    name: str, graph: Graph, lift: nn.Module, places: Lift, x: Tensor, *, finite: bool
) -> Tensor:
    """A network's signal on the vertices, (B, C', V).

    Args:
        name: of the network, for messages.
        graph: the finest level.
        lift: of images.
        places: of signals that have orientations.
        x: (B, C, *base shape) and what else the lift takes, or (B, C', n_o, *base shape), or
            (B, C', V).
        finite: whether to search for values that are not.

    Raises:
        ValueError: x has another shape, or values that are not finite.
    """
    of_orientations = has_orientations(graph.grid, x)
    put = places if of_orientations else lift
    lifted: Tensor = x if is_lifted(graph, x) else put(x)
    if finite:
        # Images themselves have a shorter way to say where, but those outside of a mask only count
        # where filters see them.
        inside_counts = graph.base_index is not None and not isinstance(lift, OrientedLift)
        check_finite(name, lifted if of_orientations or inside_counts else x)
    return lifted


class BatchNorm(nn.BatchNorm1d):
    """torch.nn.BatchNorm1d for (B, C, V), over batch and vertices, in vertex-major memory.

    Same parameters, buffers and results; torch's own would copy the signal there and back.

    Args:
        num_features: channels, at least 1.
        eps: added to the variance, above 0.
        momentum: of the running statistics; None for the mean of all batches.
        others: torch's: affine, track_running_stats, device, dtype.

    Raises:
        TypeError: num_features is no integer, or eps or momentum no number.
        ValueError: num_features is below 1, or eps not above 0.
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, **others: Any
    ) -> None:
        average = None if momentum is None else number("momentum", momentum)
        if number("eps", eps) <= 0:
            raise ValueError(f"eps must be above 0. Got {eps}.")
        super().__init__(integer("num_features", num_features, 1), eps, average, **others)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, or no floating-point dtype.
        """
        check_signal("BatchNorm", x, ("B", self.num_features, "V"))
        vertices = vertex_major(x)
        # As an image of height V and width B with its channels last, for which there are kernels.
        image = vertices.permute(2, 0, 1).unsqueeze(0)
        return logical(super().forward(image).squeeze(0).permute(1, 2, 0))

    def _check_input_dim(self, input: Tensor) -> None:  # noqa: A002 -- torch's name
        """The image above has four dimensions; `forward` has checked what it was given."""


class ResidualBlock(nn.Module):
    """x + conv(relu(norm(conv(relu(norm(x)))))), with a pointwise map where widths differ.

    Args:
        in_channels, out_channels: widths.
        kernel_size: of both Chebyshev convolutions.
        graph: where.
        operators: of these, as ChebConv has it.

    Raises:
        TypeError, ValueError: as ChebConv.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        graph: Graph,
        operators: Operators = "laplacian",
    ) -> None:
        super().__init__()
        self.norm1 = BatchNorm(in_channels)
        self.conv1 = ChebConv(
            in_channels, out_channels, kernel_size, graph, bias=False, operators=operators
        )
        self.norm2 = BatchNorm(out_channels)
        self.conv2 = ChebConv(
            out_channels, out_channels, kernel_size, graph, bias=False, operators=operators
        )
        same = in_channels == out_channels
        self.skip = (
            nn.Identity() if same else ChebConv(in_channels, out_channels, 1, graph, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, V) -> (B, out_channels, V)."""
        y: Tensor = self.conv1(torch.relu(self.norm1(x)))
        y = self.conv2(torch.relu(self.norm2(y)))
        x = self.skip(x)
        return y + x
