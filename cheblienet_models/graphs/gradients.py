"""First derivatives along the frame of a graph, as a module over what the store has."""

from collections.abc import Sequence

from torch import Tensor, nn

from cheblienet_graphs.store.layout import FIELDS
from cheblienet_graphs.store.layout import SYMMETRIC as SUMS
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_models.arguments import choice, instance
from cheblienet_models.graphs.mapped import Mapped, Reopen, recipe_of
from cheblienet_models.tensors import CsrParts, csr_tensor

SYMMETRIC = "symmetric_"


class Gradients(Mapped):
    """The matrices G of the F fields of a frame, each (V, V), one below the other.

    Fields are x and y on the plane, x, y and z in space, south and east on the sphere; forward,
    sideways and rotation on SE(2) and SO(3), the left-invariant ones. G is in units of 1 / length,
    the width of the domain or a radian; constants become 0 to float32 rounding. Where orientations
    count modulo pi, forward and sideways are known up to one common sign for each vertex.

    Buffers `row_pointers` (F V + 1,), `columns` and `values` (nnz,) are the stacked matrix, and
    `symmetric_row_pointers`, `symmetric_columns` and `symmetric_values` that of S = G + G^T, of
    which transposes are made as S - G. They follow the graph with `.to()`.

    Args:
        reopen: how to open the graph again.
        stored: the level, which has gradients.

    Attributes:
        names: (F) of the fields.
        norms: (F) bounds of their spectral norms, at least 0.
        units: (F) what layers divide by, 1 / length: that of a step to a neighbor, one for all
            directions of the base, so that frames may turn. Weights then mean the same whatever
            size, boundary and mask; bounds of norms come from few rows at borders.
        starts: (2 F + 2) entries before each field's, of G and then of S, and of all.
    """

    entries = "gradients"

    def __init__(self, reopen: Reopen, stored: LevelFolder) -> None:
        super().__init__(recipe_of(reopen, nn.Module.get_submodule, "gradients"))
        instance("stored", stored, LevelFolder)
        self.label = stored.label
        self.names = stored.spec.geometry.frame
        self.starts: list[int] = []
        for prefix, part in (("", FIELDS), (SYMMETRIC, SUMS)):
            matrix = stored.stacked_gradients(part)
            self.starts += matrix.indptr[:: matrix.shape[1]].tolist()
            self._hold_matrix(prefix, CsrParts.of(matrix))
        facts = stored.of_level.gradients
        self.norms = facts.norms if facts else ()
        self.units = tuple(1 / spacing for spacing in facts.spacings) if facts else ()

    def parts(self) -> list[Tensor]:
        """Row pointers, columns and values of the stacked G, then of S."""
        return [*self._finite_matrix(), *self._finite_matrix(SYMMETRIC)]

    def matrix(self, name: str) -> Tensor:
        """G of a field, (V, V) sparse CSR tensor; row pointers are a copy.

        Raises:
            ValueError: there is no such field.
        """
        n = self.names.index(choice("name", name, self.names))
        matrix = self._finite_matrix()
        vertices = (len(matrix.row_pointers) - 1) // len(self.names)
        return csr_tensor(block(matrix, vertices, n, self.starts), vertices)

    def extra_repr(self) -> str:
        """The line that print(graph.gradients) shows."""
        return f"{self.label}, {', '.join(self.names)}"


def block(matrix: CsrParts, vertices: int, n: int, starts: Sequence[int]) -> CsrParts:
    """Rows n V to (n + 1) V of a matrix, given the entries before each such block."""
    row_pointers = matrix.row_pointers[n * vertices : (n + 1) * vertices + 1]
    within = slice(starts[n], starts[n + 1])
    return CsrParts(row_pointers - starts[n], matrix.columns[within], matrix.values[within])
