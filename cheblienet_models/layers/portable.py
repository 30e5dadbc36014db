"""Exported programs in torch's own operators: for ONNX, and where this package is not."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import Node

from cheblienet_models.arguments import instance
from cheblienet_models.graphs.filters import working_dtype
from cheblienet_models.layers.derivatives import SMALL
from cheblienet_models.tensors import CsrParts


def portable(program: ExportedProgram) -> ExportedProgram:
    """The program with each Chebyshev sum, derivative and filter decomposed into gathers and sums.

    It computes the same, to rounding, and holds its graphs; `torch.onnx.export` takes it, and saved
    with `torch.export.save` it is loaded without this package. A product gathers a copy of the
    signal for every edge, so it needs more memory and a few times the time of the operator.

    Nothing is scattered: onnxruntime adds to the same place from several threads at once, and loses
    terms.

    Args:
        program: of `torch.export.export`, for inference: in eval mode. Filters are to be given as
            `Graph.polynomial` makes them, as functions are not exported.

    Raises:
        TypeError: it is no exported program.
        ValueError: the program diffuses for times that it computes, on which the number of products
            depends.
    """
    instance("program", program, ExportedProgram)
    operators = torch.ops.cheblienet_models
    if any(node.target is operators.diffused.default for node in program.graph.nodes):
        raise ValueError(
            "A program with Diffusion or Graph.diffuse is not portable, as its number of products "
            "depends on times: export one with graph.filter(x, graph.diffusion_polynomial(t)), "
            "whose times are constants."
        )
    widths = _widths(program)
    decompositions: dict[Any, Callable[..., Any]] = {
        operators.chebyshev.default: partial(_sum, widths),
        operators.chebyshev_basis.default: partial(_sum_and_basis, widths),
        operators.filtered.default: partial(_filtered, widths),
        operators.gradient.default: partial(_gradient, widths),
        operators.norms.default: _norms,
    }
    decomposed: ExportedProgram = program.run_decompositions(decompositions)
    return decomposed


Widths = dict[tuple[int, int], int]
"""From the lengths of row pointers and of columns to the most entries in a row."""


def _widths(program: ExportedProgram) -> Widths:
    held = {**program.state_dict, **program.constants}
    names = program.graph_signature.inputs_to_lifted_tensor_constants
    operators = torch.ops.cheblienet_models
    sums = operators.chebyshev, operators.chebyshev_basis, operators.filtered, operators.gradient
    targets = {operator.default for operator in sums}
    widths: Widths = {}
    for node in program.graph.nodes:
        given = node.args[2:] if node.target in targets else ()
        parts = [part for part in given if isinstance(part, Node)]
        for matrix in zip(parts[::3], parts[1::3], strict=False):  # a mass may be the last
            row_pointers, columns = (held[names[part.name]] for part in matrix)
            key = len(row_pointers), len(columns)
            widths[key] = max(widths.get(key, 1), int(row_pointers.diff().max()))
    return widths


def _sum(widths: Widths, x: Tensor, weight: Tensor, *laplacians: Tensor) -> Tensor:
    """The result of the operator `chebyshev`."""
    return _sum_and_basis(widths, x, weight, *laplacians)[0]


def _sum_and_basis(
    widths: Widths, x: Tensor, weight: Tensor, *laplacians: Tensor
) -> tuple[Tensor, Tensor]:
    """The result of the operator `chebyshev_basis`."""
    start, matrices = x.to(laplacians[2].dtype), weight.to(laplacians[2].dtype)
    degree = (len(matrices) - 1) // (len(laplacians) // 3)
    terms = [start]
    for n in range(0, len(laplacians), 3):
        terms += _polynomials(widths, start, degree + 1, CsrParts(*laplacians[n : n + 3]))[1:]
    total = terms[0] @ matrices[0]
    for term, matrix in zip(terms[1:], matrices[1:], strict=True):
        total = total + term @ matrix
    basis = torch.stack(terms[1:]) if len(terms) > 1 else start.new_empty(0, *start.shape)
    return total.to(x.dtype), basis


def _filtered(
    widths: Widths,
    x: Tensor,
    coefficients: Tensor,
    row_pointers: Tensor,
    columns: Tensor,
    values: Tensor,
    mass: Tensor | None = None,
) -> Tensor:
    """The result of the operator `filtered`."""
    dtype = working_dtype(x, values, len(coefficients) - 1)
    start = x.to(dtype)
    factors = coefficients.to(x.device, dtype)
    matrix = CsrParts(row_pointers, columns, values.to(dtype))
    surplus = None
    if dtype == torch.float64 and mass is not None:
        root = mass.to(dtype).sqrt()[:, None, None]
        off = root + _product(widths, matrix, root)
        surplus = torch.where(root > 0, off / root, 0)
    terms = _polynomials(widths, start, len(factors), matrix, surplus)
    total = torch.zeros_like(start)
    for factor, term in zip(factors, terms, strict=True):
        total = total + factor * term
    return total.to(x.dtype)


def _gradient(
    widths: Widths, x: Tensor, scales: Sequence[float], own: int, _: Sequence[int], *parts: Tensor
) -> Tensor:
    """The result of the operator `gradient`."""
    matrix = CsrParts(*parts[:3])
    start = x.to(matrix.values.dtype)
    along = _product(widths, matrix, start).view(-1, *x.shape)
    terms = [start] * own + [scale * along[n] for n, scale in enumerate(scales)]
    return torch.cat(terms, dim=2).to(x.dtype)


def _norms(along: Tensor, weight: Tensor, fields: int) -> Tensor:
    """The result of the operator `norms`."""
    mixed = along.reshape(-1, len(weight)) @ weight
    squares = mixed.view(*along.shape[:2], fields, -1).square()
    return (squares.sum(2) + SMALL).sqrt()


def _polynomials(
    widths: Widths, start: Tensor, count: int, laplacian: CsrParts, surplus: Tensor | None = None
) -> list[Tensor]:
    """T_k(L) start, (V, B, C), for k < count; surplus (V, 1, 1) is taken off the diagonal of L."""
    terms = [start]
    for k in range(1, count):
        product = _product(widths, laplacian, terms[-1]).view_as(start)
        if surplus is not None:
            product = product - surplus * terms[-1]
        terms.append(product if k == 1 else 2 * product - terms[-2])
    return terms


def _product(widths: Widths, matrix: CsrParts, x: Tensor) -> Tensor:
    """A matrix (rows, V) times (V, B, C), (rows, 1, B C)."""
    width = widths[len(matrix.row_pointers), len(matrix.columns)]
    sources, entries = _padded(matrix, width)
    gathered = x.index_select(0, sources.flatten()).view(*sources.shape, -1)
    return entries[:, None] @ gathered


def _padded(matrix: CsrParts, width: int) -> tuple[Tensor, Tensor]:
    """(V, width) columns and values of each row, filled up with zeros, in operators of ONNX."""
    row_pointers, columns, values = matrix
    slots = torch.arange(width, dtype=row_pointers.dtype, device=row_pointers.device)
    places = row_pointers[:-1, None] + slots
    inside = places < row_pointers[1:, None]
    places = torch.where(inside, places, 0).flatten()
    sources, entries = columns.index_select(0, places), values.index_select(0, places)
    shape = inside.shape
    return sources.view(shape), torch.where(inside, entries.view(shape), 0)
