"""The residual block that the networks are made of."""

import torch
from torch import Tensor, nn

from cheblienet_models.graphs.graph import Graph
from cheblienet_models.layers.cheb_conv import ChebConv, Operators
from cheblienet_models.layers.normalisation import BatchNorm


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
