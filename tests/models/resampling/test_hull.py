"""Interpolation on the facets of a hull: weights, symmetries."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sphere_fields import angles, harmonics, on_grid
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid
from cheblienet_models.symmetries import symmetries


def test_interpolation_to_images_is_barycentric(spheres: Store) -> None:
    """Weights are from 0, of the corners of one facet of the hull, and place the pixel."""
    from scipy.spatial import ConvexHull

    for name, corners in (("healpix", 4), ("equiangular", 4), ("random", 3)):
        pyramid, grid = spheres[name], regular_grid(20, 40, west=0)
        down = VerticesToLatLon(pyramid, *grid)
        beta, gamma = angles(pyramid)
        points = np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma)])
        points = np.concatenate([points, np.cos(beta)[None]])
        chords = down.double()(torch.from_numpy(points)[None])[0].flatten(1).numpy()
        b, g = (angle.ravel() for angle in on_grid(*grid))
        pixels = np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)])
        radius = np.linalg.norm(chords, axis=0)
        assert np.abs(chords / radius - pixels).max() < 1e-6
        assert down.values.min() >= 0
        assert down.row_pointers.diff().max() == corners
        # The hull's boundary is where the first facet's plane is met.
        facets = ConvexHull(points.T).equations
        height = facets[:, :3] @ pixels
        with np.errstate(divide="ignore"):
            reached = np.where(height > 0, -facets[:, 3:] / height, np.inf)
        assert np.abs(radius - reached.min(0)).max() < 1e-6
        plane = facets[reached.argmin(0)].repeat(down.row_pointers.diff(), 0)
        away = (plane[:, :3] * points.T[down.columns]).sum(1) + plane[:, 3]
        # A pixel on an edge may be on the facet beyond it, whose other corners count nothing.
        assert np.abs(away[down.values > 1e-6]).max() < 1e-6


MIRRORED = {  # what a symmetry of the sphere does to images of a whole number of quarter turns
    "reflection": lambda image: image.flip(3),
    "half_turn_x": lambda image: image.flip(2, 3),
    "half_turn_y": lambda image: image.flip(2, 3).roll(image.shape[3] // 2, 3),
    "half_turn_z": lambda image: image.roll(image.shape[3] // 2, 3),
    "quarter_turn_z": lambda image: image.roll(image.shape[3] // 4, 3),
}


@pytest.mark.parametrize("method", ["bilinear", "conservative"])
@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec("s2", bandlimit=8, levels=1),
        GraphSpec("s2", bandlimit=3, levels=1),
        GraphSpec("s2", nside=4, levels=1),
        GraphSpec("s2", nside=1, levels=1),
        GraphSpec("s2", subdivisions=2, levels=1),
    ],
    ids=["equiangular-8", "equiangular-3", "healpix-4", "healpix-1", "icosahedral"],
)
def test_resampling_commutes_with_symmetries(tmp_path: Path, spec: GraphSpec, method: str) -> None:
    """The facets of a lattice's hull are no triangles: no diagonal may be preferred."""
    pyramid, grid = pyramid_of(tmp_path, spec), regular_grid(32, 64, west=0)
    up = LatLonToVertices(pyramid, *grid, method)
    down = VerticesToLatLon(pyramid, *grid, method)
    motions = {n: m for n, m in symmetries(pyramid, [0]).items() if n in MIRRORED}
    assert len(motions) >= 4
    on_points, image = harmonics(*angles(pyramid), 4), harmonics(*on_grid(*grid), 4)
    for name, motion in motions.items():
        vertices = motion[0].vertices
        moved = torch.empty_like(on_points)
        moved[..., vertices] = on_points
        assert (down(moved) - MIRRORED[name](down(on_points))).abs().max() < 1e-6
        taken = torch.empty_like(on_points)
        taken[..., vertices] = up(image)
        assert (up(MIRRORED[name](image)) - taken).abs().max() < 1e-6
