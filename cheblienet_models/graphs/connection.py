"""Fields of spin s on the sphere and the plane, and operators that carry them along geodesics.

A field of spin s is psi = a + i b, with components a and b in a frame; in a frame turned by chi,
from the first direction toward the second, it is exp(-i s chi) psi. Vectors such as winds have s =
1; linear polarization, shear and the deviator of a symmetric tensor have s = 2. The frame is
(south, east) on the sphere and (x, y) on the plane, y down.

What is equivariant does not depend on the frame, if it is turned alike everywhere: (east, north) is
(south, east) a quarter turn on, so winds (u, v) may be given as they are. Only the sense matters:
the second component is a quarter turn from the first, south toward east, which is counterclockwise
as seen from outside. A pair of the other sense, such as (v, u), or (Q, U) as the IAU counts it, is
silently wrong.

Signals are real, (B, 2 C, V): the first components of all C fields, then the second ones.

Along the geodesic from j to i frames turn by phi_ij, psi_i ~ exp(i s phi_ij) psi_j, where with
D = gamma_j - gamma_i

    phi_ij = 2 atan2(cos((beta_i + beta_j) / 2) sin(D / 2), cos((beta_i - beta_j) / 2) cos(D / 2)).

A weight w_ij becomes the block w_ij (cos, -sin; sin, cos)(s phi_ij) of a real matrix, in which the
two components of a vertex are neighbors. It has twice the multiplications for as many real numbers
as the matrix of scalars; from 32 fields on, which wait for memory, a product takes 1.1 to 1.4 times
as long.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import torch
from torch import Tensor

from cheblienet_models.arguments import check_signal, integer
from cheblienet_models.graphs.filters import exact, filtered, series_of, working_dtype
from cheblienet_models.graphs.gradients import SYMMETRIC
from cheblienet_models.graphs.mapped import Mapped
from cheblienet_models.graphs.polynomials import Function, Polynomial, approximated
from cheblienet_models.tensors import (
    Constants,
    CsrParts,
    autocast_type,
    csr_tensor,
    paired,
    sparse_product,
    unpaired,
)

if TYPE_CHECKING:
    from cheblienet_models.graphs.graph import Graph  # which imports this

Kind = TypeVar("Kind", bound="Turned")
TRANSPOSED = "transposed_"
"""Prefix of the parts of a matrix by columns."""
INT32 = 2**31 - 1


class Turned(Mapped):
    """Matrices of a graph, float32 or float64 as it is, with entries turned by exp(i s phi).

    Where the dtype changes they are made again: entries in float64 have angles that are exact.

    Args:
        graph: of the fields; a child, as it is for layers.
        spin: s, at least 1.

    Raises:
        TypeError: spin is no integer.
        ValueError: it is below 1, or the graph is on another manifold than s2 and r2.
    """

    graph: "Graph"
    values: Tensor

    def __init__(self, graph: "Graph", spin: int) -> None:
        super().__init__(graph.handle)
        self.graph = graph
        self.spin = check_spin(type(self).__name__, graph.spec["manifold"], spin, least=1)
        for prefix, matrix in self._made(graph.values.dtype):
            self._hold_matrix(prefix, matrix)

    def _made(self, dtype: torch.dtype) -> Iterator[tuple[str, CsrParts]]:
        """Prefixes of attributes and the matrices."""
        raise NotImplementedError

    def _turned(self, matrix: CsrParts, dtype: torch.dtype) -> CsrParts:
        """A matrix (n V, V) of a graph's vertices with blocks for entries."""
        at = self.graph.coordinates
        turns = self.spin if self.graph.spec["manifold"] == "s2" else 0
        return turned(matrix, at, at, turns, dtype)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        before = self.values.dtype
        super()._apply(fn, recurse)
        if self.values.dtype != before:
            for prefix, matrix in self._made(self.values.dtype):
                for part, tensor in matrix._asdict().items():
                    setattr(self, prefix + part, tensor)
        return self

    def adopt_parts(self) -> None:
        """Leave the graph to its pyramid."""

    def __reduce__(self) -> tuple[Any, ...]:
        return kept, (self.graph, type(self), self.spin)

    def extra_repr(self) -> str:
        """The line that print() shows."""
        return f"{self.graph.label}, spin={self.spin}"


