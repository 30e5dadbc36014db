"""Missing values, and these filled by the harmonic function with the known ones as boundary."""

from functools import partial

import torch
from torch import Tensor

from cheblienet_models.arguments import check_signal, check_values
from cheblienet_models.graphs.families import warn_of_family
from cheblienet_models.graphs.filters import exact
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid, level_of
from cheblienet_models.missing import UNSEEN, missing
from cheblienet_models.tensors import (
    CsrParts,
    csr_tensor,
    linear,
    logical,
    sparse_product,
    uncast,
    vertex_major,
)

RESIDUAL = 1e-11
"""At which the iteration ends, relative to where it starts."""
MOST_STEPS = 20_000


def inpaint(pyramid: Pyramid, x: Tensor, *, level: int = 0) -> Tensor:
    """Fill missing values by the harmonic function with the known ones as boundary; differentiable.

    Where values are missing, each becomes the mean of its neighbors' by the weights of the edges:
    Delta N^1/2 x = 0 there, N the areas or degrees. So they lie between the smallest and the
    largest known value, and constants stay constant. Known values stay as they are. Missing values
    that no path of edges joins to a known one stay missing; so do all values of a channel without
    any.

    Conjugate gradients in float64 take steps in proportion to the width of the holes.

    With kernel weights, the default, off isotropic lattices, with matched weights on random or
    given points, and with a normalized Laplacian where degrees are not as areas, values are between
    the known ones but do not approach the metric's harmonic function, however many points. The
    first call on such a graph warns.

    Args:
        pyramid: of the field, on any manifold.
        x: (B, C, V), any floating point dtype, with NaN or UNSEEN where values are missing; each
            channel may miss other ones.
        level: of the pyramid, 0 the finest.

    Returns:
        (B, C, V) in the dtype of x.

    Raises:
        TypeError: an argument is of another type.
        ValueError: x has another shape, dtype or device, or infinite values, or there is no such
            level.
        RuntimeError: the iteration has not converged.

    Example:
        >>> sphere = open_or_build(GraphSpec("s2", nside=4, weights="voronoi"), "graphs.zarr")
        >>> field = torch.ones(1, 1, 192)
        >>> field[..., :20] = torch.nan
        >>> (inpaint(sphere, field) - 1).abs().max() < 1e-5
        tensor(True)
    """
    graph = level_of(pyramid, level)
    known, values = known_values("inpaint", graph, x)
    warn_of_family("inpaint", graph)
    if bool(known.all()):
        return x.clone()
    filled, reached = _filled(graph, vertex_major(known), vertex_major(values))
    return torch.where(known | ~reached, x, filled.to(x.dtype))


def _filled(graph: Graph, known: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """(B, C, V) fields, and which values are known or filled; of (V, B, C) fields with 0."""
    shape = values.shape
    operator = graph.operator()
    root = operator.mass.double().sqrt()[:, None]
    matrix = exact(operator.laplacian, operator.mass)
    known = known.flatten(1)
    reached = _reached(matrix, known)
    holes = (reached & ~known).double()
    start = root * values.flatten(1)
    # 2 Delta / lambda_max: its scale does not matter.
    flux = holes * (sparse_product(matrix, matrix, start) + start)
    solution = partial(_conjugate_gradients, matrix, holes)
    change = linear(flux, solution, solution)
    filled = torch.where(holes > 0, -change / torch.where(root > 0, root, 1), 0.0)
    return logical(filled.view(shape)), logical(reached.view(shape))


def _reached(matrix: CsrParts, known: Tensor) -> Tensor:
    """(V, n) bool: what paths of edges join to a known vertex, of (V, n)."""
    links = csr_tensor(matrix._replace(values=(matrix.values != 0).float()), len(known))
    reached = known
    count = -1
    with uncast(known):
        while count != (count := int(reached.sum())) and count < reached.numel():
            reached = reached | (links @ reached.float() > 0)
    return reached


def _conjugate_gradients(matrix: CsrParts, holes: Tensor, b: Tensor) -> Tensor:
    """U (V, n) of (I + L) u = b within holes, u = 0 elsewhere, as its own transpose.

    Each column for itself, with the diagonal as a guide.
    """
    operator, guide = csr_tensor(matrix, len(b)), _inverse_diagonal(matrix)
    u, residual = torch.zeros_like(b), holes * b
    towards = guided = guide * residual
    energy, limit = (residual * guided).sum(0), RESIDUAL * torch.linalg.vector_norm(residual, dim=0)
    for _ in range(MOST_STEPS):
        if bool((torch.linalg.vector_norm(residual, dim=0) <= limit).all()):
            return u
        image = holes * (operator @ towards + towards)
        step = _ratio(energy, (towards * image).sum(0))
        u, residual = u + step * towards, residual - step * image
        guided, before = guide * residual, energy
        energy = (residual * guided).sum(0)
        towards = guided + _ratio(energy, before) * towards
    raise RuntimeError(
        f"inpaint has not converged in {MOST_STEPS} steps. Fill wide holes on a coarser level "
        "first."
    )


def _inverse_diagonal(matrix: CsrParts) -> Tensor:
    """(V, 1) of I + L; 1 where a vertex has no edges."""
    diagonal = 1 + matrix.values[matrix.rows() == matrix.columns]
    return torch.where(diagonal > 0, 1 / diagonal, 1.0)[:, None]


def _ratio(above: Tensor, below: Tensor) -> Tensor:
    """0 where a column has converged to nothing left."""
    return torch.where(below > 0, above / below, 0.0)


def known_values(name: str, graph: Graph, x: Tensor) -> tuple[Tensor, Tensor]:
    """The known places of a field, (B, C, V) bool, and its values in float64 with 0 elsewhere.

    Args:
        name: of the function that takes the field, for messages.
        graph: with V vertices.
        x: (B, C, V); missing values are NaN or UNSEEN.

    Raises:
        TypeError: x is no tensor.
        ValueError: x has another shape, dtype or device, or a value is infinite.
    """
    name = f"{name} on {graph.label}"
    check_signal(name, x, ("B", "C", graph.num_vertices), graph.values.device)
    check_values(name, x)
    wide = x.double()
    left_out = missing(x)
    known = torch.where(left_out, 0.0, wide)
    if not bool(known.isfinite().all()):
        count = int(known.isinf().sum())
        raise ValueError(
            f"{name} takes finite values, and NaN or {UNSEEN:g} where they are missing. Got "
            f"{count} infinite ones among {x.numel()}: make them NaN."
        )
    return ~left_out, known
