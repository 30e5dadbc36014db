"""Smoothing as a sparse matrix: rows of the filter, a block of neighbors at a time.

A block's rows are the same polynomial of the part of the Laplacian on the vertices within some
edges of the block. What sums of rows lack there is what the beam carries further, as heat is
lost at a side that absorbs it: the part grows until they lack next to nothing.

What is left out of a row is added to its diagonal, with pairs of entries left out together: so sums
of rows are 1, and integrals stay, as the polynomial is symmetric.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from cheblienet_graphs.typing import Floats, Indices
from cheblienet_models.arguments import flag, number
from cheblienet_models.fields.smoothing import Beam, beam_of, plane_weights, positions_of
from cheblienet_models.graphs.families import check_family
from cheblienet_models.graphs.filters import exact
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.polynomials import Polynomial
from cheblienet_models.graphs.pyramid import Pyramid, level_of
from cheblienet_models.tensors import CsrParts, csr_tensor

if TYPE_CHECKING:
    import scipy.sparse

LEFT_OUT = 0.4
"""Most that is left out of a row, in units of the tolerance: on the diagonal it counts again."""
BEYOND = 0.02
"""Most that sums of a block's rows may lack, in the same units."""
BLOCK = 256
"""Most rows of a block."""
FEWEST_STEPS = 4
"""Edges around the first block, to begin with."""


def smoothing_matrix(
    pyramid: Pyramid,
    fwhm: float,
    *,
    level: int = 0,
    tolerance: float = 1e-4,
    allow_inconsistent: bool = False,
) -> Tensor:
    """`smooth` of fields without missing values, as a sparse matrix with rows that sum to 1.

    It keeps constants and, without a mask or a region on s2, integrals, sum(N x) with N
    `Graph.mass`, both to rounding in float32. `save_npz` writes it in the layout of
    scipy.sparse.save_npz, as weather models read smoothing matrices. A row has about
    2.6 log10(2.5 / tolerance) (fwhm / spacing)^2 entries on s2, the spacing being the root of a
    point's area; time goes with that number, and with the square root of lambda_max.

    Args:
        pyramid: of the fields.
        fwhm: as of `smooth`.
        level: of the pyramid, 0 the finest.
        tolerance: in [1e-8, 0.1]: the matrix times a field differs from the field smoothed by at
            most this times the field's largest value, rounding in float32 apart.
        allow_inconsistent: as of `smooth`.

    Returns:
        (V, V) sparse CSR float32, on the CPU. Entries below 0 occur, as
        polynomials of the Laplacian have them where few points lie within the beam.

    Raises:
        TypeError: an argument is of another type.
        ValueError: fwhm or the tolerance is out of range, there is no such level, or the graph has
            no `eigenvalue_scale`, or does not converge to its metric.
    """
    graph = level_of(pyramid, level)
    if not 1e-8 <= number("tolerance", tolerance) <= 0.1:
        raise ValueError(f"tolerance must be in [1e-08, 0.1]. Got {tolerance!r}.")
    beam = beam_of(pyramid, graph, fwhm)
    if not flag("allow_inconsistent", allow_inconsistent):
        check_family("smoothing_matrix", graph)
    rows = _BeamRows(beam)
    fits = len(beam.positions) > 0 and graph.base_index is not None
    return _tensor(rows.fitted(tolerance) if fits else rows.symmetric(tolerance))


