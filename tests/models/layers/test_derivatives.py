"""The operators of first derivatives and norms, as torch asks of operators, and dense algebra."""

import pytest
import torch
from first_order import SPECS, dense
from torch import Tensor

from cheblienet_models import Graph, Store
from cheblienet_models.layers.derivatives import gradient, gradient_adjoint, norms

Case = tuple[object, tuple[object, ...]]


def calls(graph: Graph) -> list[Case]:
    """Each operator with what it takes of random signals of 3 channels."""
    own, count, of = 1, len(graph.gradients.names) - 1, graph.gradients
    kind = {"dtype": torch.float64, "requires_grad": True}
    parts = [part.clone() for part in of.parts()]
    scales = [1 / unit for unit in of.units[:count]]
    x, y, along = (
        torch.randn(graph.num_vertices, 2, 3 * wide, **kind) for wide in (1, own + count, 2)
    )
    mixed, each = (torch.randn(6 // n, 8 // n, **kind) for n in (1, 2))
    settings = scales, own, of.starts, *parts
    return [
        (gradient, (x, *settings)),
        (gradient_adjoint, (y, *settings)),
        (norms, (along, mixed, 2)),
        (norms, (along, each, 2)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arrows", "torus"])
def test_operators_pass_opcheck(gradient_graphs: Store, name: str) -> None:
    for operator, given in calls(gradient_graphs[name].levels[-1].double()):
        torch.library.opcheck(operator, given)


@pytest.mark.parametrize("name", ["arrows", "space", "sphere", "torus"])
def test_derivatives_of_any_order(gradient_graphs: Store, name: str) -> None:
    graph = gradient_graphs[name].levels[-1].double()
    for operator, given in calls(graph):
        floats = [part for part in given if isinstance(part, Tensor) and part.requires_grad]

        def call(*changed: Tensor, operator=operator, given=given) -> Tensor:
            return operator(*changed, *given[len(changed) :])

        assert torch.autograd.gradcheck(call, floats, fast_mode=True)
        assert torch.autograd.gradgradcheck(call, floats, fast_mode=True)


@pytest.mark.parametrize("name", SPECS)
def test_dense_matrices_and_their_transposes(gradient_graphs: Store, name: str) -> None:
    graph = gradient_graphs[name].levels[0].double()
    (_, (x, scales, own, *more)), (_, (y, *_)), *_ = calls(graph)
    matrices = dense(graph)[: len(scales)]
    along = torch.einsum("fvw,wbc->vbfc", matrices, x).flatten(2)
    assert torch.allclose(gradient(x, scales, own, *more), torch.cat([x, along], 2), atol=1e-13)
    back = torch.einsum("fvw,vbfc->wbc", matrices, y[..., 3:].unflatten(2, (len(scales), 3)))
    adjoint = gradient_adjoint(y, scales, own, *more)
    # S is stored in float32, as G + G^T was rounded.
    assert (adjoint - back - y[..., :3]).abs().max() <= 1e-6
