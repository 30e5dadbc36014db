"""First derivatives: operators and dense algebra, layers, any frame, mirror images, refusals."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from first_order import ARROWS, PLAIN, SPECS, dense
from marks import OFF_THEIR_METRIC
from refusing import refused
from torch import Tensor, nn

from cheblienet_models import (
    ChebConv,
    Gradient,
    GradientNorm,
    Graph,
    Pyramid,
    Store,
    UNet,
    WideResNet,
    sample_edges,
)
from cheblienet_models.layers.derivatives import gradient, gradient_adjoint, norms
from cheblienet_models.symmetries import symmetries
from cheblienet_models.testing import assert_equivariant


def calls(graph: Graph) -> list[tuple]:
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
def test_operators_pass_opcheck(gradient_graphs: Store) -> None:
    for operator, given in calls(gradient_graphs["arrows"].levels[-1].double()):
        torch.library.opcheck(operator.definition, given)


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
    if name != "lines":
        every = torch.einsum("fvw,wbc->bfcv", dense(graph), x).flatten(1, 2)
        assert torch.allclose(Gradient(graph)(x.permute(1, 2, 0)), every, atol=1e-13)
    adjoint = gradient_adjoint(y, scales, own, *more)
    # S is stored in float32, as G + G^T was rounded.
    assert (adjoint - back - y[..., :3]).abs().max() <= 1e-6


EXACT = 1e-12
IN_STORE = 1e-6
"""Where frames turn by any angle, float32 entries are rounded in other ways."""


@pytest.mark.parametrize("name", PLAIN)
def test_the_definition_of_norms(gradient_graphs: Store, name: str) -> None:
    """In which a frame that is turned by any angle makes no difference."""
    graph = gradient_graphs[name].levels[-1].double()
    x = torch.randn(1, 3, graph.num_vertices, dtype=torch.float64)
    u, v = torch.einsum("fvw,bcw->fbvc", dense(graph), x)
    for handed in (True, False):
        layer = GradientNorm(3, 4, graph, handed=handed).double()
        p = layer.weight[0]
        q = layer.weight[1] if handed else 0 * p
        expected = ((u @ p - v @ q) ** 2 + (u @ q + v @ p) ** 2 + 1e-6).sqrt().transpose(1, 2)
        assert torch.allclose(layer(x), expected, atol=EXACT)


def modules(name: str, pyramid: Pyramid, handed: bool) -> list[nn.Module]:
    """Those that there are on a graph."""
    graph, kind = pyramid.levels[0], {"handed": handed}
    made: list[nn.Module] = [Gradient(graph)] if handed and name in ARROWS else []
    if name != "space" or not handed:
        made.append(GradientNorm(3, 2, graph, **kind))
        if name != "lines":
            kind["operators"] = "first-order"
            made.append(ChebConv(3, 2, 3, graph, **kind))
            made.append(WideResNet(pyramid, 3, 2, 3, depth=1, widen=0.25, **kind))
    return made


@pytest.mark.parametrize("handed", [True, False])
@pytest.mark.parametrize("name", [*PLAIN, *ARROWS, "lines", "space"])
def test_certificates(gradient_graphs: Store, name: str, handed: bool) -> None:
    """Every symmetry of the sampling to rounding; reflections exactly where not handed."""
    pyramid = gradient_graphs[name].double()
    every = symmetries(pyramid, [0])
    reflections = {one for one, of in every.items() if of[0].reflects}
    assert set() < reflections < every.keys()
    for module in modules(name, pyramid, handed):
        x = torch.randn(2, 3, pyramid.levels[0].num_vertices, dtype=torch.float64)
        kept = assert_equivariant(module.double(), pyramid, x)
        assert kept.keys() == every.keys() - (reflections if handed else set())
        for one, change in kept.items():
            assert change <= (IN_STORE if one in {"rotation_120", "rotation_72"} else EXACT)
        for reflection in reflections if handed else ():
            with pytest.raises(AssertionError, match="is not equivariant under"):
                assert_equivariant(module, pyramid, x, symmetries=[reflection])


def test_odd_filters_in_mirror_images(gradient_graphs: Store) -> None:
    """Laplacians do not see their sign; forward does, so that it can't keep mirror images alike."""
    pyramid = gradient_graphs["arrows"]
    network = WideResNet(pyramid, 3, 2, 3, depth=1, widen=0.25, lift="cake").double().eval()
    x = torch.randn(2, 3, *pyramid.levels[0].grid[1:], dtype=torch.float64)
    assert (network(x.flip(3)) - network(x)).abs().max() < EXACT
    for kind, handed in ((WideResNet, False), (UNet, np.bool_(False))):
        given = {"operators": "first-order", "handed": handed, "lift": "cake"}
        refused("keeps mirror images alike .* odd filters", kind, pyramid, 3, 2, 3, **given)


