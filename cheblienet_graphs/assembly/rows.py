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
        degree: (V,) D.
        inverse_root: (V,) N^-1/2.
        lambda_max: by which entries are rescaled; None leaves them those of Delta.
    """

    degree: Floats
    inverse_root: Floats
    lambda_max: float | None


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
            scaling: of all vertices; rows that know it beforehand take lambda_max alone.
        """
