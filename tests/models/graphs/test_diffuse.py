"""Diffusion against dense matrix exponentials and exact heat kernels; what it keeps; its gradients.

On graphs with a normalized and with a combinatorial Laplacian, among them icospheres.
"""

import math
from functools import partial
from pathlib import Path

import heated
import numpy as np
import pytest
import scipy.sparse.linalg
import torch
from heated import GRAPHS, far, signal
from marks import OFF_THEIR_METRIC
from refusing import refused
from stores import level, pyramid_of
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, portable
from cheblienet_models.graphs.polynomials import Polynomial

pytestmark = OFF_THEIR_METRIC

DECADES = 10.0 ** np.arange(-2, 5)
"""Times, in units of 1 / lambda_max."""


@pytest.mark.parametrize("tolerance", [1e-3, 1e-10])
@pytest.mark.parametrize("name", GRAPHS)
def test_diffusion_is_the_exponential_over_six_decades(
    heated_graphs: Path, name: str, tolerance: float
) -> None:
    graph = level(heated_graphs, name).double()
    x, matrix = signal(graph), heated.delta(graph)
    for time in (DECADES / graph.lambda_max).tolist():
        polynomial = graph.diffusion_polynomial(time, tolerance)
        assert polynomial.bound <= tolerance
        diffused = graph.diffuse(x, time, tolerance=tolerance)
        exact = heated.by_eigenvectors(matrix, lambda e, t=time: np.exp(-t * e), x)
        assert far(diffused, exact, x) <= polynomial.bound + 1e-12
        assert torch.allclose(diffused, graph.filter(x, polynomial), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", GRAPHS)
def test_diffusion_in_float32(heated_graphs: Path, name: str) -> None:
    graph = level(heated_graphs, name)
    matrix = heated.delta(graph)
    for x in (signal(graph, torch.float32), torch.ones(1, 1, graph.num_vertices)):
        for time in (0.0, *(DECADES / graph.lambda_max).tolist()):
            diffused = graph.diffuse(x, time)
            assert diffused.dtype == torch.float32
            exact = heated.by_eigenvectors(matrix, lambda e, t=time: np.exp(-t * e), x)
            assert far(diffused, exact, x) <= 1e-5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
def test_long_diffusion_in_float32(tmp_path: Path) -> None:
    """Where rounding the diagonal to float32 would be a potential."""
    graph = pyramid_of(tmp_path, GraphSpec("r2", 32, weights="matched", levels=1)).levels[0]
    along = torch.cos(math.pi * (torch.arange(32, dtype=torch.float64) + 0.5) / 32)
    x, time = along.repeat(32).expand(1, 2, -1), 0.1
    polynomial = graph.diffusion_polynomial(time)
    assert polynomial.degree > 64
    delta = scipy.sparse.csr_array(heated.delta(graph))
    exact = torch.from_numpy(scipy.sparse.linalg.expm_multiply(-time * delta, x[0].T.numpy()).T)
    for given in (x, x.float()):
        for spread in (graph.diffuse(given, time), graph.filter(given, polynomial)):
            assert far(spread, exact, x) <= 1e-6
    program = torch.export.export(Filtered(graph, polynomial), (x.float(),))
    assert far(program.module()(x.float()), exact, x) <= 1e-6
    assert far(portable(program).module()(x.float()), exact, x) <= 1e-6


class Filtered(nn.Module):
    """A filter by a polynomial."""

    def __init__(self, graph: Graph, polynomial: Polynomial) -> None:
        super().__init__()
        self.level, self.polynomial = graph, polynomial

    def forward(self, x: Tensor) -> Tensor:
        return self.level.filter(x, self.polynomial)


def test_a_time_for_each_channel(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "normalized").double()
    x = signal(graph)
    times = torch.tensor([0.0, 0.3, 40.0])
    diffused = graph.diffuse(x, times)
    for channel, time in enumerate(times.tolist()):
        own = slice(channel, channel + 1)
        assert torch.allclose(diffused[:, own], graph.diffuse(x[:, own], time), atol=2e-6)
    for t in (torch.tensor([0.3]), np.float64(0.3), torch.full((3,), 0.3).double()):
        assert torch.allclose(graph.diffuse(x, t), graph.diffuse(x, 0.3), atol=1e-6)


def test_other_times_are_refused(heated_graphs: Path) -> None:
    graph = level(heated_graphs, "normalized")
    diffuse = partial(graph.diffuse, signal(graph, torch.float32))
    refused(r"times t from 0, finite\. Got ", diffuse, torch.tensor([1.0, -2.0, 0.0]))
    refused("^t takes a tensor with values. Got one on meta", diffuse, torch.ones(3).to("meta"))
    for t in (10**400, -(10**400)):
        for method in (diffuse, graph.diffusion_polynomial):
            refused(
                "^t must be a number that a float holds. Got an integer of 1329 bits", method, t
            )
    for t in ("1", None, [0.1], True, torch.ones(2), torch.ones(1, 3), torch.tensor(1)):
        refused(r"of shape \(\) or \(3,\), one for each channel\. Got", diffuse, t)


@pytest.mark.parametrize(("name", "density"), [("icosphere-matched", True), ("normalized", False)])
def test_gradients_of_any_order(heated_graphs: Path, name: str, *, density: bool) -> None:
    graph = level(heated_graphs, name).double()
    x = signal(graph).requires_grad_()
    unit = graph.lambda_max
    for time in (3.0, [0.02, 1.0, 25.0]):
        times = torch.tensor(time, dtype=torch.float64, requires_grad=True)

        def call(x: Tensor, t: Tensor) -> Tensor:
            return graph.diffuse(x, t / unit, density=density, tolerance=1e-12)

        assert torch.autograd.gradcheck(call, (x, times), fast_mode=True)
        assert torch.autograd.gradcheck(call, (x, times.detach()), fast_mode=True)
        assert torch.autograd.gradgradcheck(call, (x, times), fast_mode=True)


@pytest.mark.parametrize("time", [0.0, 0.1, 10.0, 1e3])
def test_the_gradient_in_time_is_exact_to_the_tolerance(heated_graphs: Path, time: float) -> None:
    """-Delta exp(-t Delta) x, in units of the largest that it could be; at no time, too."""
    graph = level(heated_graphs, "combinatorial").double()
    x, g, tolerance = signal(graph), signal(graph), 1e-3
    t = torch.full((3,), time / graph.lambda_max, dtype=torch.float64, requires_grad=True)
    graph.diffuse(x, t, tolerance=tolerance).backward(g)
    at = t[0].item()
    slope = heated.by_eigenvectors(heated.delta(graph), lambda e: -e * np.exp(-at * e), x)
    exact = (slope * g).sum((0, 2))
    largest = graph.lambda_max if time <= 1 else graph.lambda_max / (math.e * time)
    norms = x.norm(dim=2) * g.norm(dim=2)
    assert ((t.grad - exact).abs() <= 1.01 * tolerance * largest * norms.sum(0)).all()


@pytest.mark.parametrize("name", [name for name in heated.SPECS if name != "stiff"])
def test_densities_keep_constants_sums_and_range(heated_graphs: Path, name: str) -> None:
    graph = level(heated_graphs, name).double()
    x, mass = signal(graph), graph.mass
    peaks = (torch.rand(1, 4, graph.num_vertices, dtype=torch.float64) < 0.05).double()
    for time in (DECADES[:5] / graph.lambda_max).tolist():
        # As far as rows of the stored float32 entries sum to nothing.
        rounding = 1e-6 + 1e-7 * time * graph.lambda_max
        constant = graph.diffuse(torch.full_like(x, -3.0), time, density=True)
        assert (constant + 3).abs().max() <= rounding
        sums = ((graph.diffuse(x, time, density=True) - x) * mass).sum(2).abs()
        assert (sums <= 1e-6 * (x.abs() * mass).sum(2) * (1 + time * graph.lambda_max)).all()
        spread = graph.diffuse(peaks, time, density=True, tolerance=1e-9)
        assert -rounding <= spread.min() < spread.max() <= 1 + rounding