class Rows:
    """Rows of a graph's polynomials.

    Args:
        graph: of the polynomials.

    Attributes:
        laplacian: (V, V) float64, its spectrum within [-1, 1].
        root: (V,) of the mass; 1 where that is 0.
        places: (V, k), by which vertices are cut into blocks.
    """

    def __init__(self, graph: Graph) -> None:
        import scipy.sparse  # networks and graphs do without scipy

        operator = graph.operator()
        parts = exact(operator.laplacian, operator.mass)
        pointers, columns, values = (part.cpu().numpy() for part in parts)
        mass = operator.mass.double().cpu().numpy()
        self.root = np.sqrt(np.where(mass > 0, mass, 1))
        shape = len(mass), len(mass)
        self.laplacian = scipy.sparse.csr_array((values, columns, pointers), shape=shape)
        on_sphere = graph.stored.spec.manifold == "s2"
        places = positions_of(graph).T if on_sphere else graph.coordinates
        self.places: Floats = places.cpu().numpy()

    def blocks(
        self, tolerance: float, *polynomials: Polynomial
    ) -> Iterator[tuple[Indices, Indices, list[Floats]]]:
        """Vertices, vertices around them, and (block, part) of each polynomial.

        Args:
            tolerance: of rows, in units of their values at eigenvalue 0.
            polynomials: none of them 0 there.
        """
        series = [p.coefficients[:, 0].tolist() for p in polynomials]
        constant = [sum(c[::2]) - sum(c[1::2]) for c in series]
        steps, degree = FEWEST_STEPS, max(map(len, series)) - 1
        for block in _blocks(self.places):
            steps, part = max(FEWEST_STEPS, steps - 1), np.array([], int)
            while True:
                before, part = len(part), self._around(block, min(steps, degree))
                within = np.searchsorted(part, block)
                inner = self.laplacian[part][:, part]
                sums = _sums(inner, self.root[part], series)
                shares = (
                    s[within] / self.root[block] / c for s, c in zip(sums, constant, strict=True)
                )
                lacking = max(abs(share - 1).max() for share in shares)
                if lacking <= BEYOND * tolerance or steps >= degree or len(part) == before:
                    break
                steps += max(1, steps // 4)
            start = np.zeros((len(part), len(block)))
            start[within, np.arange(len(block))] = 1
            yield block, part, [each.T for each in _sums(inner, start, series)]

    def _around(self, block: Indices, steps: int) -> Indices:
        """The vertices within so many edges of a block, ascending."""
        part = block
        for _ in range(steps):
            wider = np.unique(self.laplacian[part].indices)  # diagonals are among them
            if len(wider) == len(part):
                break
            part = wider
        return part.astype(np.int64)


class _BeamRows(Rows):
    """Rows of a beam's polynomials.

    Args:
        beam: of the graph.
    """

    def __init__(self, beam: Beam) -> None:
        super().__init__(beam.graph)
        self.beam = beam

    def symmetric(self, tolerance: float) -> "scipy.sparse.csr_array":
        """The beam: N^-1/2 p N^1/2, without pairs of small entries."""
        found = []
        for block, part, (p,) in self.blocks(tolerance, self.beam.blur):
            rows = p * self.root[part] / self.root[block, None]
            found.append(_kept(block, part, rows, tolerance, p))
        kept = _collected(found, len(self.root))
        count = kept.copy()
        count.data[:] = 1  # 1 where one row has left an entry out
        count = (count + count.T).tocsr()
        count.data = 1 / count.data
        matrix = (kept + kept.T).multiply(count).tocsr()
        matrix.data *= self.root[matrix.indices]
        matrix.data /= np.repeat(self.root, np.diff(matrix.indptr))
        return matrix

    def fitted(self, tolerance: float) -> "scipy.sparse.csr_array":
        """The matrix with planes fitted at sides as in `smooth`, by heat kernel and beam."""
        found = []
        weights = plane_weights(self.beam).cpu().numpy()
        powers = np.concatenate([np.ones((1, len(self.root))), self.places.T])
        for block, part, both in self.blocks(tolerance, self.beam.heat, self.beam.blur):
            heat, blurred = (p * self.root[part] / self.root[block, None] for p in both)
            rows = heat * (weights[:, block].T @ powers[:, part]) + blurred - heat
            found.append(_kept(block, part, rows, tolerance, rows))
        return _collected(found, len(self.root))


def _kept(
    block: Indices, part: Indices, rows: Floats, tolerance: float, values: Floats
) -> tuple[Indices, Indices, Floats]:
    """Rows, columns and values (n,) of entries that are not left out of the whole matrix.

    The largest of each row (block, part), and its diagonal; the values may belong to other rows.
    """
    size = abs(rows)
    ascending = np.sort(size, axis=1)
    few = (np.cumsum(ascending, axis=1) <= LEFT_OUT * tolerance).sum(1, keepdims=True)
    least = np.take_along_axis(ascending, np.minimum(few, len(part) - 1), 1)
    row, column = np.nonzero((size >= least) | (block[:, None] == part))
    return block[row], part[column], values[row, column]


def _collected(found: list[tuple[Indices, Indices, Floats]], size: int) -> "scipy.sparse.csr_array":
    """One matrix of the entries of all blocks."""
    import scipy.sparse

    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(size, size))


def _blocks(places: Floats) -> Iterator[Indices]:
    """Vertices in blocks of neighbors, ascending: cut in two along their longest side."""
    left = [np.arange(len(places))]
    while left:
        block = left.pop()
        if len(block) <= BLOCK:
            yield np.sort(block)
            continue
        axis = np.ptp(places[block], axis=0).argmax()
        half = np.argsort(places[block, axis], kind="stable")
        left += [block[half[: len(half) // 2]], block[half[len(half) // 2 :]]]


def _sums(matrix: Any, start: Floats, series: list[list[float]]) -> list[Floats]:
    """sum_k c_k T_k(matrix) start, for each series."""
    totals = [coefficients[0] * start for coefficients in series]
    before = start
    last = matrix @ start
    for k in range(1, max(map(len, series))):
        for total, coefficients in zip(totals, series, strict=True):
            if k < len(coefficients):
                total += coefficients[k] * last
        before, last = last, 2 * (matrix @ last) - before
    return totals


def _tensor(matrix: Any) -> Tensor:
    """The matrix in float32, with a diagonal that makes sums of rows 1."""
    matrix = matrix.astype(np.float32)
    matrix.setdiag(0)
    matrix.setdiag(1 - matrix.astype(np.float64).sum(axis=1))
    matrix.sort_indices()
    return csr_tensor(CsrParts.of(matrix), matrix.shape[1])
