"""The operators that Chebyshev convolutions are made of, as torch asks of operators."""

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from cheblienet_models import ChebConv, Graph
from cheblienet_models.layers.chebyshev import (
    chebyshev,
    chebyshev_basis,
    chebyshev_gradients,
    chebyshev_moments,
)


def matrices(graph: Graph, number: int) -> list[Tensor]:
    parts = (
        graph.laplacian_parts()
        if number == 1
        else [part for one in graph.directional.values() for part in one[:3]]
    )
    return [part.clone() for part in parts]


def calls(laplacians: list[Tensor], count: int, narrow: int, wide: int, **kind: object) -> list:
    """Each operator with what it takes of random signals and `count` random matrices."""
    shapes = (len(laplacians[0]) - 1, 2, narrow), (len(laplacians[0]) - 1, 2, wide)
    x, g, weight = (torch.randn(s, **kind) for s in (*shapes, (count, narrow, wide)))
    return [
        (chebyshev, (x, weight, *laplacians)),
        (chebyshev_basis, (x, weight, *laplacians)),
        (chebyshev_moments, (x, g, count, *laplacians)),
        (chebyshev_gradients, (g, x, weight, None, *laplacians)),
    ]


@pytest.mark.slow
def test_operators_pass_opcheck(graph: Graph) -> None:
    for operator, given in calls(matrices(graph, 3), 7, 2, 5, requires_grad=True):
        torch.library.opcheck(operator.definition, given)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_results_on_no_device_are_shaped_as_on_one(graph: Graph, dtype: torch.dtype) -> None:
    """As programs that are exported or compiled ask, which compute nothing for it."""
    for operator, given in calls(matrices(graph, 1), 4, 3, 5, dtype=dtype):
        nowhere = tree_map_only(Tensor, lambda part: part.to("meta"), given)
        pairs = (operator(*given), operator(*nowhere))
        computed, expected = (pair if isinstance(pair, tuple) else (pair,) for pair in pairs)
        for one, other in zip(computed, expected, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            assert one.stride() == other.stride()


@pytest.mark.parametrize(("narrow", "wide"), [(4, 4), (5, 9), (4, 9), (9, 5), (9, 4)])
def test_recursions_are_on_the_narrow_side(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, narrow: int, wide: int
) -> None:
    """Both gradients share one on the wide side where that is less than two on the narrow one."""
    columns, added = list[int](), Tensor.addmm_

    def counted(target: Tensor, a: Tensor, b: Tensor, **how: object) -> Tensor:
        columns.extend([b.shape[1]] * (a.layout == torch.sparse_csr))
        return added(target, a, b, **how)

    monkeypatch.setattr(Tensor, "addmm_", counted)
    least, each = min(narrow, wide), []
    for operator, given in calls(matrices(graph, 1), 4, narrow, wide):
        columns.clear()
        operator(*given)
        each.append(sum(columns) / (2 * (4 - 1)))
    assert each == [least, narrow, least, min(wide, 2 * narrow)]


def test_a_saved_basis_has_no_gradient(graph: Graph) -> None:
    _, (operator, given), *_ = calls(matrices(graph, 1), 4, 2, 3, requires_grad=True)
    y, basis = operator(*given)
    assert (y.requires_grad, basis.requires_grad) == (True, False)


@pytest.mark.parametrize(("number", "narrow", "wide"), [(1, 2, 3), (3, 3, 2)])
def test_each_operator_has_its_derivatives(
    graph: Graph, number: int, narrow: int, wide: int
) -> None:
    """By themselves, as third derivatives of the layer call them; by each part alone, too."""
    laplacians = [
        part.double() if part.is_floating_point() else part for part in matrices(graph, 1)
    ]
    for operator, given in calls(
        laplacians * number, 4, narrow, wide, dtype=torch.float64, requires_grad=True
    ):

        def differentiable(*floats: Tensor, operator=operator, given=given) -> object:
            results = operator(*floats, *given[len(floats) :])
            return results[0] if operator is chebyshev_basis else results

        floats = [part for part in given if isinstance(part, Tensor) and part.requires_grad]
        assert torch.autograd.gradcheck(differentiable, floats, fast_mode=True)
        assert torch.autograd.gradgradcheck(differentiable, floats, fast_mode=True)
        for n, alone in enumerate(floats):
            others = [part.detach() for part in floats]
            others[n] = alone
            assert torch.autograd.gradgradcheck(differentiable, others, fast_mode=True)


def test_only_the_input_is_kept_for_the_backward(graph: Graph) -> None:
    x = torch.randn(graph.num_vertices, 2, 4).permute(1, 2, 0).requires_grad_()
    conv, kept = ChebConv(4, 8, 5, graph), []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        conv(x)
    known = {x, conv.weight, *graph.laplacian_parts()}
    assert set(kept) <= {tensor.untyped_storage().data_ptr() for tensor in known}
