"""The graph Laplacian, assembled in row blocks.

Every function here takes the rows of one block and returns the same bytes whatever the block: sums
run over a row's values in ascending order, so they depend neither on the order of the vertices nor
on how the rows were cut.
"""

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.sparse.blocks import RowBlock
from cheblienet_graphs.typing import Floats


def inverse_root(mass: Floats) -> Floats:
    """N^-1/2, and 0 where N is 0, as for isolated vertices."""
    with np.errstate(divide="ignore"):
        return np.where(mass > 0, 1 / np.sqrt(mass), 0.0)


def laplacian(
    block: RowBlock, weights: Floats, degree: Floats, inverse_root_mass: Floats
) -> Floats:
    """Entries of Delta = N^-1/2 (D - W) N^-1/2; rows of isolated vertices are 0.

    Args:
        block: the rows.
        weights: (nnz,) edge weights, 0 on the diagonal.
        degree: (V,) D.
        inverse_root_mass: (V,) N^-1/2: of the degrees for the normalized Laplacian, so that it is
            I - D^-1/2 W D^-1/2, of the areas for the combinatorial one.
    """
    rows = block.rows
    # One product of both factors, so that the two directions of an edge agree to the last bit.
    values = -weights * (inverse_root_mass[rows] * inverse_root_mass[block.columns])
    own = slice(block.start, block.stop)
    values[rows == block.columns] = degree[own] * inverse_root_mass[own] ** 2
    return values


def rescaled(
    values: npt.NDArray[np.float32], diagonal: npt.NDArray[np.bool_], lambda_max: float
) -> Floats:
    """Entries of 2 Delta / lambda_max - I from those of Delta.

    Args:
        values: (nnz,) entries of Delta.
        diagonal: (nnz,) which of them are on the diagonal.
        lambda_max: the scale.
    """
    scaled = values.astype(np.float64) * (2 / lambda_max)
    scaled[diagonal] -= 1
    return scaled
