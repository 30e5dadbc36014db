"""The Chebyshev convolution of signals on a graph."""

import math

import torch
from torch import Tensor, nn

from cheblienet_models.graphs.graph import Graph
from cheblienet_models.layers.chebyshev import chebyshev, chebyshev_basis
from cheblienet_models.tensors.layout import logical, vertex_major


class ChebConv(nn.Module):
    """Spectral convolution by a polynomial of the rescaled Laplacian L = 2 Delta/lambda_max - I.

    y = sum_{k < K} T_k(L) x W_k + b with T_0 = 1, T_1 = L, T_k = 2 L T_{k-1} - T_{k-2}
    (Defferrard, Bresson, Vandergheynst 2016). Equivariant under every symmetry of the graph.

    Results are vertex-major in memory, (V, B, C) behind the logical (B, C, V), and so is what the
    layer works on: between layers of this package nothing is transposed.

    Args:
        in_channels, out_channels: at least 1.
        kernel_size: K >= 1, the number of polynomials; vertices K - 1 edges away are reached.
        graph: shared, not copied.
        bias: whether to add b.
        save_basis: keep T_k(L) x for the backward. Costs K - 1 times the memory of the input; saves
            up to half of the backward's sparse products where out_channels > in_channels.

    Attributes:
        weight: (K, in, out), Kaiming-normal with fan-in K * in.
        bias: (out,), or None.

    Raises:
        ValueError: a size below 1.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        graph: Graph,
        bias: bool = True,  # noqa: FBT001, FBT002 -- as torch.nn.Conv2d has it
        *,
        save_basis: bool = False,
    ) -> None:
        super().__init__()
        for name, size in (
            ("in_channels", in_channels),
            ("out_channels", out_channels),
            ("kernel_size", kernel_size),
        ):
            if size < 1:
                raise ValueError(f"{name} must be at least 1. Got {size}.")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.graph, self.save_basis = kernel_size, graph, save_basis
        self.weight = nn.Parameter(torch.empty(kernel_size, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights; the bias becomes 0."""
        nn.init.normal_(self.weight, std=math.sqrt(2 / (self.kernel_size * self.in_channels)))
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, V) -> (B, out_channels, V).

        Under autocast the input is cast as for a linear layer and the result has that dtype; the
        recursion itself runs in the dtype of the graph, float32 unless the graph is double.

        Raises:
            ValueError: x has another shape, dtype or device; the message states both.
        """
        self._check(x)
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        graph = self.graph
        parts = (vertex_major(x), self.weight, *graph.laplacian_parts(training=self.training))
        y: Tensor
        if self.save_basis and self.kernel_size > 1:
            y, _ = chebyshev_basis(*parts)
        else:
            y = chebyshev(*parts)
        if self.bias is not None:
            y = y + self.bias.to(y.dtype)
        return logical(y)

    def _check(self, x: Tensor) -> None:
        graph, expected = self.graph, (self.in_channels, self.graph.num_vertices)
        if x.ndim != 3 or x.shape[1] != expected[0] or x.shape[2] != expected[1]:
            raise ValueError(
                f"ChebConv on {graph.label} takes (B, {expected[0]}, {expected[1]}), that is "
                f"(batch, channels, vertices). Got {tuple(x.shape)}."
            )
        if x.device != graph.values.device:
            raise ValueError(
                f"ChebConv on {graph.label} takes a tensor on {graph.values.device}, where its "
                f"graph is. Got one on {x.device}; move either with .to()."
            )
        if not x.is_floating_point() or (
            x.dtype != self.weight.dtype and not torch.is_autocast_enabled(x.device.type)
        ):
            raise ValueError(
                f"ChebConv on {graph.label} takes {self.weight.dtype}, as its weights are. "
                f"Got {x.dtype}; move either with .to()."
            )

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
