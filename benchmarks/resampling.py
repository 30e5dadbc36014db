"""Costs and losses of resampling between latitude/longitude grids and the sphere's points.

All real spherical harmonics up to degree 8, relative to each one's largest value: after a round
trip from points over a grid, and from a grid over points, bilinear both ways; integrals (of 1 plus
half a harmonic) from the grid to points, conservatively, which are exact but for float32 (single
cells and blobs are in cells.py). Then images of a degree of which 30 % are missing,
pixel by pixel and in three continents, to points and back, conservatively: how far constants move,
and integrals over what is there. These are trips and gaps.

    python benchmarks/resampling.py [trips|gaps]
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy.special import sph_harm_y
from scripts import print_head, print_row, pyramid_of, run_parts
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import LatLonToVertices, Pyramid, VerticesToLatLon, regular_grid

DEGREE = 8
SAMPLINGS: dict[str, dict[str, Any]] = {
    "icosahedral, level 5": {"subdivisions": 5},
    "HEALPix, nside 32": {"nside": 32},
    "equiangular, b = 50": {"bandlimit": 50},
}


def harmonics(beta: Tensor, gamma: Tensor) -> Tensor:
    """(1, count, n) float32, each with its largest value 1."""
    waves = []
    fine = np.linspace(0, math.pi, 4001)
    for degree in range(DEGREE + 1):
        for order in range(degree + 1):
            wave = sph_harm_y(degree, order, beta.numpy(), gamma.numpy())
            largest = abs(sph_harm_y(degree, order, fine, 0.0)).max()
            waves += [wave.real / largest] + ([wave.imag / largest] if order else [])
    return torch.from_numpy(np.stack(waves)).float()[None]


def with_gaps(image: Tensor, kind: str) -> Tensor:
    """Images (B, C, 180, 360) from west=0 with NaN on 30 % of the pixels or of the sphere."""
    if kind == "pixels":
        return image.masked_fill(torch.rand(image.shape) < 0.3, math.nan)
    latitude = (torch.arange(180) - 89.5)[:, None]
    longitude = torch.arange(360) + 0.5
    land = (latitude > 61) | ((latitude - 4).abs() + (longitude - 60).abs() < 53)
    land |= (latitude.abs() < 45) & ((longitude - 230).abs() < 26)
    return image.masked_fill(land, math.nan)


def pyramids() -> Iterator[tuple[str, Pyramid]]:
    """Of each sampling, with its name."""
    for title, size in SAMPLINGS.items():
        yield title, pyramid_of(GraphSpec("s2", levels=1, **size), device="cpu")


def angles(grid: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """(H, W) colatitudes and longitudes of a grid, radians."""
    beta, gamma = torch.meshgrid(torch.deg2rad(90 - grid[0]), torch.deg2rad(grid[1]), indexing="ij")
    return beta, gamma


def waves_on(beta: Tensor, gamma: Tensor) -> Tensor:
    """(1, count, H, W) harmonics."""
    waves: Tensor = harmonics(beta.flatten(), gamma.flatten()).unflatten(2, beta.shape)
    return waves


def print_trips() -> None:
    print_head("sampling", "grid", "points - grid - points", "grid - points - grid", "integral")
    for title, pyramid in pyramids():
        graph = pyramid.levels[0]
        at_points = harmonics(*graph.coordinates.T)
        for height in (180, 90):
            grid = regular_grid(height, 2 * height, west=0)
            beta, gamma = angles(grid)
            on_grid = waves_on(beta, gamma)
            down, up = LatLonToVertices(pyramid, *grid), VerticesToLatLon(pyramid, *grid)
            there_and_back = float((down(up(at_points)) - at_points).abs().max())
            back_and_there = float((up(down(on_grid)) - on_grid).abs().max())
            means = LatLonToVertices(pyramid, *grid, method="conservative")
            weights = beta.sin() / beta.sin().sum()
            integral = ((1 + on_grid.double() / 2) * weights).sum(dim=(2, 3))
            kept = (means(1 + on_grid / 2).double() * graph.area.double()).mean(dim=2)
            lost = float((kept / integral - 1).abs().max())
            cells = f"{there_and_back:.2%}", f"{back_and_there:.2%}", f"{lost:.1e}"
            print_row(title, f"{180 // height} degree", *cells)


def print_gaps() -> None:
    after = "integral after the way back"
    print_head("sampling", "missing", "constants", "integral at points", after)
    grid = regular_grid(180, 360, west=0)
    waves = waves_on(*angles(grid)).double()
    edges = torch.linspace(90, -90, 181, dtype=torch.float64).deg2rad().sin()
    pixel = -edges.diff()[:, None] / 720
    for (title, pyramid), kind in product(pyramids(), ("pixels", "continents")):
        up = LatLonToVertices(pyramid, *grid, "conservative", skipna=True).double()
        down = VerticesToLatLon(pyramid, *grid, "conservative", skipna=True).double()
        area = pyramid.levels[0].area.double() / up.num_points
        torch.manual_seed(0)
        image = with_gaps(1 + waves / 2, kind)
        constant = torch.where(image.isnan(), math.nan, 7.3)
        moved = down(up(constant)) - 7.3
        valid = (~image.isnan()).double()
        missing = float(1 - (valid * pixel).sum((2, 3)).mean())
        integral = (image.nan_to_num() * pixel).sum((2, 3))
        # Each mean counts with the share of its cell that it was taken over.
        points = (up(image).nan_to_num() * up(valid)).nan_to_num()
        at_points = float(((points * area).sum(2) / integral - 1).abs().max())
        back = float(((down(points) * pixel).sum((2, 3)) / integral - 1).abs().max())
        constants = float(moved.nan_to_num().abs().max())
        cells = f"{constants:.0e}", f"{at_points:.1e}", f"{back:.0e}"
        print_row(title, f"{kind}, {missing:.0%}", *cells)


PARTS = {"trips": print_trips, "gaps": print_gaps}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
