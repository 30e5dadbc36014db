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


def angle_from(theta: float, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Angles in [-pi/2, pi/2] between frequencies and the one across lines along theta."""
    across = -np.sin(theta) * x + np.cos(theta) * y
    along = np.cos(theta) * x + np.sin(theta) * y
    return np.arctan(along / np.where(across == 0, 1e-300, across))


def cake(theta: float, n_o: int, lengths: Sequence[float], y: np.ndarray, x: np.ndarray) -> list:
    """A wavelet for each scale."""
    radius, t = np.sqrt(y**2 + x**2), angle_from(theta, y, x) * n_o / np.pi
    angular = sum(spline(t + m * n_o) for m in range(-3, 4))
    lows = [1.0, *(np.exp(-((radius * length) ** 2) / 2) for length in lengths)]
    rings = [angular * (a - b) for a, b in pairwise(lows)]
    rings[-1] = rings[-1] + lows[-1] / n_o
    return [ring * window(y, x) for ring in rings]


def gabor(theta: float, n_o: int, lengths: Sequence[float], y: np.ndarray, x: np.ndarray) -> list:
    """A wavelet for each wavelength."""
    across = -np.sin(theta) * x + np.cos(theta) * y
    along = np.cos(theta) * x + np.sin(theta) * y
    found = []
    for length in lengths:
        sigma, long = 0.4 * length, max(0.4, n_o / (2 * np.pi**2)) * length
        lobe = lambda a, s=sigma: np.exp(-((a * s) ** 2) / 2)  # noqa: E731
        middle = 2 * np.pi / length
        even = lobe(across - middle) + lobe(across + middle) - 2 * lobe(middle) * lobe(across)
        found.append(even * np.exp(-((along * long) ** 2) / 2) * window(y, x))
    return found


def frequencies(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """(height, 1) and (1, width) radians a pixel, in the order of numpy's transform."""
    y, x = (2 * np.pi * np.fft.fftfreq(side) for side in (height, width))
    return y[:, None], x[None]


def scores(
    images: np.ndarray, n_o: int, kind: str, lengths: Sequence[float], *, periodic: bool
) -> np.ndarray:
    """(..., H, W) -> (S, n_o, ..., H, W), open images being continued by their mirror images."""
    height, width = images.shape[-2:]
    still = [(0, 0)] * (images.ndim - 2)
    if not periodic:
        images = np.pad(images, [*still, (0, height), (0, width)], mode="symmetric")
    y, x = frequencies(*images.shape[-2:])
    thetas = -np.pi / 2 + np.arange(n_o) * np.pi / n_o
    make = cake if kind == "cake" else gabor
    filters = np.array([make(theta, n_o, lengths, y, x) for theta in thetas]).swapaxes(0, 1)
    filters = filters.reshape(*filters.shape[:2], *[1] * len(still), *images.shape[-2:])
    found = np.fft.ifft2(np.fft.fft2(images) * filters)
    assert abs(found.imag).max() < 1e-12 * max(1, abs(found).max())
    return found.real[..., :height, :width]


def covered(shape: tuple[int, ...], *, periodic: bool, seed: int = 0) -> np.ndarray:
    """Noise without frequencies beyond the band, of the torus or of the mirrored plane."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    height, width = shape[-2:]
    if not periodic:
        still = [(0, 0)] * (noise.ndim - 2)
        noise = np.pad(noise, [*still, (0, height), (0, width)], mode="symmetric")
    y, x = frequencies(*noise.shape[-2:])
    inside = np.hypot(y, x) <= BAND
    return np.fft.ifft2(np.fft.fft2(noise) * inside).real[..., :height, :width]


def line(size: int, theta: float, width: float = 1.5) -> np.ndarray:
    """(size, size) a bright line along (cos theta, sin theta) through the center, y down."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    return np.exp(-((-np.sin(theta) * x + np.cos(theta) * y) ** 2) / (2 * (width / 2) ** 2))
