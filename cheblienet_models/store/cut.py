"""The pixels that the edge of a domain cuts: their parts in it, and what a map shows in them."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cheblienet_models.errors import StoreError
from cheblienet_models.store.csr import CsrArrays, read_csr
from cheblienet_models.store.files import Folder

AREA = 1e-5
"""Largest error of a mass, in units of the mean one, and of sums of averages."""


@dataclass(frozen=True)
class CutPixels:
    """A level's domain, pixel by pixel, mapped copy-on-write.

    Args:
        fraction: (all pixels,) float32, the part of each in the domain, in [0, 1].
        filling: (all pixels, points) averages: what each pixel shows of a signal on the points.
            Rows are empty of what is outside, or near no point.
    """

    fraction: npt.NDArray[np.float32]
    filling: CsrArrays


def read_cut(folder: Folder, grid: tuple[int, ...], places: npt.NDArray[np.integer]) -> CutPixels:
    """Map the pixels of a level.

    Args:
        folder: of the level.
        grid: (orientations, *base shape) of all pixels.
        places: (points,) where the points are among these, ascending.

    Raises:
        StoreError: an array is missing, of another shape, type or range, points do not show
            themselves, or other rows are neither averages nor empty.
    """
    pixels, points = math.prod(grid[1:]), len(places)
    fraction = (folder / "fraction").array(("float32",), 1)
    if len(fraction) != pixels or not (fraction.min() >= 0 and fraction.max() <= 1):
        raise StoreError(f"{folder}/fraction must have {pixels} numbers in [0, 1].")
    filling = read_csr(folder / "filling", (pixels, points))
    counts, first = np.diff(filling.indptr), filling.indptr[:-1][places]
    filled = counts > 0
    sums = np.add.reduceat(filling.data, filling.indptr[:-1][filled])
    if not (counts[places] == 1).all() or (filling.indices[first] != np.arange(points)).any():
        raise StoreError(f"{folder}/filling must show each point in its own pixel.")
    if not (filling.data >= 0).all() or not np.allclose(sums, 1, atol=AREA):
        raise StoreError(f"{folder}/filling must have rows of weights that sum to 1, or none.")
    return CutPixels(fraction, filling)


def verify_cut(label: str, cut: CutPixels, area: npt.NDArray[np.float32]) -> None:
    """Check that masses are the parts of the pixels that each point shows itself in.

    Args:
        label: of the level, for messages.
        cut: its pixels.
        area: (points,) of one orientation, in any unit.

    Raises:
        StoreError: they are not.
    """
    filling = cut.filling
    parts = np.repeat(cut.fraction.astype(np.float64), np.diff(filling.indptr)) * filling.data
    masses = np.bincount(filling.indices, parts, filling.shape[1])
    mean = float(area.mean(dtype=np.float64))
    if not np.allclose(masses / masses.mean(), area / mean, rtol=0, atol=AREA):
        raise StoreError(f"{label} has areas that are not those of its parts of pixels.")
