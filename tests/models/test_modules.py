"""Every public module: pickled, copied, in other precisions, on other devices, refusing signals.

A wrong device is found without a GPU: on `meta`, beside which a tensor left on the CPU shows.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from refusing import refused
from stores import store_of
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from unseen import marks

import cheblienet_models as models
from cheblienet_graphs import GraphSpec
from cheblienet_models.tensors import Constants

SPECS = {
    "se2": GraphSpec(
        "se2", 8, orientations=4, weights="selling", directional=0.05, levels=2, eigenpairs=5
    ),
    "sphere": GraphSpec("so3", subdivisions=1, orientations=2, levels=2, laplacian="normalized"),
    "arrows": GraphSpec("se2", 8, orientations=4, period="2pi", levels=2, gradients=True),
    "axes": GraphSpec("r3s2", 4, axes="6", weights="selling", levels=1),
    "winds": GraphSpec("s2", nside=2, levels=2),
    "holed": GraphSpec("s2", nside=2, mask=np.arange(48) % 5 > 0, levels=1),
}
GRID = models.regular_grid(6, 12, west=0)
PASSING = (
    *(models.BatchNorm, models.Lift, models.Project, models.FromHarmonics, models.ToHarmonics),
    *(models.LatLonToVertices, models.VerticesToLatLon, models.Modulus),
)
"""Those that mix no points, and those that have words of their own for what is missing."""
CONSTANTS = {"cheblienet_models.filtered.default"}
"""Operators that take a function's coefficients, which are constants on the CPU."""


def constants(module: nn.Module) -> list[Tensor]:
    """All that its layers and graphs hold and do not learn."""
    parts = [part for part in module.modules() if isinstance(part, Constants)]
    return [held for part in parts for held in part._tensors().values()]


