"""The error of equivariance of any network at any angle, beside interpolation's alone."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import (
    check_dtype,
    check_shape,
    check_values,
    choice,
    instance,
    is_sequence,
    not_dense,
    number,
)
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.connection import check_pairs
from cheblienet_models.tensors import rotated
from cheblienet_models.testing.assertion import evaluating, image_of, pair_of_spins

Turn = Callable[[Tensor, float], Tensor]
"""A signal and an angle in degrees -> the turned signal, of the same shape."""
Output = Literal["auto", "signal", "invariant"]

TAPER = 0.75
"""Share of the radius within which images are left as they are; to the radius they fade to 0."""
SMALLEST = 4
"""Pixels of a side: the cubic kernel's."""
FRAME = 4
"""Pixels of zeros around an image, from which places outside are interpolated."""


@dataclass(frozen=True)
class AngleErrors:
    """Relative errors by angle, and what interpolation alone makes of the same data.

    Args:
        angles: degrees.
        errors: |f(T x) - T f(x)| / |f(x)| at each angle, f the network and T the turn.
        floors: |T' T x - x| / (sqrt(2) |x|) at each angle, T' the turn back: an estimate of what
            one turn by interpolation does to the input, as if the errors of two were independent.
            Of band-limited images it is within 20 % of the truth.
        output_floors: the same of f(x), where it is turned; None where it is to be invariant.
    """

    angles: tuple[float, ...]
    errors: tuple[float, ...]
    floors: tuple[float, ...]
    output_floors: tuple[float, ...] | None


def equivariance_error(
    module: nn.Module,
    signal: Tensor,
    angles: Sequence[float],
    *,
    turn: Turn | None = None,
    output: Output = "auto",
    spin: tuple[int, int] = (0, 0),
) -> AngleErrors:
    """Measure how a network commutes with turns by any angles, beside the interpolation floor.

    The network is any torch module, in eval mode and without gradients. Norms are Euclidean, over
    all numbers of the batch. An error near the floors is interpolation's; one far above them is the
    network's. Images are turned by `turned_image` and first fade to 0 toward the largest disc
    inside, so that turning loses no corner; outputs are compared within the disc.

    Args:
        module: takes one signal and returns one tensor.
        signal: floating point images (B, C, H, W), sides of at least 4; with `turn` a field of any
            shape (B, C, ...).
        angles: degrees, any number of them; images turn counterclockwise as displayed.
        turn: how a field other than an image is turned, and the network's output.
        output: what the module returns: a "signal", which turns with the input, or numbers that are
            "invariant". "auto": a signal where it has as many dimensions as the input.
        spin: of images and of outputs, 0 of scalars: (B, 2 C, H, W) with the components along x of
            all C fields, then the ones along y, downward, which turn with the image. A `turn` of
            one's own turns components itself.

    Returns:
        Errors and floors, one for each angle. An error is 0 where both norms are, infinite where
        f(x) alone is 0.

    Raises:
        TypeError: an argument is something else, or the module does not return a tensor.
        ValueError: a shape does not fit, or an angle, the signal or an output is not finite.
    """
    instance("module", module, nn.Module)
    check_values("signal", instance("signal", signal, Tensor))
    choice("output", output, get_args(Output))
    degrees = _finite_angles(angles)
    if not signal.is_floating_point():
        raise TypeError(f"signal must be of floating point. Got {signal.dtype}.")
    check_dtype("signal", signal)
    if turn is not None and not callable(turn):
        raise TypeError(f"turn must be a function, or None. Got {quoted(turn)}.")
    spin_in, spin_out = pair_of_spins(spin)
    if turn is not None and (spin_in or spin_out):
        raise ValueError(
            f"spin is of images, which are turned here. Got {quoted(spin)} beside turn=, which has "
            "to turn components itself: leave spin out."
        )
    if turn is None:
        _check_images("signal", signal)
        check_pairs("signal", signal, spin_in)
        signal = signal * window(signal)
    _check_finite("signal must have finite values", signal)
    with evaluating(module), torch.no_grad():
        still = _image_of(module, signal, "of the signal as it is")
        turns = output == "signal" or (output == "auto" and still.ndim == signal.ndim)
        if turn is None and turns:
            _check_images("The output", still)
            check_pairs("The output", still, spin_out)
        own = None if turn is None else _checked(turn)
        moved_in, moved = (own or partial(_turned_field, spin=one) for one in (spin_in, spin_out))
        outputs = [
            _image_of(module, moved_in(signal, angle), f"of the signal turned by {angle:g} degrees")
            for angle in degrees
        ]
        wanted = [moved(still, angle) if turns else still for angle in degrees]
        within = _distance(still) <= 1 if turns and turn is None else None
        errors = tuple(
            _error(image, expected, still, within)
            for image, expected in zip(outputs, wanted, strict=True)
        )
        floors = tuple(_floor(signal, angle, moved_in) for angle in degrees)
        faded = still if within is None else still * window(still)
        output_floors = tuple(_floor(faded, angle, moved) for angle in degrees) if turns else None
    return AngleErrors(degrees, errors, floors, output_floors)


