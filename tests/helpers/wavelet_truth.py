"""Orientation scores by numpy's dense Fourier transform, sharing no code with the layer.

And what tests of lifts draw: lines, and images of the frequencies that a cake covers.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.interpolate import BSpline

BAND = 0.8 * np.pi
SPLINE = BSpline.basis_element(np.arange(-2.0, 3.0), extrapolate=False)


def spline(t: np.ndarray) -> np.ndarray:
    """The cubic B-spline about 0."""
    return np.nan_to_num(SPLINE(t))


def window(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The radial window at frequencies in radians a pixel."""
    radius = np.sqrt(y**2 + x**2)
    falling = (1 + np.cos(np.pi * (radius - BAND) / (np.pi - BAND))) / 2
    return np.where(radius <= BAND, 1, np.where(radius < np.pi, falling, 0))


def along_and_across(theta: float, y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """The frequencies along lines of direction theta, and across them."""
    return np.cos(theta) * x + np.sin(theta) * y, -np.sin(theta) * x + np.cos(theta) * y


def cake(theta: float, n_o: int, lengths: Sequence[float], y: np.ndarray, x: np.ndarray) -> list:
    """A wavelet for each scale; angles are in [-pi/2, pi/2] from across the lines."""
    along, across = along_and_across(theta, y, x)
    t = np.arctan(along / np.where(across == 0, 1e-300, across)) * n_o / np.pi
    angular, radius = sum(spline(t + m * n_o) for m in range(-3, 4)), np.hypot(y, x)
    lows = [1.0, *(np.exp(-((radius * length) ** 2) / 2) for length in lengths)]
    rings = [angular * (a - b) for a, b in pairwise(lows)]
    rings[-1] = rings[-1] + lows[-1] / n_o
    return [ring * window(y, x) for ring in rings]


def pair(theta: float, n_o: int, lengths: Sequence[float], y: np.ndarray, x: np.ndarray) -> list:
    """The even wavelets of a directed theta for each scale, then the odd ones."""
    along, across = along_and_across(theta, y, x)
    t = np.arctan2(-along, across) * n_o / (2 * np.pi)  # from theta + pi/2
    one, opposite = (sum(spline(t + turn + m * n_o) for m in range(-3, 4)) for turn in (0, n_o / 2))
    lows = [1.0, *(np.exp(-((y**2 + x**2) * length**2) / 2) for length in lengths)]
    rings = [(a - b) / 2 * window(y, x) for a, b in pairwise(lows)]
    even, odd = ([(one + sign * opposite) * ring for ring in rings] for sign in (1, -1))
    even[-1] = even[-1] + lows[-1] / n_o * window(y, x)
    return even + [1j * part for part in odd]


def gabor(theta: float, n_o: int, lengths: Sequence[float], y: np.ndarray, x: np.ndarray) -> list:
    """A wavelet for each wavelength."""
    along, across = along_and_across(theta, y, x)
    wavelets = []
    for length in lengths:
        sigma, long = 0.4 * length, max(0.4, n_o / (2 * np.pi**2)) * length
        lobe = lambda a, s=sigma: np.exp(-((a * s) ** 2) / 2)  # noqa: E731
        middle = 2 * np.pi / length
        even = lobe(across - middle) + lobe(across + middle) - 2 * lobe(middle) * lobe(across)
        wavelets.append(even * lobe(along, long) * window(y, x))
    return wavelets


def continued(images: np.ndarray, *, periodic: bool) -> np.ndarray:
    """(..., H, W), by mirror images where the plane is open."""
    if periodic:
        return images
    return np.pad(
        images, [*[(0, 0)] * (images.ndim - 2), *[(0, n) for n in images.shape[-2:]]], "symmetric"
    )


def frequencies(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """(height, 1) and (1, width) radians a pixel, in the order of numpy's transform."""
    y, x = (2 * np.pi * np.fft.fftfreq(side) for side in (height, width))
    return y[:, None], x[None]


def scores(
    images: np.ndarray, n_o: int, kind: str, lengths: Sequence[float], *, periodic: bool
) -> np.ndarray:
    """(..., H, W) -> (S, n_o, ..., H, W), open images being continued by their mirror images.

    Of the kind "pair", modulo 2 pi, (2 S, n_o, ..., H, W).
    """
    height, width = images.shape[-2:]
    images = continued(images, periodic=periodic)
    y, x = frequencies(*images.shape[-2:])
    thetas = (np.arange(n_o) / n_o - 0.5) * (2 * np.pi if kind == "pair" else np.pi)
    make = {"cake": cake, "gabor": gabor, "pair": pair}[kind]
    filters = np.array([make(theta, n_o, lengths, y, x) for theta in thetas]).swapaxes(0, 1)
    waves = np.fft.fft2(images)
    filtered = np.fft.ifft2([[wavelet * waves for wavelet in scale] for scale in filters])
    assert abs(filtered.imag).max() < 1e-12 * max(1, abs(filtered).max())
    return filtered.real[..., :height, :width]


def covered(shape: tuple[int, ...], *, periodic: bool, seed: int = 0) -> np.ndarray:
    """Noise without frequencies beyond the band, of the torus or of the mirrored plane."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    waves = np.fft.fft2(continued(noise, periodic=periodic))
    inside = np.hypot(*frequencies(*waves.shape[-2:])) <= BAND
    return np.fft.ifft2(waves * inside).real[..., : shape[-2], : shape[-1]]


def line(size: int, theta: float, width: float = 1.5) -> np.ndarray:
    """(size, size) a bright line along (cos theta, sin theta) through the center, y down."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    return np.exp(-((-np.sin(theta) * x + np.cos(theta) * y) ** 2) / (2 * (width / 2) ** 2))
