"""The Chebyshev convolution."""

import math

import torch
from torch import Tensor, nn

from cheblienet_models.graph import Graph, csr_tensor


@torch.library.custom_op("cheblienet::laplacian_product", mutates_args=())
def laplacian_product(row_pointers: Tensor, columns: Tensor, values: Tensor, x: Tensor) -> Tensor:
    """L x for a symmetric CSR matrix L (V, V) and a dense x (V, N) of L's dtype."""
    with torch.autocast(x.device.type, enabled=False):
        return csr_tensor(row_pointers, columns, values, len(x)) @ x


@laplacian_product.register_fake
def _(row_pointers: Tensor, columns: Tensor, values: Tensor, x: Tensor) -> Tensor:  # noqa: ARG001
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _keep_laplacian(
    ctx: torch.autograd.function.FunctionCtx, inputs: tuple[Tensor, ...], output: Tensor
) -> None:
    del output
    ctx.save_for_backward(*inputs[:3])


def _backward(
    ctx: torch.autograd.function.FunctionCtx, gradient: Tensor
) -> tuple[None, None, None, Tensor]:
    """L is constant and symmetric, so the gradient with respect to x is L times that of L x."""
    laplacian = ctx.saved_tensors  # type: ignore[attr-defined]
    return None, None, None, laplacian_product(*laplacian, gradient.contiguous())


laplacian_product.register_autograd(_backward, setup_context=_keep_laplacian)


class ChebConv(nn.Module):
    """Spectral convolution by a polynomial of the rescaled Laplacian L = 2 Delta/lambda_max - I.

    y = sum_{k < K} T_k(L) x W_k + b with T_0 = 1, T_1 = L, T_k = 2 L T_{k-1} - T_{k-2}
    (Defferrard, Bresson, Vandergheynst 2016). Equivariant under every symmetry of the graph.

    Args:
        in_channels, out_channels: at least 1.
        kernel_size: K >= 1, the number of polynomials; vertices K - 1 edges away are reached.
        graph: shared, not copied.
        bias: whether to add b.

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
        self.kernel_size, self.graph = kernel_size, graph
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

        Raises:
            ValueError: x has another shape.
        """
        expected = (self.in_channels, self.graph.num_vertices)
        if x.ndim != 3 or x.shape[1:] != expected:
            raise ValueError(
                f"ChebConv on {self.graph.label} takes (B, {expected[0]}, {expected[1]}), that is "
                f"(batch, channels, vertices). Got {tuple(x.shape)}."
            )
        batch, channels, vertices = x.shape
        vertex_major = x.permute(2, 0, 1).reshape(vertices, batch * channels).contiguous()
        first, *others = (t.view(vertices * batch, channels) for t in self._terms(vertex_major))
        total = nn.functional.linear(first, self.weight[0].T, self.bias)
        for term, weight in zip(others, self.weight[1:], strict=True):
            total = torch.addmm(total, term, weight)
        return total.view(vertices, batch, self.out_channels).permute(1, 2, 0)

    def _terms(self, x: Tensor) -> list[Tensor]:
        """T_k(L) x for k < K, each (V, N)."""
        terms = [x]
        while len(terms) < self.kernel_size:
            product = self._product(terms[-1])
            terms.append(product if len(terms) == 1 else product.mul_(2).sub_(terms[-2]))
        return terms

    def _product(self, x: Tensor) -> Tensor:
        graph = self.graph
        parts = (graph.row_pointers, graph.columns, graph.values)
        product: Tensor = laplacian_product(*parts, x.to(graph.values.dtype))
        return product.to(x.dtype)

    def extra_repr(self) -> str:
        """What print(layer) shows."""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
