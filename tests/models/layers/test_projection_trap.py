"""Lift, diffusion and a sum over orientations are together an isotropic blur; a maximum is not."""

import pytest
import torch
import wavelet_truth as truth
from torch import Tensor

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Graph, Lift, OrientedLift, Project, open_store

SIZE, ORIENTATIONS = 16, 8


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """A torus that is strongly anisotropic."""
    path = tmp_path_factory.mktemp("trap") / "graphs.zarr"
    spec = GraphSpec(
        "se2",
        SIZE,
        orientations=ORIENTATIONS,
        eps=0.1,
        boundary="periodic",
        weights="selling",
        levels=1,
    )
    build(spec, path, name="torus")
    return open_store(path)["torus"].levels[0].double()


@pytest.fixture(scope="module")
def heat(graph: Graph) -> Tensor:
    """(V, V) the dense exp(-t Delta): along lines it spreads over some pixels."""
    delta = graph.lambda_max / 2 * (graph.laplacian.to_dense() + torch.eye(graph.num_vertices))
    values, vectors = torch.linalg.eigh(delta)
    return vectors @ torch.diag(torch.exp(-8 / values[-1] * values)) @ vectors.T


def enhanced(graph: Graph, heat: Tensor, lift: torch.nn.Module, mode: str, x: Tensor) -> Tensor:
    return Project(graph, mode)(lift(x) @ heat.T).view_as(x)


@pytest.mark.parametrize("lift", [OrientedLift, Lift])
def test_the_sum_is_an_isotropic_blur(graph: Graph, heat: Tensor, lift: type) -> None:
    layer = lift(graph).double()
    impulse = torch.zeros(1, 1, SIZE, SIZE, dtype=torch.float64)
    impulse[0, 0, 0, 0] = 1
    transfer = torch.fft.fft2(enhanced(graph, heat, layer, "sum", impulse))
    assert transfer.imag.abs().max() <= 1e-6
    images = torch.randn(2, 1, SIZE, SIZE, dtype=torch.float64)
    blurred = torch.fft.ifft2(torch.fft.fft2(images) * transfer).real
    found = enhanced(graph, heat, layer, "sum", images)
    assert (found - blurred).abs().max() <= 1e-6 * found.abs().max()
    gain = transfer.real[0, 0]
    # Isotropic: the square's symmetries to rounding, all others as far as orientations sample them.
    for moved in (gain.T, gain.roll(-1, 0).flip(0), gain.roll(-1, 1).flip(1)):
        assert (moved - gain).abs().max() <= 1e-6 * gain.abs().max()
    # Of one length: 3^2 + 4^2 = 5^2.
    assert abs(gain[5, 0] - gain[3, 4]) <= 0.02 * gain[0, 0]
    # It does blur: the finest waves that the lift keeps whole are damped.
    assert 0.2 * gain[0, 0] < gain[6, 0] < 0.7 * gain[0, 0]


def test_the_maximum_keeps_what_the_sum_blurs(graph: Graph, heat: Tensor) -> None:
    """After the same diffusion, lines that cross stand out more from the maximum."""
    layer = OrientedLift(graph).double()
    lines = sum(truth.line(SIZE, k * torch.pi / ORIENTATIONS) for k in (1, 5))
    image = torch.from_numpy(lines)[None, None]
    noise = torch.randn(1, 1, SIZE, SIZE, dtype=torch.float64)
    on = (image > 0.5)[0, 0]

    def contrast(mode: str) -> float:
        found, rest = (enhanced(graph, heat, layer, mode, x)[0, 0] for x in (image, noise))
        return float((found[on].mean() - found[~on].mean()) / rest.std())

    assert contrast("max") > 1.2 * contrast("sum")
