"""Lift, diffusion and a sum over orientations are together an isotropic blur; a maximum is not."""

from collections.abc import Callable

import pytest
import torch
import wavelet_truth as truth
from torch import Tensor

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Lift, OrientedLift, Project, open_store

Enhance = Callable[[type, str, Tensor], Tensor]


@pytest.fixture(scope="module")
def enhanced(tmp_path_factory: pytest.TempPathFactory) -> Enhance:
    """An image lifted, diffused by dense exp(-t Delta) of a strongly anisotropic torus, back."""
    path = tmp_path_factory.mktemp("trap") / "graphs.zarr"
    spec = GraphSpec(
        "se2", 16, orientations=8, eps=0.1, boundary="periodic", weights="selling", levels=1
    )
    build(spec, path, name="torus")
    graph = open_store(path)["torus"].levels[0].double()
    values, vectors = torch.linalg.eigh(graph.laplacian.to_dense())
    heat = vectors * torch.exp(-8 * (values + 1) / (values[-1] + 1)) @ vectors.T
    return lambda lift, mode, x: Project(graph, mode)(lift(graph).double()(x) @ heat).view_as(x)


@pytest.mark.parametrize("lift", [OrientedLift, Lift])
def test_the_sum_is_an_isotropic_blur(enhanced: Enhance, lift: type) -> None:
    impulse, *images = torch.randn(3, 1, 1, 16, 16, dtype=torch.float64)
    impulse.zero_()[0, 0, 0, 0] = 1
    transfer = torch.fft.fft2(enhanced(lift, "sum", impulse))
    assert transfer.imag.abs().max() <= 1e-6
    for image in images:
        blurred = torch.fft.ifft2(torch.fft.fft2(image) * transfer).real
        assert torch.allclose(enhanced(lift, "sum", image), blurred, atol=1e-5)
    gain = transfer.real[0, 0]
    # Isotropic: the square's symmetries to rounding, all others as far as orientations sample them.
    for moved in (gain.T, gain.roll(-1, 0).flip(0), gain.roll(-1, 1).flip(1)):
        assert (moved - gain).abs().max() <= 1e-6 * gain.abs().max()
    # Of one length: 3^2 + 4^2 = 5^2.
    assert abs(gain[5, 0] - gain[3, 4]) <= 0.02 * gain[0, 0]
    # It does blur: the finest waves that the lift keeps whole are damped.
    assert 0.2 * gain[0, 0] < gain[6, 0] < 0.7 * gain[0, 0]


def test_the_maximum_keeps_what_the_sum_blurs(enhanced: Enhance) -> None:
    """After the same diffusion, lines that cross stand out more from the maximum."""
    lines = sum(truth.line(16, k * torch.pi / 8) for k in (1, 5))
    image, noise = torch.from_numpy(lines)[None, None], torch.randn(1, 1, 16, 16).double()
    on = image > 0.5

    def contrast(mode: str) -> float:
        lit, rest = (enhanced(OrientedLift, mode, x) for x in (image, noise))
        return float((lit[on].mean() - lit[~on].mean()) / rest.std())

    assert contrast("max") > 1.2 * contrast("sum")
