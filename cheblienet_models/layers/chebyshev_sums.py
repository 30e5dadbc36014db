"""Sums of Chebyshev polynomials of a sparse symmetric matrix, without derivatives.

Signals are vertex-major here, (V, B, C); each recursion may run on the narrower side.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from cheblienet_models.tensors.sparse import csr_tensor

SLICES = 64
"""Tall matrices are cut into so many parts, which are multiplied side by side."""

Laplacian = tuple[Tensor, Tensor, Tensor]
"""Row pointers (V + 1,), columns and values (nnz,) of a symmetric CSR matrix (V, V)."""


class Product:
    """L times dense matrices of its own dtype, on whatever device it is.

    Args:
        laplacian: L.

    Attributes:
        dtype: of L, and of all that it is multiplied with.
    """

    def __init__(self, laplacian: Laplacian) -> None:
        self.dtype, vertices = laplacian[2].dtype, len(laplacian[0]) - 1
        self._matrix = csr_tensor(*laplacian, (vertices, vertices))

    def __call__(self, x: Tensor) -> Tensor:
        """L x for x (V, N)."""
        return torch.empty_like(x).addmm_(self._matrix, x, beta=0)

    def onto(self, target: Tensor, x: Tensor, scale: float) -> Tensor:
        """Overwrite target (V, N) with scale L x - target."""
        return target.addmm_(self._matrix, x, beta=-1, alpha=scale)

    def added(self, target: Tensor, x: Tensor, scale: float = 1) -> None:
        """Add scale L x to target (V, N)."""
        target.addmm_(self._matrix, x, alpha=scale)

    def polynomials(
        self, x: Tensor, count: int, scratch: tuple[Tensor, Tensor] | None = None
    ) -> Iterator[Tensor]:
        """T_1(L) x, T_2(L) x, ... T_{count - 1}(L) x, in two buffers that take turns.

        Args:
            x: (V, N).
            count: of the terms, x itself among them.
            scratch: the buffers, of x's shape and dtype; made where left out.
        """
        if count < 2:
            return
        first = torch.empty_like(x) if scratch is None else scratch[0]
        before, last = x, first.addmm_(self._matrix, x, beta=0)
        yield last
        for step in range(2, count):
            # The first to be overwritten would be the caller's x.
            if step == 2:
                target = x.clone() if scratch is None else scratch[1].copy_(x)
            else:
                target = before
            before, last = last, self.onto(target, last, 2)
            yield last


def sum_by_powers(product: Product, x: Tensor, weight: Tensor) -> Tensor:
    """sum_k T_k(L) x W_k, the recursion running on x.

    Args:
        product: with L (V, V).
        x: (V, B, in), contiguous.
        weight: (K, in, out).

    Returns:
        (V, B, out).
    """
    total = applied(x, weight[0])
    for k, term in enumerate(product.polynomials(x.flatten(1), len(weight)), 1):
        as_rows(total).addmm_(as_rows(term.view_as(x)), weight[k])
    return total


def sum_by_clenshaw(product: Product, x: Tensor, weight: Tensor) -> Tensor:
    """As `sum_by_powers`, by b_k = x W_k + 2 L b_{k+1} - b_{k+2}, which runs on the result."""
    last = applied(x, weight[-1])
    before: Tensor | None = None
    for k in range(len(weight) - 2, -1, -1):
        scale, image = (2 if k else 1), last.flatten(1)
        if before is None:
            following = product(image).mul_(scale)
        else:
            following = product.onto(before.flatten(1), image, scale)
        before, last = last, following.view_as(last)
        as_rows(last).addmm_(as_rows(x), weight[k])
    return last


def applied(x: Tensor, matrix: Tensor) -> Tensor:
    """X W, (V, B, in) -> (V, B, out)."""
    return (as_rows(x) @ matrix).view(*x.shape[:2], matrix.shape[1])


def as_rows(x: Tensor) -> Tensor:
    """(V, B, C) -> (V B, C), a view."""
    return x.view(x.shape[0] * x.shape[1], x.shape[2])


def chebyshev_sum(product: Product, x: Tensor, weight: Tensor) -> Tensor:
    """As `sum_by_powers`, the recursion running on the narrower of x and the result."""
    shrinks = weight.shape[2] <= weight.shape[1]
    return (sum_by_clenshaw if shrinks else sum_by_powers)(product, x, weight)


def weight_moments(product: Product, x: Tensor, g: Tensor, count: int) -> Tensor:
    """x^T T_k(L) g for k < count: x (V, B, in) and g (V, B, out) -> (count, in, out)."""
    narrow_x = x.shape[2] <= g.shape[2]
    start = x if narrow_x else g
    moments = [contracted(as_rows(x), as_rows(g))]
    for term in product.polynomials(start.flatten(1), count):
        rows = as_rows(term.view_as(start))
        moments.append(contracted(rows, as_rows(g)) if narrow_x else contracted(as_rows(x), rows))
    return torch.stack(moments)


def contracted(a: Tensor, b: Tensor) -> Tensor:
    """a^T b for tall (N, in) and (N, out), in slices: one product would share its work badly."""
    tall = len(a) // SLICES * SLICES
    sliced = (m[:tall].view(SLICES, tall // SLICES, m.shape[1]) for m in (a, b))
    head = torch.bmm(next(sliced).transpose(1, 2), next(sliced)).sum(0)
    return head if tall == len(a) else head.addmm_(a[tall:].T, b[tall:])


def shared_recursion(
    product: Product, g: Tensor, x: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """Both gradients of `sum_by_powers` from one run of T_k(L) g.

    Args:
        product: with L (V, V).
        g: (V, B, out), the gradient by the result.
        x: (V, B, in).
        transposed: (K, out, in), the weights' transposes.

    Returns:
        sum_k T_k(L) g W_k^T (V, B, in) and x^T T_k(L) g (K, in, out).
    """
    by_x = applied(g, transposed[0])
    moments = [contracted(as_rows(x), as_rows(g))]
    for matrix, term in zip(
        transposed[1:], product.polynomials(g.flatten(1), len(transposed)), strict=True
    ):
        rows = as_rows(term.view_as(g))
        as_rows(by_x).addmm_(rows, matrix)
        moments.append(contracted(as_rows(x), rows))
    return by_x, torch.stack(moments)
