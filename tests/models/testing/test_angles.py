"""equivariance_error: its floor against fields turned exactly, errors of known networks."""

import math
from collections.abc import Callable

import pytest
import torch
from refusing import refused
from torch import Tensor, nn

from cheblienet_models.testing import equivariance_error, turned_image
from cheblienet_models.testing.angles import window

SIDE = 48
ANGLES = (0.0, 15.0, 30.0, 45.0, 60.0, 90.0, 135.0, 180.0, 270.0)


def waves(cutoff: float, seed: int = 0) -> Callable[[float], Tensor]:
    """A sum of waves of at most so many radians a pixel, turned by an angle exactly."""
    generator = torch.Generator().manual_seed(seed)
    size, way, phase = torch.rand(3, 20, generator=generator, dtype=torch.float64)

    steps = torch.arange(SIDE, dtype=torch.float64) - (SIDE - 1) / 2
    x, y = steps[None], -steps[:, None]  # to the right and up, in pixels from the center

    def turned(angle: float) -> Tensor:
        cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        across, up = cos * x + sin * y, cos * y - sin * x  # where each pixel was before
        total = torch.zeros_like(across)
        for s, w, p in zip(size.sqrt() * cutoff, way * math.tau, phase * math.tau, strict=True):
            total += (s * (w.cos() * across + w.sin() * up) + p).cos()
        return total[None, None]

    return turned


def conv(kernel: list[list[float]]) -> nn.Conv2d:
    layer = nn.Conv2d(1, 1, 3, padding=1, bias=False).double()
    layer.weight.data[:] = torch.tensor(kernel)
    return layer


