"""Line filters in the Fourier plane of pixels, one for each orientation, and the waves there.

Frequencies are (y, x) in radians a pixel, in [-pi, pi]. Filters are real and even, so they keep
lines: their energy is on the line through 0 that is perpendicular to them; or such a one and an odd
one, which keeps edges.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from cheblienet_models.arguments import choice, is_sequence, number
from cheblienet_models.errors import quoted

Kind = Literal["cake", "gabor"]
BAND = 0.8 * math.pi
"""Radians a pixel up to which the radial window is 1; it falls to 0 at pi."""
FINEST = 4.0
"""Pixels: the first length where only the number of scales is given; the next ones double."""
MOST_SCALES = 32
"""The last one is wider than any image."""
LEAST = {"cake": 1.0, "gabor": 2 * math.pi / BAND}
"""Pixels that a length must have at least: shorter ones are not in the band."""
ACROSS = 0.4
"""Standard deviation of a Gabor filter across its line, in wavelengths."""


def checked_lengths(kind: Kind, scales: int | Sequence[float]) -> tuple[float, ...]:
    """Lengths in pixels that a number of scales stands for, or the given ones.

    Raises:
        ValueError: another kind, fewer scales than one, lengths that are too short or do
            not ascend.
    """
    choice("kind", kind, LEAST)
    given: Any = scales
    is_count = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if is_count and 1 <= given <= MOST_SCALES:
        return tuple(FINEST * 2.0**step for step in range(given))
    lengths = tuple(number("scales", length) for length in (given if is_sequence(given) else ()))
    ascending = all(a < b for a, b in pairwise(lengths))
    if not lengths or not ascending or not LEAST[kind] <= lengths[0] <= lengths[-1] < math.inf:
        raise ValueError(
            f"scales must be a number of at least 1, at most {MOST_SCALES}, or ascending lengths "
            f"of at least {LEAST[kind]:g} pixels for kind={kind!r}. Got {quoted(scales)}."
        )
    return lengths


def filters(
    kind: Kind, lengths: Sequence[float], orientations: int, frequencies: tuple[Tensor, Tensor]
) -> Tensor:
    """Values of the wavelets of the first n_o // 2 + 1 orientations theta_k = -pi/2 + k pi/n_o.

    Args:
        kind: "cake" or "gabor".
        lengths: in pixels, as `checked_lengths` gives them.
        orientations: n_o.
        frequencies: y and x, of shapes that broadcast to (H, W); float64.

    Returns:
        (scales, n_o // 2 + 1, H, W) float64.
    """
    y, x = frequencies
    radius, direction = torch.hypot(y, x), torch.atan2(y, x)
    made = _cake if kind == "cake" else _gabor
    return made(lengths, orientations, radius, direction) * _falling(radius)


def _falling(radius: Tensor) -> Tensor:
    """1 up to BAND, then half a period of a cosine down to 0 at pi."""
    fallen = ((radius - BAND) / (math.pi - BAND)).clamp(0, 1)
    return (fallen * (math.pi / 2)).cos().square()


def pairs(
    lengths: Sequence[float], orientations: int, frequencies: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Quadrature pairs of a cake at the first n_o / 2 of theta_k = -pi + 2 k pi/n_o.

    A pair is (a + b)/2 and i (a - b)/2, a being a slice on the side of theta + pi/2 alone and b the
    opposite one: it keeps lines, and edges that are brighter on that side. Half a turn on, the
    first is the same, the other has another sign.

    Args:
        lengths: in pixels, as `checked_lengths` gives them.
        orientations: n_o, even.
        frequencies: y and x, of shapes that broadcast to (H, W); float64.

    Returns:
        Twice (scales, n_o / 2, H, W) float64, the second without its i.
    """
    y, x = frequencies
    radius = torch.hypot(y, x)
    half = orientations // 2
    steps = torch.atan2(y, x) * (half / math.pi) + half / 2
    sides = (
        torch.stack([_slice(steps - k - turn, orientations) for k in range(half)])
        for turn in (0, half)
    )
    one, opposite = sides
    rings, low = _rings(lengths, radius)
    even, odd = (rings[:, None] * part / 2 for part in (one + opposite, one - opposite))
    even[-1] += low / orientations
    window = _falling(radius)
    return even * window, odd * window


def _cake(lengths: Sequence[float], orientations: int, radius: Tensor, direction: Tensor) -> Tensor:
    """Slices of a disc: together they are 1."""
    # Energy of lines along theta is at theta + pi/2, which is k steps of pi/n_o.
    steps = direction * (orientations / math.pi)
    slices = torch.stack([_slice(steps - k, orientations) for k in range(orientations // 2 + 1)])
    rings, low = _rings(lengths, radius)
    spectra = rings[:, None] * slices
    spectra[-1] += low / orientations
    return spectra


def _rings(lengths: Sequence[float], radius: Tensor) -> tuple[Tensor, Tensor]:
    """(S, H, W) the addend of each length to the ones before it, and (H, W) the rest beyond all."""
    lows = [torch.ones_like(radius)]
    lows += [torch.exp(-0.5 * (radius * length).square()) for length in lengths]
    return torch.stack([a - b for a, b in pairwise(lows)]), lows[-1]


def _slice(steps: Tensor, period: int) -> Tensor:
    """The cubic B-spline, repeated with a period: its shifts by whole numbers have the sum 1."""
    # Whole periods about 0; -2 to 2 are needed where the period is shorter than it.
    near = steps - period * torch.round(steps / period)
    return torch.stack([_spline((near + period * m).abs()) for m in range(-2, 3)]).sum(0)


def _spline(t: Tensor) -> Tensor:
    inner = 2 / 3 - t.square() + t**3 / 2
    outer = (2 - t).clamp(min=0) ** 3 / 6
    return torch.where(t < 1, inner, outer)


def _gabor(
    lengths: Sequence[float], orientations: int, radius: Tensor, direction: Tensor
) -> Tensor:
    """Pairs of Gaussians about +- 2 pi / wavelength across the line, less their value at 0."""
    # Along the line so long that neighbors overlap at one standard deviation.
    along_wave = max(ACROSS, orientations / (2 * math.pi**2))
    turned = [direction - k * math.pi / orientations for k in range(orientations // 2 + 1)]
    across = torch.stack([radius * angle.cos() for angle in turned])
    along = torch.stack([radius * angle.sin() for angle in turned])
    spectra = []
    for length in lengths:
        middle = 2 * math.pi / length
        width = ACROSS * length
        lobes = _gaussian((across - middle) * width) + _gaussian((across + middle) * width)
        lobes = lobes - 2 * math.exp(-0.5 * (middle * width) ** 2) * _gaussian(across * width)
        spectra.append(lobes * _gaussian(along * (along_wave * length)))
    return torch.stack(spectra)


def _gaussian(deviations: Tensor) -> Tensor:
    return torch.exp(-0.5 * deviations.square())


def waves(size: int, *, periodic: bool) -> tuple[Tensor, Tensor, Tensor]:
    """An orthonormal basis of real waves on a row of pixels, and the same a quarter period on.

    On a periodic row cosines and sines of frequencies 2 pi a / size. On an open one the cosines of
    frequencies pi a / size that are even about both ends of the row (the type II cosine transform):
    waves of the row continued by its mirror images, for ever.

    Args:
        size: pixels.
        periodic: whether the row is a circle.

    Returns:
        (size,) frequencies in radians a pixel, (size, size) waves, one in each row, and what they
        become where cos turns to sin and sin to -cos, (size, size). All float64.
    """
    pixels = torch.arange(size)
    if not periodic:
        numbers, places, length = pixels, 2 * pixels + 1, 4 * size  # in half pixels
    else:
        numbers, places, length = (pixels + 1) // 2, pixels, size
    # Whole turns are left out while numbers are whole.
    phases = (numbers[:, None] * places % length).double() * (2 * math.pi / length)
    is_sine = (periodic & (pixels % 2 == 0) & (pixels > 0))[:, None]
    cosines, sines = phases.cos(), phases.sin()
    alone = numbers * 2 % size == 0 if periodic else numbers == 0
    norms = ((2 - alone.double()) / size).sqrt()[:, None]
    waves = torch.where(is_sine, sines, cosines) * norms
    quarter = torch.where(is_sine, -cosines, sines) * norms
    step = 2 * math.pi if periodic else math.pi
    return numbers.double() * (step / size), waves, quarter