def _image_of(module: nn.Module, signal: Tensor, words: str) -> Tensor:
    """The output of a module for a signal; its error would be no number otherwise."""
    image = image_of(module, signal)
    _check_finite(f"module must return finite values {words}", image)
    return image


def _check_finite(rule: str, x: Tensor) -> None:
    bad = int((~x.isfinite()).sum())
    if bad:
        raise ValueError(
            f"{rule}. Got {bad} NaN or infinite among {x.numel()}: where they are meant, as "
            "outside of a mask, make them 0 in a module around it, as torch.nan_to_num does."
        )


def _checked(turn: Turn) -> Turn:
    """The same turn, which is seen to keep shapes."""

    def turned(x: Tensor, angle: float) -> Tensor:
        image = turn(x, angle)
        shape: object = type(image).__name__
        if isinstance(image, Tensor):
            shape = not_dense(image) or tuple(image.shape)
        if shape != tuple(x.shape):
            raise ValueError(f"turn must return a tensor {tuple(x.shape)}, as given. Got {shape}.")
        return image

    return turned


def _turned_field(x: Tensor, angle: float, spin: int) -> Tensor:
    """`turned_image` of components of fields of spin (B, 2 C, H, W), which turn as well."""
    moved = turned_image(x, angle)
    turn = torch.tensor(-spin * math.radians(angle), dtype=torch.float64)  # y points down
    return rotated(moved, turn) if spin else moved