class OneDevice(TorchDispatchMode):
    """Refuses operators between tensors on `meta` and others: torch's own do not always look."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor) and x.ndim]
        kinds = {x.device.type for x in given}
        moves = "copy" in str(function) or str(function) in CONSTANTS
        assert len(kinds) < 2 or moves, f"{function} of tensors on {kinds}"
        return function(*args, **(kwargs or {}))


pyramids = store_of(SPECS, opened=True)


def layers(of: models.Store) -> Iterator[tuple[nn.Module, tuple[int, ...]]]:
    """Modules, and the shape of what each takes."""
    plane, sphere, axes = of["se2"], of["sphere"], of["axes"].levels[0]
    for order in ("nested", "ring"):
        yield models.Lift(of["holed"].levels[0], order=order), (2, 3, 48)
    fine, coarse = plane.levels
    signal, image = (2, 3, fine.num_vertices), (2, 3, *fine.grid[1:])
    base = 2, 3, sphere.levels[0].num_points
    first, arrows = {"operators": "first-order", "low_pass": True}, of["arrows"].levels[0]
    yield models.Gradient(arrows), (2, 3, arrows.num_vertices)
    for handed in (False, True):
        yield models.GradientNorm(3, 2, arrows, handed=handed), (2, 3, arrows.num_vertices)
    yield models.GlobalPool("max", arrows), (2, 3, arrows.num_vertices)
    yield models.UNet(of["arrows"], 3, 2, 2, (2, 2, 2), head="oriented", **first), image
    for wide in (2, 9):
        yield models.ChebConv(3, wide, 3, fine), signal
        yield models.ChebConv(3, wide, 3, fine, save_basis=True), signal
        yield models.ChebConv(3, wide, 3, fine, operators="directional"), signal
    for density in (False, True):
        yield models.Diffusion(3, fine, density=density), signal
    for kind in (models.FromHarmonics, models.ToHarmonics):
        yield kind(axes, 2, "tournier07"), (1, 1, 6, 5)
    for module in (models.BatchNorm(3), models.ResidualBlock(3, 4, 2, fine)):
        yield module, signal
    for pool in ("max", "mean"):
        yield models.GlobalPool(pool), signal
    for reduction in ("max", "mean", "sum"):
        yield models.Project(fine, reduction), signal
    for lift in (models.Lift(fine), models.OrientedLift(fine, "gabor", 2)):
        yield lift, image
    for pool in ("max", "mean", "random"):
        yield models.SpatialPool(plane, 0, pool), signal
        yield models.SpatialUnpool(plane, 0, pool), (2, 3, coarse.num_vertices)
        yield models.SpatialPool(sphere, 0, pool), (2, 3, sphere.levels[0].num_vertices)
    for method in ("bilinear", "conservative", "nearest"):
        for skipna in (False, True):
            up = models.LatLonToVertices(sphere, *GRID, method, skipna=skipna, fill=0)
            yield up, (2, 3, 6, 12)
            yield models.VerticesToLatLon(sphere, *GRID, method, skipna=skipna), base
    for lift in ("repeat", "cake"):
        yield models.UNet(plane, 3, 2, 2, (2, 2, 2), lift=lift, operators="directional"), image
        yield models.WideResNet(plane, 3, 2, depth=1, widen=0.125, lift=lift, first_level=1), image
    yield from of_spins(of["winds"], arrows, image)
    yield models.UNet(sphere, 3, 2, 2, (2, 2, 2), pool="mean"), base
    yield models.WideResNet(sphere, 3, 2, depth=1, widen=0.125, pool="random"), base


def of_spins(
    winds: models.Pyramid, arrows: models.Graph, image: tuple[int, ...]
) -> Iterator[tuple[nn.Module, tuple[int, ...]]]:
    """Those of fields of spin, that return one."""
    fine, coarse = (level.num_vertices for level in winds.levels)
    for handed in (False, True):
        how = {"graph": winds.levels[0], "spin": 1, "handed": handed}
        yield models.ChebConv(2, 3, 3, **how, low_pass=handed, save_basis=handed), (2, 4, fine)
    yield models.Modulus(2), (2, 4, fine)
    yield models.SpatialPool(winds, 0, "mean", spin=2), (2, 4, fine)
    yield models.SpatialUnpool(winds, 0, "mean", spin=2), (2, 4, coarse)
    yield models.Lift(arrows, spin=1), (2, 4, *image[2:])
    yield models.Project(arrows, spin=1), (2, 3, arrows.num_vertices)
    for skipna in (False, True):
        yield models.LatLonToVertices(winds, *GRID, spin=1, skipna=skipna), (2, 4, 6, 12)
        yield models.VerticesToLatLon(winds, *GRID, spin=1, skipna=skipna), (2, 4, fine)


def backwards(function: Callable[[Tensor], Tensor], shape: tuple[int, ...]) -> Tensor:
    """The result, of which everything has a gradient, all of it on meta."""
    x = torch.randn(shape, device="meta", requires_grad=True)
    with OneDevice():
        y = function(x)
        y.sum().backward()
    assert y.is_meta
    assert x.grad is not None
    assert x.grad.is_meta
    return y


def test_every_public_module_is_tried(pyramids: models.Store) -> None:
    names = (getattr(models, name) for name in models.__all__)
    public = {one for one in names if isinstance(one, type) and issubclass(one, nn.Module)}
    mapped = {*(models.Graph, models.LevelMap, models.Pyramid), models.VertexMap, models.Connection}
    assert {type(module) for module, _ in layers(pyramids)} == public - mapped


def test_pickles_and_copies_are_handles(pyramids: models.Store) -> None:
    """They compute the same, each in its own precision, though they share a graph."""
    for module, shape in layers(pyramids):
        wide = copy.deepcopy(module.eval()).double()
        weights = sum(p.numel() * p.element_size() for p in module.parameters())
        assert len(pickle.dumps(module)) < weights + 40_000
        copied = copy.deepcopy(module), *pickle.loads(pickle.dumps((wide, module)))
        for one, again in zip((module, wide, module), copied, strict=True):
            x = torch.randn(shape, dtype=torch.float64 if one is wide else torch.float32)
            assert torch.equal(again(x), one(x))
            assert repr(again) == repr(module)


def test_graphs_are_in_no_checkpoint_and_no_broadcast(pyramids: models.Store) -> None:
    own = {"running_mean", "running_var", "num_batches_tracked", "operator_names"}
    for module, _ in layers(pyramids):
        weights = {name for name, _ in module.named_parameters()}
        others = {name: value for name, value in module.state_dict().items() if name not in weights}
        assert sum(value.nbytes for value in others.values()) < 10_000
        saved = {name.rpartition(".")[2] for name in others}
        assert saved <= own | {"_extra_state"}
        buffers = {name for name, _ in module.named_buffers(remove_duplicate=False)}
        assert {name.rpartition(".")[2] for name in buffers} <= own


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_reduced_precision(pyramids: models.Store, dtype: torch.dtype) -> None:
    """Of signals and weights; graphs stay in float32, or they would be other ones."""
    for module, shape in layers(pyramids):
        x = (300 * torch.randn(shape)).requires_grad_()  # squares are beyond half precision
        expected, low = module.eval()(x), copy.deepcopy(module).to(dtype)
        with torch.autocast("cpu", dtype=dtype):
            inside = module(x)
            inside.float().mean().backward()
        assert all(p.grad.isfinite().all() for p in module.parameters())
        for y in (inside, low(x.to(dtype))):
            assert (y.float() - expected).norm() <= 0.03 * expected.norm(), module
        assert dtype not in {constant.dtype for constant in constants(low)}


def test_empty_batches(pyramids: models.Store) -> None:
    for module, shape in layers(pyramids):
        whole = module(torch.zeros(shape))
        x = torch.zeros(0, *shape[1:], requires_grad=True)
        y = module(x)
        y.sum().backward()
        assert (y.shape, x.grad.shape) == ((0, *whole.shape[1:]), x.shape)
        assert all((p.grad == 0).all() for p in module.parameters())


def test_other_signals_are_refused(pyramids: models.Store) -> None:
    """In one line, which says what is taken and what was given."""
    any_size = models.BatchNorm, models.GlobalPool, models.FromHarmonics, models.ToHarmonics
    any_size += (models.Modulus,)
    for module, shape in layers(pyramids):
        longer, wrong = (*shape[:-1], shape[-1] + 1), [torch.zeros(shape[:2])]
        wrong += [] if isinstance(module, any_size) else [torch.zeros(longer)]
        wrong += [] if type(module) is models.Lift else [torch.zeros(shape) * 1j]
        for x in wrong:
            found = str(x.dtype) if x.is_complex() else rf"\({', '.join(map(str, x.shape))}\)"
            refused(rf"^\w+( on \S+, level \d)? takes .*Got.*{found}", module, x)
        array, errors = np.zeros(shape, np.float32), (TypeError, ValueError)
        refused(r"Got (a )?ndarray\.$", module, array, error=errors)


@pytest.mark.filterwarnings("ignore:.*nested tensors", "ignore:.*uantized")
def test_signals_that_are_not_dense_are_refused(pyramids: models.Store) -> None:
    """torch has few operators on these, and says which is missing, not what to do."""
    for module, shape in layers(pyramids):
        x = torch.zeros(shape)
        rows = [*x.flatten(0, -2)]
        for other, found in (
            (x.to_sparse(), r"one of torch\.sparse_coo: convert with \.to_dense\(\)"),
            (x.to_mkldnn(), r"one of torch\._mkldnn: convert with \.to_dense\(\)"),
            (torch.nested.nested_tensor(rows), "a nested one: pad it with .*to_padded_tensor"),
            (torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), r"with \.dequantize\(\)"),
        ):
            message = rf"^\w+( on \S+, level \d)? takes a dense tensor\. Got .*{found}\.$"
            refused(message, module, other)


def test_signals_on_other_devices_are_refused_or_stay_there(pyramids: models.Store) -> None:
    for module, shape in layers(pyramids):
        x = torch.zeros(shape, device="meta")
        if isinstance(module, models.BatchNorm | models.Modulus):
            continue  # torch's own refuses them
        try:
            where = str(module(x).device)
        except ValueError as error:
            where = str(error)
        assert where == "meta" or "on cpu, where its graph is. Got one on meta; move" in where


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_what_is_missing_is_refused(pyramids: models.Store, dtype: torch.dtype) -> None:
    """By all that mix points and take none for missing."""
    for module, shape in layers(pyramids):
        if isinstance(module, PASSING):
            continue
        module = copy.deepcopy(module).to(dtype)
        x = torch.randn(shape, dtype=dtype)
        module(x)
        for mode in (module.train, module.eval):
            for mark in marks(dtype):
                holed = x.clone()
                holed[1, 1].flatten()[5] = mark
                name = type(module).__name__
                message = rf"^{name}.* takes finite values.*channel 1, (vertex 5|pixel \(0, 5\)):"
                refused(message, mode(), holed)
        module.check_finite = False
        module(holed)


def test_signals_of_8_bits_are_refused(pyramids: models.Store) -> None:
    """torch neither adds nor promotes these. What moves values only takes them."""
    for module, shape in layers(pyramids):
        if type(module) is not models.Lift:
            x = torch.zeros(shape).to(torch.float8_e4m3fn)
            refused(r"takes .*float8_e4m3fn: convert with \.float\(\)\.$", module, x)


@pytest.mark.slow
def test_modules(pyramids: models.Store) -> None:
    for module, shape in layers(pyramids):
        expected = module.eval()(torch.zeros(shape))
        for mode in (module.train, module.eval):
            moved = copy.deepcopy(mode()).to("meta")  # graphs are shared, and stay here
            y = backwards(moved, shape)
            assert (y.shape, y.dtype) == (expected.shape, expected.dtype)
            assert all(p.grad is not None and p.grad.is_meta for p in moved.parameters())


def test_from_meta_and_back(pyramids: models.Store) -> None:
    """What does not learn is there again; weights are loaded, as torch's own networks do it."""
    for module, shape in layers(pyramids):
        module, x = copy.deepcopy(module).eval(), torch.randn(shape)
        expected, state = module(x), {k: v.clone() for k, v in module.state_dict().items()}
        for wide in (False, True):
            away = copy.deepcopy(module).to("meta")
            away = (away.double() if wide else away).to_empty(device="cpu")
            away.load_state_dict(state)
            kinds = {held.dtype for held in constants(away) if held.is_floating_point()}
            assert kinds <= {torch.float64 if wide else torch.float32}
            y = away(x.double() if wide else x)
            assert torch.equal(y, copy.deepcopy(module).double()(x.double()) if wide else expected)


