"""The Chebyshev convolution, as one operator with its own backward.

With L symmetric and constant, y = sum_k T_k(L) x W_k has the gradients

    dL/dx = sum_k T_k(L) g W_k^T        and        dL/dW_k = x^T T_k(L) g,

which are Chebyshev sums again: nothing but x has to be kept, and each recursion may run on the
narrower side. Three operators express one another's derivatives, so they can be differentiated any
number of times. Their namespace is the package that a saved program with them needs imported.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from cheblienet_models.graph import Graph, csr_tensor
from cheblienet_models.layout import logical, vertex_major

SLICES = 64

Laplacian = tuple[Tensor, Tensor, Tensor]
"""Row pointers (V + 1,), columns and values (nnz,) of a symmetric CSR matrix (V, V)."""


class _Product:
    """L times dense matrices of its own dtype, on whatever device it is."""

    def __init__(self, laplacian: Laplacian) -> None:
        self.dtype = laplacian[2].dtype
        self._matrix = csr_tensor(*laplacian, len(laplacian[0]) - 1)

    def __call__(self, x: Tensor) -> Tensor:
        """L x for x (V, N)."""
        return torch.empty_like(x).addmm_(self._matrix, x, beta=0)

    def onto(self, target: Tensor, x: Tensor, scale: float) -> Tensor:
        """Overwrite target (V, N) with scale L x - target."""
        return target.addmm_(self._matrix, x, beta=-1, alpha=scale)

    def polynomials(self, x: Tensor, count: int) -> Iterator[Tensor]:
        """T_1(L) x, T_2(L) x, ... T_{count - 1}(L) x, in two buffers that take turns."""
        if count < 2:
            return
        before, last = x, self(x)
        yield last
        for step in range(2, count):
            # The first to be overwritten would be the caller's x.
            target = x.clone() if step == 2 else before
            before, last = last, self.onto(target, last, 2)
            yield last


def _sum_by_powers(product: _Product, x: Tensor, weight: Tensor) -> Tensor:
    """sum_k T_k(L) x W_k, the recursion running on x; (V, B, in) -> (V, B, out)."""
    total = _applied(x, weight[0])
    for k, term in enumerate(product.polynomials(x.flatten(1), len(weight)), 1):
        _rows(total).addmm_(_rows(term.view_as(x)), weight[k])
    return total


def _sum_by_clenshaw(product: _Product, x: Tensor, weight: Tensor) -> Tensor:
    """The same by b_k = x W_k + 2 L b_{k+1} - b_{k+2}, the recursion running on the result."""
    last = _applied(x, weight[-1])
    before: Tensor | None = None
    for k in range(len(weight) - 2, -1, -1):
        scale, image = (2 if k else 1), last.flatten(1)
        if before is None:
            following = product(image).mul_(scale)
        else:
            following = product.onto(before.flatten(1), image, scale)
        before, last = last, following.view_as(last)
        _rows(last).addmm_(_rows(x), weight[k])
    return last


def _applied(x: Tensor, matrix: Tensor) -> Tensor:
    """X W, (V, B, in) -> (V, B, out)."""
    return (_rows(x) @ matrix).view(*x.shape[:2], matrix.shape[1])


def _rows(x: Tensor) -> Tensor:
    """(V, B, C) -> (V B, C), a view."""
    return x.view(x.shape[0] * x.shape[1], x.shape[2])


def _narrower_sum(product: _Product, x: Tensor, weight: Tensor) -> Tensor:
    shrinks = weight.shape[2] <= weight.shape[1]
    return (_sum_by_clenshaw if shrinks else _sum_by_powers)(product, x, weight)


@torch.library.custom_op("cheblienet_models::chebyshev", mutates_args=())
def chebyshev(
    x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> Tensor:
    """sum_k T_k(L) x W_k; x (V, B, in) contiguous, weight (K, in, out) -> (V, B, out) of x's dtype.

    Computed in the dtype of `values`, whatever that of x and weight.
    """
    product = _Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        found = _narrower_sum(product, x.to(product.dtype), weight.to(product.dtype))
    return found.to(x.dtype)


@chebyshev.register_fake
def _(x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor) -> Tensor:
    del row_pointers, columns, values
    return x.new_empty(x.shape[0], x.shape[1], weight.shape[2])


@torch.library.custom_op("cheblienet_models::chebyshev_basis", mutates_args=())
def chebyshev_basis(
    x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """As `chebyshev`, with T_1(L) x, ..., T_{K-1}(L) x (K - 1, V, B, in) for a faster backward."""
    product = _Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        start, matrices = x.to(product.dtype), weight.to(product.dtype)
        total = _applied(start, matrices[0])
        basis = start.new_empty(len(weight) - 1, *x.shape)
        for k, term in enumerate(product.polynomials(start.flatten(1), len(weight))):
            basis[k] = term.view_as(start)
            _rows(total).addmm_(_rows(basis[k]), matrices[k + 1])
    return total.to(x.dtype), basis


@chebyshev_basis.register_fake
def _(
    x: Tensor, weight: Tensor, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    del row_pointers, columns
    y = x.new_empty(x.shape[0], x.shape[1], weight.shape[2])
    return y, values.new_empty(len(weight) - 1, *x.shape)


@torch.library.custom_op("cheblienet_models::chebyshev_moments", mutates_args=())
def chebyshev_moments(
    x: Tensor, g: Tensor, kernel_size: int, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> Tensor:
    """Each x^T T_k(L) g, k < K; x (V, B, in) and g (V, B, out) contiguous -> (K, in, out).

    In the dtype of `values`.
    """
    product = _Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        return _moments(product, x.to(product.dtype), g.to(product.dtype), kernel_size)


def _moments(product: _Product, x: Tensor, g: Tensor, count: int) -> Tensor:
    narrow_x = x.shape[2] <= g.shape[2]
    start = x if narrow_x else g
    moments = [_contracted(_rows(x), _rows(g))]
    for term in product.polynomials(start.flatten(1), count):
        rows = _rows(term.view_as(start))
        moments.append(_contracted(rows, _rows(g)) if narrow_x else _contracted(_rows(x), rows))
    return torch.stack(moments)


def _contracted(a: Tensor, b: Tensor) -> Tensor:
    """a^T b for tall matrices, in slices: a single product would share its work badly."""
    tall = len(a) // SLICES * SLICES
    sliced = (m[:tall].view(SLICES, tall // SLICES, m.shape[1]) for m in (a, b))
    head = torch.bmm(next(sliced).transpose(1, 2), next(sliced)).sum(0)
    return head if tall == len(a) else head.addmm_(a[tall:].T, b[tall:])


@chebyshev_moments.register_fake
def _(
    x: Tensor, g: Tensor, kernel_size: int, row_pointers: Tensor, columns: Tensor, values: Tensor
) -> Tensor:
    del row_pointers, columns
    return values.new_empty(kernel_size, x.shape[2], g.shape[2])


@torch.library.custom_op("cheblienet_models::chebyshev_gradients", mutates_args=())
def chebyshev_gradients(
    g: Tensor,
    x: Tensor,
    weight: Tensor,
    basis: Tensor | None,
    row_pointers: Tensor,
    columns: Tensor,
    values: Tensor,
) -> tuple[Tensor, Tensor]:
    """sum_k T_k(L) g W_k^T (V, B, in) and x^T T_k(L) g (K, in, out), in x's and weight's dtype."""
    product = _Product((row_pointers, columns, values))
    with torch.autocast(x.device.type, enabled=False):
        cotangent, start = g.to(product.dtype), x.to(product.dtype)
        transposed = weight.to(product.dtype).transpose(1, 2)
        count, narrow, wide = weight.shape
        if basis is not None:
            terms = [_rows(start), *(_rows(term) for term in basis)]
            by_weight = torch.stack([_contracted(term, _rows(cotangent)) for term in terms])
            by_x = _narrower_sum(product, cotangent, transposed)
        elif wide < 2 * narrow:  # or two recursions on the narrow side cost no more
            by_x, by_weight = _shared_recursion(product, cotangent, start, transposed)
        else:
            by_weight = _moments(product, start, cotangent, count)
            by_x = _sum_by_clenshaw(product, cotangent, transposed)
    return by_x.to(x.dtype), by_weight.to(weight.dtype)


def _shared_recursion(
    product: _Product, g: Tensor, x: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """Both gradients from one run of T_k(L) g."""
    by_x = _applied(g, transposed[0])
    moments = [_contracted(_rows(x), _rows(g))]
    for matrix, term in zip(
        transposed[1:], product.polynomials(g.flatten(1), len(transposed)), strict=True
    ):
        rows = _rows(term.view_as(g))
        _rows(by_x).addmm_(rows, matrix)
        moments.append(_contracted(_rows(x), rows))
    return by_x, torch.stack(moments)


@chebyshev_gradients.register_fake
def _(
    g: Tensor,
    x: Tensor,
    weight: Tensor,
    basis: Tensor | None,
    row_pointers: Tensor,
    columns: Tensor,
    values: Tensor,
) -> tuple[Tensor, Tensor]:
    del g, basis, row_pointers, columns, values
    return torch.empty_like(x), torch.empty_like(weight)


def _swapped(weight: Tensor) -> Tensor:
    return weight.transpose(1, 2).contiguous()


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    ctx.save_for_backward(*inputs)


def _keep_with_basis(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*inputs, output[1])


def _chebyshev_backward(ctx: Any, g: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    x, weight, *laplacian = ctx.saved_tensors
    basis = laplacian.pop() if len(laplacian) > 3 else None
    g = g.contiguous()
    by_x = by_weight = None
    if ctx.needs_input_grad[0] and ctx.needs_input_grad[1]:
        by_x, by_weight = chebyshev_gradients(g, x, weight, basis, *laplacian)
    elif ctx.needs_input_grad[0]:
        by_x = chebyshev(g, _swapped(weight), *laplacian)
    elif ctx.needs_input_grad[1]:
        by_weight = chebyshev_moments(x, g, len(weight), *laplacian).to(weight.dtype)
    return by_x, by_weight, None, None, None


def _keep_pair(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    x, g, _, *laplacian = inputs
    ctx.save_for_backward(x, g, *laplacian)


def _moments_backward(ctx: Any, m: Tensor) -> tuple[Tensor | None, ...]:
    """x^T T_k g is linear in x and in g."""
    x, g, *laplacian = ctx.saved_tensors
    by_x = chebyshev(g, _swapped(m), *laplacian).to(x.dtype)
    by_g = chebyshev(x, m.contiguous(), *laplacian).to(g.dtype)
    return by_x, by_g, None, None, None, None


def _keep_gradients(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    g, x, weight, _, *laplacian = inputs
    ctx.save_for_backward(g, x, weight, *laplacian)


def _gradients_backward(ctx: Any, u: Tensor, m: Tensor) -> tuple[Tensor | None, ...]:
    """Of sum_k T_k g W_k^T with cotangent u, and of x^T T_k g with cotangent m."""
    g, x, weight, *laplacian = ctx.saved_tensors
    u, m = u.contiguous(), m.contiguous()
    by_g = chebyshev(u, weight, *laplacian) + chebyshev(x, m, *laplacian)
    by_x = chebyshev(g, _swapped(m), *laplacian)
    by_weight = chebyshev_moments(u, g, len(weight), *laplacian)
    return by_g.to(g.dtype), by_x.to(x.dtype), by_weight.to(weight.dtype), *[None] * 4


chebyshev.register_autograd(_chebyshev_backward, setup_context=_keep)
chebyshev_basis.register_autograd(_chebyshev_backward, setup_context=_keep_with_basis)
chebyshev_moments.register_autograd(_moments_backward, setup_context=_keep_pair)
chebyshev_gradients.register_autograd(_gradients_backward, setup_context=_keep_gradients)


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
        """What print(layer) shows."""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
