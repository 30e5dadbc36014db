"""Masks of awkward shapes."""

import numpy as np


def disc(side: int, *, across: float | None = None) -> np.ndarray:
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    return x**2 + y**2 < ((across or side) / 2) ** 2


def awkward(side: int) -> np.ndarray:
    """A ring with a hole, two squares joined by a neck one pixel wide, a piece, single pixels."""
    mask = disc(side, across=0.75 * side) & ~disc(side, across=0.3 * side)
    mask[:3] = mask[-3:] = False
    half = side // 2
    mask[half, : side // 4] = True  # the neck reaches the side
    mask[half - 2 : half + 3, :3] = True
    mask[-2:, -4:] = True
    mask[0, 0] = mask[0, -1] = mask[1, half] = True
    return mask


def points_mask(points: int, share: float, seed: int = 0) -> np.ndarray:
    """Points inside at random, the last one among them."""
    inside = np.random.default_rng(seed).random(points) < share
    inside[-1] = True
    return inside


def fractions(side: int) -> np.ndarray:
    """Parts of pixels inside a disc, which is off the middle."""
    return np.clip(0.42 * side - np.hypot(*(np.indices((side, side)) - side / 2 + 0.7)), 0, 1)


def islands() -> np.ndarray:
    """Two squares and a pixel that is alone."""
    inside = np.zeros((14, 14), bool)
    inside[1:6, 1:6] = inside[8:13, 8:13] = inside[2, 12] = True
    return inside