def test_methods_of_graphs(pyramids: models.Store) -> None:
    graph = copy.deepcopy(pyramids["se2"].levels[0]).to("meta")
    t = torch.rand(3, device="meta", requires_grad=True)
    for method in (
        lambda x: graph.filter(x, torch.cos),
        lambda x: graph.diffuse(x, t, density=True),
        lambda x: graph.convolve(x, x),
        graph.to_grid,
    ):
        backwards(method, (2, 3, graph.num_vertices))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here")
def test_modules_on_a_gpu(pyramids: models.Store) -> None:
    """Results and gradients are those of the CPU, in float64 to rounding, and close in bfloat16."""
    for module, shape in layers(pyramids):
        here = copy.deepcopy(module).double().eval()  # graphs are shared
        there = copy.deepcopy(here).cuda()
        x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        moved = x.detach().cuda().requires_grad_()
        expected, y = here(x), there(moved)
        assert y.is_cuda
        gradient = torch.randn_like(expected)
        expected.backward(gradient)
        y.backward(gradient.cuda())
        pairs = [(y, expected), (moved.grad, x.grad)]
        weights = zip(there.parameters(), here.parameters(), strict=True)
        pairs += [(moved.grad, weight.grad) for moved, weight in weights]
        for ours, truth in pairs:
            assert (ours.cpu() - truth).abs().max() <= 1e-10 * (1 + truth.abs().max()), module
        if isinstance(module, models.WideResNet):
            with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
                low = there.float()(moved.float())
            assert (low.float().cpu() - expected).abs().max() < 0.2
            assert torch.allclose(there.cpu()(x.float()), expected.float(), atol=1e-4)