def test_subgraphs_leave_derivatives(gradient_graphs: Store) -> None:
    graph = gradient_graphs["arrows"].levels[0]
    layer, conv = Gradient(graph), ChebConv(2, 3, 3, graph, operators="first-order")
    x = torch.randn(1, 2, graph.num_vertices)
    expected, whole = layer(x), conv(x)
    sample_edges(graph, 0.5)
    assert torch.equal(layer(x), expected)
    assert (conv(x) - whole).abs().max() > 1e-3
    assert torch.equal(conv.eval()(x), whole)


def test_refusals(gradient_graphs: Store, directional: Store) -> None:
    lines, space, plane = (gradient_graphs[n].levels[0] for n in ("lines", "space", "plane"))
    first = partial(ChebConv, 1, 1, 2, operators="first-order")
    for make in (Gradient, first):
        refused(r"lines@v001, level 0.*`period=", make, lines)
        refused("level 0 has no gradients; build it", make, directional["single"].levels[0])
    for make in (partial(GradientNorm, 1, 1), first):
        refused(r"space@v001, level 0 has no handed .*handed=False", make, space)
    refused("name must be 'x' or 'y'", plane.gradients.matrix, "rotation")


@OFF_THEIR_METRIC
def test_forward_mode_is_refused(gradient_graphs: Store) -> None:
    """Torch would drop tangents of signals, weights and times without a word."""
    graph = gradient_graphs["arrows"].levels[0]
    x, t = torch.randn(1, 2, graph.num_vertices), torch.tensor(0.01)
    conv, norm = ChebConv(2, 3, 3, graph), GradientNorm(2, 3, graph)
    functions: list[tuple[Callable[[Tensor], Tensor], Tensor]] = [
        (conv.requires_grad_(requires_grad=False), x),
        (lambda w: torch.func.functional_call(conv, {"weight": w}, (x,)), conv.weight),
        (lambda w: torch.func.functional_call(norm, {"weight": w}, (x,)), norm.weight),
        (norm, x),
        (Gradient(graph), x),
        (lambda y: graph.filter(y, lambda v: v), x),
        (lambda y: graph.diffuse(y, t), x),
        (lambda s: graph.diffuse(x, s), t),
    ]
    for function, given in functions:
        with pytest.raises(NotImplementedError, match=r"in forward mode.*in reverse mode"):
            torch.func.jvp(function, (given,), (torch.ones_like(given),))
    seen = torch.func.vmap(conv)(torch.stack([x, 2 * x]))
    assert torch.equal(seen, torch.stack([conv(x), conv(2 * x)]))


def test_cotangents_are_taken_together(gradient_graphs: Store) -> None:
    """As torch's vectorized Jacobians take them."""
    graph = gradient_graphs["arrows"].levels[-1].double()
    x = torch.randn(1, 2, graph.num_vertices, dtype=torch.float64)
    conv, norm = ChebConv(2, 3, 3, graph, operators="first-order"), GradientNorm(3, 2, graph)
    layer = nn.Sequential(conv, norm).double()
    one_by_one, together = (
        torch.autograd.functional.jacobian(lambda x: layer(x)[:, :, :3], x, vectorize=at_once)
        for at_once in (False, True)
    )
    assert torch.allclose(one_by_one, together, rtol=0, atol=1e-12)


def test_backward_within_autocast_is_not_cast(gradient_graphs: Store) -> None:
    """Torch runs it outside, but whoever calls it within gets the same gradients."""
    graph = gradient_graphs["sphere"].levels[-1]
    layer, x = GradientNorm(2, 3, graph), torch.randn(2, 2, graph.num_vertices, requires_grad=True)
    wanted = [x, *layer.parameters()]
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x)
        within = torch.autograd.grad(y, wanted, torch.ones_like(y), retain_graph=True)
    outside = torch.autograd.grad(y, wanted, torch.ones_like(y))
    assert all(map(torch.equal, within, outside))
