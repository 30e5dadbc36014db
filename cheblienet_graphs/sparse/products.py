"""Products with matrices that are larger than memory."""

from collections.abc import Callable

import numpy as np
import scipy.sparse

from cheblienet_graphs.sparse.rows import row_blocks, rows
from cheblienet_graphs.typing import Floats

Product = Callable[[Floats], Floats]
"""x -> A x in a new array, for x of shape (V,) or (V, m)."""

CAST_AT_ONCE = 2**22
"""Matrices of up to this many stored entries are cast to float64 once, larger ones each time."""
ENTRIES = 2**17
"""Stored entries that are cast together."""


def mapped_product(
    matrix: scipy.sparse.csr_array, *, cast_at_once: int = CAST_AT_ONCE, entries: int = ENTRIES
) -> Product:
    """The product with a matrix of float32 values, in float64.

    Row blocks are cast one at a time, so that memory holds no copy of a large matrix. scipy keeps
    the interpreter's lock during products: threads would gain nothing.

    Args:
        matrix: (V, V), possibly over mapped files.
        cast_at_once: most stored entries of a matrix that is cast as a whole, once.
        entries: stored entries of a block.

    Returns:
        x -> A x for float64 x of shape (V,) or (V, m). The products are the same to the last bit
        whatever the last two arguments.
    """
    if matrix.nnz <= cast_at_once:
        wide = matrix.astype(np.float64)

        def whole(x: Floats) -> Floats:
            image: Floats = wide @ x
            return image

        return whole
    blocks = list(row_blocks(matrix.indptr, entries))

    def by_blocks(x: Floats) -> Floats:
        image = np.empty((matrix.shape[0], *x.shape[1:]))
        for start, stop in blocks:
            image[start:stop] = rows(matrix, start, stop) @ x
        return image

    return by_blocks