class Connection(Turned):
    """The connection Laplacian, of fields of spin s on a graph, with the graph's own weights.

    L_s = N^-1/2 (D - W o exp(i s phi)) N^-1/2, with the eigenvalues l (l + 1) - s^2 on the sphere,
    once multiplied by the graph's `eigenvalue_scale`, each 2 l + 1 times, l >= s. They are as
    accurate as eigenvalues of scalars. It is of the whole graph, also where a random sub-graph is
    drawn, is made of coordinates, and is neither stored nor saved with checkpoints.

    It holds `row_pointers` (2 V + 1,), `columns` and `values` (4 nnz,) of 2 L_s / lambda_max - I,
    as a real symmetric matrix of blocks of 2 x 2.

    Args:
        graph: as `Graph.connection` has it.
        spin: s, at least 1.

    Attributes:
        lambda_max: upper bound of the spectrum, 2 max(D / N).
    """

    lambda_max: float = 0.0

    def _made(self, dtype: torch.dtype) -> Iterator[tuple[str, CsrParts]]:
        operator = self.graph.operator()
        pointers, columns, values = exact(operator.laplacian, operator.mass)
        ones = (operator.laplacian.rows() == columns).double()
        delta = (values + ones) * (operator.lambda_max / 2)
        self.lambda_max = self.lambda_max or 2 * float((delta * ones).max()) or 1.0
        scaled = CsrParts(pointers, columns, delta * (2 / self.lambda_max) - ones)
        yield "", self._turned(scaled, dtype)

    def parts(self) -> CsrParts:
        """Row pointers, columns and values."""
        return self._matrix()

    @property
    def laplacian(self) -> Tensor:
        """(2 V, 2 V) sparse CSR tensor 2 L_s / lambda_max - I, without a copy."""
        return csr_tensor(self._matrix(), 2 * self.graph.num_vertices)

    def filter(self, x: Tensor, function: Function | Polynomial, tolerance: float = 1e-6) -> Tensor:
        """Apply a function of L_s, f(L_s) x, differentiable in x, as `Graph.filter` does.

        Args:
            x: (B, 2 C, V), of any floating point dtype.
            function: of eigenvalues up to `lambda_max`, or what `polynomial` made of one.
            tolerance: in [1e-12, 1), in units of max |f|.

        Returns:
            (B, 2 C, V) in the dtype of x, computed in the wider of x's and the graph's.

        Raises:
            ValueError: x has another shape, dtype or device, or as `Graph.filter`.
        """
        name = f"filter of spin {self.spin} on {self.graph.label}"
        check_signal(name, x, ("B", "2 C", self.graph.num_vertices), self.values.device)
        check_pairs(name, x, self.spin)
        if not isinstance(function, Polynomial):
            function = self.polynomial(function, tolerance)
        series = series_of(name, function, self.lambda_max, x.shape[1] // 2)
        dtype = working_dtype(x, self.values, len(series) - 1)
        matrix = self._matrix()
        if dtype != self.values.dtype:  # of exact angles
            ((_, matrix),) = self._made(dtype)
        y: Tensor = filtered(paired(x.to(dtype)), series, *matrix)
        return unpaired(y).to(x.dtype)

    def polynomial(self, function: Function, tolerance: float = 1e-6) -> Polynomial:
        """The polynomial that `filter` applies, with its degree and bound; arguments as there."""
        return approximated(function, self.lambda_max, tolerance)


class CovariantGradients(Turned):
    """First derivatives of fields of spin s along a graph's fields, in the frame of each vertex.

    It holds the matrices as `Gradients` does, with blocks for entries: backwards are S y - G y,
    too, as blocks of S are those of G and its adjoint.

    Args:
        graph: with gradients.
        spin: s, at least 1.

    Attributes:
        units, starts: as of `Gradients`.
    """

    def _made(self, dtype: torch.dtype) -> Iterator[tuple[str, CsrParts]]:
        gradients = self.graph.gradients
        if gradients is None:
            raise ValueError(f"{self.graph.label} has no gradients.")
        self.units, self.starts = gradients.units, [4 * start for start in gradients.starts]
        given = gradients.parts()
        for prefix, matrix in (("", given[:3]), (SYMMETRIC, given[3:])):
            yield prefix, self._turned(CsrParts(*matrix), dtype)

    def parts(self) -> list[Tensor]:
        """Row pointers, columns and values of the stacked G, then of S."""
        return [*self._matrix(), *self._matrix(SYMMETRIC)]


class Transport(Constants):
    """A matrix between points that takes fields of spin s along geodesics, in float64.

    Args:
        matrices: (targets, sources) of scalars, and its transpose.
        targets: (n, 2) their colatitudes and longitudes.
        sources: (m, 2) likewise.
        spin: s.
    """

    values: Tensor
    transposed_row_pointers: Tensor

    def __init__(
        self, matrices: Sequence[CsrParts], targets: Tensor, sources: Tensor, spin: int
    ) -> None:
        super().__init__()
        ends = (targets, sources), (sources, targets)
        for prefix, one, of in zip(("", TRANSPOSED), matrices, ends, strict=True):
            for part, tensor in turned(one, *of, spin, torch.float64)._asdict().items():
                self._hold(prefix + part, tensor, exact=True)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 2 C, sources) -> (B, 2 C, targets), in the dtype of x; in float32 at least within."""
        matrices = self._matrix(), self._matrix(TRANSPOSED)
        with torch.autocast(autocast_type(x), enabled=False):
            rows = paired(x.to(torch.promote_types(x.dtype, torch.float32)))
            y = sparse_product(*matrices, rows.flatten(1)).unflatten(1, rows.shape[1:])
        return unpaired(y).to(x.dtype)

    def matrix(self) -> Tensor:
        """(2 targets, 2 sources) sparse CSR tensor, the components of each place in turn."""
        return csr_tensor(self._matrix(), len(self.transposed_row_pointers) - 1)


def kept(graph: "Graph", kind: type[Kind], spin: int) -> Kind:
    """The matrices of a kind that all layers on a graph share, made on first use."""
    one, like = graph._turned.get((kind, spin)), graph.values  # noqa: SLF001 -- kept there for this
    if (
        isinstance(one, kind)
        and one.graph is graph  # of which it may be a copy
        and (one.values.dtype, one.values.device) == (like.dtype, like.device)
    ):
        return one
    with torch.inference_mode(mode=False):
        made = kind(graph, spin)
    graph._turned = {**graph._turned, (kind, made.spin): made}  # noqa: SLF001
    return made


def transport_angles(targets: Tensor, sources: Tensor) -> Tensor:
    """(n,) phi from sources to targets, (n, 2) each; of no meaning for antipodes."""
    (beta, gamma), (other, longitude) = targets.T, sources.T
    half = (longitude - gamma) / 2
    sine = ((beta + other) / 2).cos() * half.sin()
    return 2 * torch.atan2(sine, ((beta - other) / 2).cos() * half.cos())


def turned(
    matrix: CsrParts, targets: Tensor, sources: Tensor, spin: int, dtype: torch.dtype
) -> CsrParts:
    """A matrix of scalars, (n, m), as one of fields of spin s, (2 n, 2 m), real, of a dtype.

    Args:
        matrix: of several of these, one below the other, where it has more rows than targets.
        targets: (n, 2) colatitudes and longitudes.
        sources: (m, 2) likewise.
        spin: s; with 0 nothing is turned.
        dtype: of the values; angles are of float64.
    """
    pointers, columns, values = matrix
    rows = matrix.rows()
    angles = spin * transport_angles(targets[rows % len(targets)], sources[columns.long()])
    real, imaginary = (values.double() * part for part in (angles.cos(), angles.sin()))
    wide = 4 * len(columns) > INT32
    starts = pointers.long()
    counts = starts.diff()
    first = 2 * (starts[rows] + torch.arange(len(rows), device=rows.device))
    second = first + 2 * counts[rows]
    entries = values.new_empty(4 * len(rows), dtype=dtype)
    places = columns.new_empty(4 * len(rows), dtype=torch.int64 if wide else columns.dtype)
    for at, pair in ((first, (real, -imaginary)), (second, (imaginary, real))):
        for side, part in enumerate(pair):
            entries[at + side] = part.to(dtype)
            places[at + side] = (2 * columns.long() + side).to(places.dtype)
    both = torch.stack([4 * starts[:-1], 4 * starts[:-1] + 2 * counts], 1).flatten()
    ends = torch.cat([both, 4 * starts[-1:]])
    return CsrParts(ends.to(places.dtype), places, entries)


def check_spin(name: str, manifold: str, spin: object, least: int = 0) -> int:
    """A spin, on a manifold that has fields of it.

    Raises:
        TypeError: it is no integer.
        ValueError: it is below the least one, or the manifold has none but 0.
    """
    number = integer("spin", spin, least)
    if number and manifold not in {"s2", "r2"}:
        remedy = f": Project(graph, spin={number}) first" if manifold in {"so3", "se2"} else ""
        raise ValueError(f"{name} takes spin fields on s2 and r2, not on {manifold}{remedy}.")
    return number


def check_pairs(name: str, x: Tensor, spin: int) -> None:
    """Check that a signal has two components for each field.

    Raises:
        ValueError: it has an odd number of channels.
    """
    if spin and x.shape[1] % 2:
        raise ValueError(
            f"{name}: spin={spin} needs pairs of components, (B, 2 C, V). "
            f"Got {x.shape[1]} channels."
        )