def turned_image(images: Tensor, angle: float) -> Tensor:
    """Images turned about their center, counterclockwise as displayed; 0 comes in at corners.

    Quarter turns of squares, and half turns, are exact; the rest is Keys' cubic interpolation.

    Args:
        images: (B, C, H, W) floating point, sides of at least 4.
        angle: degrees.

    Returns:
        The same shape and dtype.

    Raises:
        TypeError: an argument is something else.
        ValueError: the shape does not fit, or the angle is not finite.
    """
    _check_images("images", images)
    (angle,) = _finite_angles([angle], "angle")
    height, width = images.shape[2:]
    whole = 90 if height == width else 180
    times = round(angle / whole)
    images = images.rot90(times * whole // 90, (2, 3))
    rest = math.radians(angle - whole * times)
    if rest == 0:
        return images
    y, x = _centered(images)
    cos, sin = math.cos(rest), math.sin(rest)
    rows = sin * x + cos * y
    columns = cos * x - sin * y
    return _sampled(images, rows + (height - 1) / 2, columns + (width - 1) / 2)


def _sampled(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Images at other places, (H, W) rows and columns in pixels: Keys' cubic convolution, a = -1/2.

    torch's bicubic mode has a = -3/4, with errors several times as large on smooth images.
    Source: Keys, "Cubic convolution interpolation for digital image processing", IEEE Trans.
    Acoust. Speech Signal Process. 29 (1981).
    """
    height, width = images.shape[2:]
    framed = nn.functional.pad(images, [FRAME] * 4)
    rows, columns = rows.clamp(-2, height + 1) + FRAME, columns.clamp(-2, width + 1) + FRAME
    total = torch.zeros_like(images)
    for down, right in itertools.product((-1, 0, 1, 2), repeat=2):
        row, column = rows.floor() + down, columns.floor() + right
        weight = _keys(rows - row) * _keys(columns - column)
        total += weight.to(images) * framed[:, :, row.long(), column.long()]
    return total


def _keys(offset: Tensor) -> Tensor:
    """The kernel's value, for offsets of at most 2 pixels."""
    d = offset.abs()
    near = (1.5 * d - 2.5) * d * d + 1
    far = ((2.5 - 0.5 * d) * d - 4) * d + 2
    return torch.where(d <= 1, near, far)


def window(images: Tensor) -> Tensor:
    """(H, W) from 1 within `TAPER` of the largest disc inside to 0 at its edge, as a cosine."""
    share = _distance(images)
    fading = ((share - TAPER) / (1 - TAPER)).clamp(0, 1)
    return ((1 + (math.pi * fading).cos()) / 2).to(images)


def _distance(images: Tensor) -> Tensor:
    """(H, W) float64 distance from the center, in radii of the largest disc inside."""
    y, x = _centered(images)
    return torch.hypot(x, y) / ((min(images.shape[2:]) - 1) / 2)


def _centered(images: Tensor) -> tuple[Tensor, Tensor]:
    """(H, 1) and (1, W) float64 rows and columns from the center."""
    height, width = images.shape[2:]
    rows = torch.arange(height, dtype=torch.float64, device=images.device)
    columns = torch.arange(width, dtype=torch.float64, device=images.device)
    return (rows - (height - 1) / 2)[:, None], (columns - (width - 1) / 2)[None]


def _floor(x: Tensor, angle: float, turn: Turn) -> float:
    """The change by a turn and the turn back, as if the errors of both were independent."""
    back = turn(turn(x, angle), -angle)
    return _ratio(back - x, x) / math.sqrt(2)


def _error(image: Tensor, expected: Tensor, still: Tensor, within: Tensor | None) -> float:
    """The relative difference, within a part (H, W); infinite where the shapes differ."""
    if image.shape != expected.shape:
        return math.inf
    part = 1 if within is None else within
    return _ratio((image - expected) * part, still * part)


def _ratio(difference: Tensor, whole: Tensor) -> float:
    """|difference| / |whole| in float64."""
    above, below = (float(x.double().norm()) for x in (difference, whole))
    if below == 0:
        return 0.0 if above == 0 else math.inf
    return above / below


def _check_images(name: str, images: Tensor) -> None:
    check_shape(name, images, [("B", "C", "H", "W")])
    if min(images.shape[2:]) < SMALLEST:
        remedy = "Say output='invariant' of numbers, or give turn= for other fields."
        raise ValueError(
            f"{name} must have sides of at least {SMALLEST} pixels. Got {tuple(images.shape)}. "
            f"{remedy}"
        )


def _finite_angles(angles: Sequence[float], name: str = "angles") -> tuple[float, ...]:
    """Degrees as floats."""
    given: Any = angles
    if isinstance(given, Tensor):
        check_values(name, given)
    given = given.tolist() if hasattr(given, "tolist") else given  # of tensors and arrays
    if not is_sequence(given):
        raise TypeError(f"{name} must be a list of degrees. Got {quoted(angles)}.")
    degrees = tuple(number(name, angle) for angle in given)
    if not all(map(math.isfinite, degrees)):
        raise ValueError(f"{name} must be finite. Got {quoted(angles)}.")
    return degrees
