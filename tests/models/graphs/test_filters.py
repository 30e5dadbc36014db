"""Functions of the Laplacian against dense float64 algebra, and what they take and refuse."""

import copy
from pathlib import Path

import heated
import numpy as np
import pytest
import torch
from heated import GRAPHS, far, signal
from marks import OFF_THEIR_METRIC
from refusing import refused
from stores import level
from torch import Tensor, nn

from cheblienet_models import Graph, Pyramid, portable, sample_edges
from cheblienet_models.graphs.filters import diffused, diffused_twice, filtered

pytestmark = OFF_THEIR_METRIC


@pytest.mark.parametrize("tolerance", [1e-3, 1e-10])
@pytest.mark.parametrize("name", GRAPHS)
def test_filters_equal_those_of_the_eigendecomposition(
    heated_graphs: Path, name: str, tolerance: float
) -> None:
    graph = level(heated_graphs, name).double()
    x, unit = signal(graph), graph.lambda_max
    for torchs, numpys, largest in (
        (lambda e: 2 / (1 + 9 * e / unit), lambda e: 2 / (1 + 9 * e / unit), 2),
        (lambda e: torch.sin(20 * e / unit), lambda e: np.sin(20 * e / unit), 1),
        (lambda e: e**2, lambda e: e**2, unit**2),
    ):
        result = graph.filter(x, torchs, tolerance)
        expected = heated.by_eigenvectors(heated.delta(graph), numpys, x)
        assert far(result, expected, x) <= (tolerance + 1e-12) * largest
        again = graph.filter(x, graph.polynomial(torchs, tolerance))
        assert torch.equal(result, again)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_and_autocast(heated_graphs: Path, dtype: torch.dtype) -> None:
    graph = level(heated_graphs, "combinatorial")
    x = signal(graph, torch.float32)
    exact = graph.filter(x, lambda e: torch.exp(-0.1 * e))
    low = graph.filter(x.to(dtype), lambda e: torch.exp(-0.1 * e))
    assert low.dtype == dtype
    assert (low.float() - exact).norm() <= 0.01 * exact.norm()
    with torch.autocast("cpu", dtype=dtype):
        assert torch.equal(graph.filter(x, lambda e: torch.exp(-0.1 * e)), exact)


def test_gradients_of_filters(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "normalized").double()
    x = signal(graph).requires_grad_()
    call = lambda x: graph.filter(x, lambda e: 1 / (0.1 + e), 1e-9)  # noqa: E731
    assert torch.autograd.gradcheck(call, (x,), fast_mode=True)
    assert torch.autograd.gradgradcheck(call, (x,), fast_mode=True)


def test_results_are_vertex_major_and_as_wide_as_the_signal(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "normalized")
    for dtype in (torch.float32, torch.float64):
        x = signal(graph, dtype)
        result = graph.filter(x, torch.sin, 1e-11)
        assert result.permute(2, 0, 1).is_contiguous()
        assert result.dtype == dtype
    expected = heated.by_eigenvectors(heated.delta(graph), np.sin, x)
    assert far(result, expected, x) <= 1e-10
    assert graph.filter(x[:0], torch.sin).shape == (0, 3, graph.num_vertices)


@pytest.mark.parametrize("name", ["normalized", "combinatorial"])
def test_random_subgraphs(heated_graphs: Path, name: str) -> None:
    """At degrees that would let powers overflow if their eigenvalues exceeded lambda_max."""
    graph = copy.deepcopy(level(heated_graphs, name)).double()
    sample_edges(graph, 0.15, torch.Generator().manual_seed(0))
    x, matrix = signal(graph), heated.delta(graph, training=True)
    for rate in (1.0, 300.0):
        t = rate / graph.lambda_max
        result = graph.filter(x, lambda e, t=t: torch.exp(-t * e), 1e-9, training=True)
        exact = heated.by_eigenvectors(matrix, lambda e, t=t: np.exp(-t * e), x)
        assert far(result, exact, x) <= 2e-9
        assert far(graph.diffuse(x, t, tolerance=1e-9, training=True), exact, x) <= 2e-9
    whole = graph.filter(x, torch.sin)
    sample_edges(graph, 1)
    assert torch.equal(graph.filter(x, torch.sin, training=True), whole)


def test_polynomials_are_for_one_spectrum(heated_graphs: Path) -> None:
    graph = copy.deepcopy(level(heated_graphs, "normalized"))
    other = level(heated_graphs, "combinatorial")
    x = signal(graph, torch.float32)
    refused("eigenvalues up to .* Got one for", graph.filter, x, other.polynomial(torch.sin))
    by_channel = graph.diffusion_polynomial(torch.rand(2))
    refused(r"as its polynomial has, 2\. Got 3\.", graph.filter, x, by_channel)
    assert graph.filter(x[:, :2], by_channel).shape == (2, 2, graph.num_vertices)


def test_other_signals_are_refused(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "normalized")
    x, message = torch.zeros(2, 3, 255), r"on normalized@v001, level 0 .*Got \(2, 3, 255\)"
    refused(f"filter {message}", graph.filter, x, torch.sin)
    refused(f"diffuse {message}", graph.diffuse, x, 1.0)


class Filters(nn.Module):
    """A function and a diffusion, as constants; and a diffusion for a time that is one."""

    def __init__(self, level: Graph, *, whole: bool) -> None:
        super().__init__()
        self.level, self.whole = level, whole
        self.wave = level.polynomial(lambda e: torch.cos(6 * e / level.lambda_max))
        self.heat = level.diffusion_polynomial(torch.tensor([2.0, 9.0]) / level.lambda_max)

    def forward(self, x: Tensor) -> Tensor:
        x = self.level.filter(self.level.filter(x, self.wave), self.heat)
        return self.level.diffuse(x, 0.1, density=True) if self.whole else x


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
def test_exported_and_portable(pyramid: Pyramid) -> None:
    batch = torch.export.Dim("batch", min=1, max=64)
    x = torch.randn(3, 2, 1024)
    for whole in (False, True):
        network = Filters(pyramid.levels[0], whole=whole).eval()
        program = torch.export.export(network, (x[:2],), dynamic_shapes=({0: batch},))
        assert torch.equal(program.module()(x), network(x))
        if whole:
            refused("with Diffusion or .* is not portable", portable, program)
        else:
            result = portable(program).module()(x)
            assert torch.allclose(result, network(x), atol=1e-5)


@pytest.mark.slow
def test_functions_are_approximated_outside_of_compiled_programs(pyramid: Pyramid) -> None:
    graph, x = pyramid.levels[0], torch.randn(2, 3, 1024)

    def doubled(x: Tensor) -> Tensor:
        return 2 * graph.filter(x + 1, lambda e: torch.exp(-e))

    compiled = torch.compile(doubled, backend="aot_eager")
    assert torch.allclose(compiled(x), doubled(x), atol=1e-5)


@pytest.mark.slow
def test_operators_pass_opcheck(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "normalized")
    parts = tuple(part.clone() for part in graph.laplacian_parts())
    x = torch.randn(graph.num_vertices, 2, 3, requires_grad=True)
    torch.library.opcheck(filtered.definition, (x, torch.rand(4, 1, dtype=torch.float64), *parts))
    for times in (torch.rand(1), torch.rand(3)):
        times.requires_grad_()
        how = (0, graph.lambda_max, 1e-6, *parts)
        torch.library.opcheck(diffused.definition, (x, times, *how))
        torch.library.opcheck(diffused_twice.definition, (x, times, *how))