ISOTROPIC = conv([[1, 2, 1], [2, 4, 2], [1, 2, 1]])
EDGES = conv([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


@pytest.mark.parametrize("cutoff", [0.3, 1.5])
@pytest.mark.parametrize("angle", [10.0, 45.0, 222.0])
def test_the_floor_is_the_error_of_a_field_turned_exactly(cutoff: float, angle: float) -> None:
    field, still = waves(cutoff), waves(cutoff)(0.0)
    fading = window(still)
    exact, image = field(angle) * fading, still * fading
    error = float((turned_image(image, angle) - exact).norm() / image.norm())
    (floor,) = equivariance_error(nn.Identity(), still, [angle]).floors
    assert 0.8 * error < floor < 1.2 * error
    assert error < 0.002 + cutoff**3 / 100


@pytest.mark.parametrize("angle", [0.0, 90.0, 180.0, 270.0, -90.0, 720.0])
def test_quarter_turns_are_exact(angle: float) -> None:
    images = torch.randn(2, 3, 9, 9)
    assert torch.equal(turned_image(images, angle), images.rot90(round(angle / 90), (2, 3)))
    wide = torch.randn(2, 3, 5, 8)
    if angle % 180 == 0:
        assert torch.equal(turned_image(wide, angle), wide.rot90(round(angle / 90), (2, 3)))


def test_wide_images_turn_by_quarters_as_squares_do() -> None:
    image = torch.zeros(1, 1, 9, 15)
    image[0, 0, 4, 9] = 1  # 2 right of the center goes 2 up
    turned = turned_image(image, 90.0)
    assert turned[0, 0, 2, 7] == pytest.approx(1, abs=1e-6)
    assert turned.abs().sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("module", [nn.Identity(), nn.Tanh(), ISOTROPIC, nn.AdaptiveAvgPool2d(1)])
def test_isotropic_networks_are_near_the_floor(module: nn.Module) -> None:
    output = "invariant" if isinstance(module, nn.AdaptiveAvgPool2d) else "auto"
    result = equivariance_error(module, waves(0.6)(0.0), ANGLES, output=output)
    assert result.angles == ANGLES
    assert (result.output_floors is None) == (output == "invariant")
    outputs = result.output_floors or result.floors
    for angle, error, *floors in zip(ANGLES, result.errors, result.floors, outputs, strict=True):
        assert error <= 2 * max(floors) + 1e-12
        assert (floors[0] == 0) == (angle % 90 == 0)


def test_a_filter_of_one_direction_is_far_above_the_floor() -> None:
    """The derivative along x: of a turned image it is that along another direction.

    |f(T x) - T f(x)| is the derivative along (cos a - 1, sin a), of size 2 sin(a / 2).
    """
    result = equivariance_error(EDGES, waves(0.6)(0.0), ANGLES)
    for angle, error in zip(ANGLES, result.errors, strict=True):
        assert error == pytest.approx(2 * math.sin(math.radians(angle / 2)), rel=0.35, abs=1e-12)
    assert result.errors[3] > 20 * result.floors[3]
    assert result.errors[3] > 20 * result.output_floors[3]


def test_errors_do_not_depend_on_scale_and_know_nothing_to_compare() -> None:
    image = waves(0.6)(0.0)
    small, large = (equivariance_error(EDGES, image * s, [45.0]) for s in (1e-3, 1e3))
    assert small.errors == pytest.approx(large.errors)
    assert equivariance_error(nn.Identity(), image * 0, [45.0]).errors == (0.0,)

    class Empty(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            assert not self.training
            assert not torch.is_grad_enabled()
            return x * (x == image * window(image)).all().logical_not()

    module = Empty()
    assert equivariance_error(module, image, [45.0]).errors == (math.inf,)
    assert module.training


def test_corners_do_not_count() -> None:
    image = waves(0.6)(0.0)
    filled = torch.where(window(image) > 0, image, torch.full_like(image, 1e3))
    assert equivariance_error(EDGES, image, ANGLES) == equivariance_error(EDGES, filled, ANGLES)


def test_fields_of_any_kind_turn_as_they_are_told() -> None:
    """Longitudes of a sphere: whole steps are exact, and a network that knows them fails."""

    def turn(x: Tensor, degrees: float) -> Tensor:
        return x.roll(round(degrees / 10), -1)

    field = torch.randn(2, 3, 18, 36)
    right = nn.Conv2d(3, 4, (1, 3), padding=(0, 1), padding_mode="circular")
    result = equivariance_error(right, field, [10, 50, 170], turn=turn)
    assert max(result.errors) < 1e-6
    assert result.floors == result.output_floors == (0, 0, 0)


def refuse(error: type[Exception], message: str, **given: object) -> None:
    valid = {"module": nn.ReLU(), "signal": torch.zeros(1, 1, 8, 8), "angles": [45.0]}
    refused(message, equivariance_error, **{**valid, **given}, error=error)


class Log(nn.Module):
    """Of negative numbers it is none."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x)


class Sparse(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.to_sparse()


def test_outputs_that_are_not_finite_are_refused() -> None:
    """Their error would be no number."""
    bright = torch.zeros(1, 1, 8, 8)
    bright[0, 0, 2, 2] = 1
    refuse(ValueError, "Got 63 NaN or infinite among 64: wh", module=Log(), signal=bright)
    dark = -torch.ones(1, 1, 8, 8)
    refuse(ValueError, "of the signal as it is. Got 64 ", module=Log(), signal=dark)
    only_turned = torch.ones(1, 1, 18, 36)
    given = {"module": Log(), "signal": only_turned, "turn": lambda x, degrees: x - degrees}
    refuse(ValueError, "of the signal turned by 45 degrees. Got 648 NaN", **given)
    bright[0, 0, 1, 1] = math.nan
    refuse(ValueError, "signal must have finite values. Got 1 NaN", signal=bright)
    refuse(ValueError, "float8_e4m3fn: convert", signal=bright.to(torch.float8_e4m3fn))


def test_refusals() -> None:
    refuse(TypeError, "floating point. Got t", signal=torch.zeros(1, 1, 8, 8).long())
    refuse(ValueError, r"signal takes \(B, C, H, W\)", signal=torch.zeros(1, 8, 8))
    refuse(ValueError, "sides of at least 4 pixels", signal=torch.zeros(1, 1, 3, 8))
    refuse(TypeError, "angles must be a list of degrees. Got 45.0", angles=45.0)
    refuse(ValueError, "angles must be finite", angles=[math.nan])
    refuse(TypeError, "angles must be a number", angles=["a"])
    refuse(ValueError, "angles takes a tensor with values. Got", angles=torch.ones(2).to("meta"))
    refuse(ValueError, "angles must be a number that a float holds", angles=[10**400])
    for odd in (torch.ones((), device="meta"), [[1.0], [2.0, 3.0]]):
        message = "^angle must be a number"
        refused(message, turned_image, torch.zeros(1, 1, 8, 8), odd, error=TypeError)
    refuse(ValueError, "The comparison of what Sparse returns ", module=Sparse())
    refuse(ValueError, "signal takes a tensor with", signal=torch.ones(1, 1, 8, 8).to("meta"))
    message = r"turn must return a tensor \(1, 1, 8, 8\), as given. Got one of torch.sparse_coo"
    refuse(ValueError, message, turn=lambda x, _: Sparse()(x))
    refuse(TypeError, "turn must be a function, or None. Got 3", turn=3)
    refuse(ValueError, r"turn must return a tensor \(1, 1, 8, 8\)", turn=lambda x, _: x[0])
    refuse(ValueError, "as given. Got NoneType", turn=lambda *_: None)
    refuse(ValueError, "output must be 'auto', 'signal' or 'invariant'", output="image")
    refuse(ValueError, "The output must have .*'invariant'", module=nn.AdaptiveAvgPool2d(1))
    refuse(ValueError, r"output takes \(B, C, H, W\)", module=nn.Flatten(), output="signal")
