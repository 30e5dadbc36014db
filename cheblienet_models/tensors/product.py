"""Products of a sparse symmetric matrix with dense ones, and Chebyshev polynomials of it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from cheblienet_models.tensors.sparse import csr_tensor

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
