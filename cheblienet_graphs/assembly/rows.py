"""The rows of a level's Laplacian, whatever they come from."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.typing import Floats, Indices

Entries = tuple[npt.NDArray[np.signedinteger[Any]], npt.NDArray[np.floating[Any]]]
"""Columns and values of the entries of some rows."""


class Scaling(NamedTuple):
    """What the entries of a Laplacian are made from, besides weights.

    Args:
        lambda_max: by which entries are rescaled; None leaves them those of Delta.
        degree: (V,) D; copied rows, which have all they need, do without.
        inverse_root: (V,) N^-1/2; the same.
    """

    lambda_max: float | None
    degree: Floats = np.empty(0)
    inverse_root: Floats = np.empty(0)


Ends = npt.NDArray[np.signedinteger[Any]]
"""(rows + 1,) where each row begins, and where the last one ends."""


class Rows(Protocol):
    """The rows of a lattice, of a part of one, of a search or of listed edges.

    What is returned is the same to the bit however the rows are cut into blocks. Rows are made of a
    level, in any process, and kept there from block to block.

    Attributes:
        level: with all that was computed of it.
    """

    level: Level

    @property
    def bandwidth(self) -> float | None:
        """The kernel's t, None without a kernel."""

    @property
    def dropped_edges(self) -> int:
        """How many were left out because their weight came out 0."""

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """(stop - start,) entries of each row, its diagonal among them, and sums of its weights."""

    def entries(self, start: int, ends: Ends, scaling: Scaling) -> Entries:
        """(nnz,) columns, ascending in each row, and values of some rows.

        Args:
            start: the first row.
            ends: of these rows.
            scaling: of all vertices.
        """
