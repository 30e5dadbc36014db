"""Smoothing as a matrix against smoothing itself, one vertex at a time."""

from pathlib import Path
from typing import Any

import field_truth as truth
import numpy as np
import pytest
import torch
from refusing import refused
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import Store, save_npz, smooth, smoothing_matrix


@pytest.mark.parametrize(
    ("name", "tolerance"), [("sphere", 1e-6), ("kernel", 1e-2), ("plane", 1e-2), ("turning", 1e-6)]
)
def test_rows_are_those_of_smoothing(fields: Store, name: str, tolerance: float) -> None:
    pyramid = fields[name]
    vertices = pyramid.levels[0].num_vertices
    fwhm = 0.4
    eye = torch.eye(vertices, dtype=torch.float64)[None]
    exact = smooth(pyramid, eye, fwhm, allow_inconsistent=True)[0].T
    matrix = smoothing_matrix(pyramid, fwhm, tolerance=tolerance, allow_inconsistent=True)
    assert (matrix.dtype, matrix.shape) == (torch.float32, exact.shape)
    error = (matrix.to_dense() - exact).abs().sum(1).max()
    assert error < tolerance + 1e-6
    torch.testing.assert_close(matrix.to_dense().sum(1), torch.ones(vertices))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_small_entries_are_left_out(fields: Store, tolerance: float) -> None:
    pyramid = fields["healpix"]
    matrix = smoothing_matrix(pyramid, 4 * truth.spacing(pyramid), tolerance=tolerance)
    expected = 2.6 * np.log10(2.5 / tolerance) * 4**2
    assert matrix.values().numel() / len(matrix) == pytest.approx(expected, rel=0.15)


SAMPLINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "HEALPix": ("s2", {"nside": 8}),
    "equiangular": ("s2", {"bandlimit": 12}),
    "full Gaussian": ("s2", {"gaussian": "F8"}),
    "octahedral": ("s2", {"gaussian": "O10"}),
    "random": ("s2", {"points": 700}),
    "refined": ("s2", {"refined": (2, 4, -10, 35, 30, 60)}),
    "plane": ("r2", {"size": "20x30", "weights": "selling"}),
    "torus": ("r2", {"size": 24, "weights": "selling", "boundary": "periodic"}),
    "plane, random": ("r2", {"points": 500}),
    "islands": ("r2", {"mask": np.arange(600).reshape(20, 30) % 7 > 0, "weights": "matched"}),
    "turning": ("se2", {"size": 8, "orientations": 6, "weights": "selling"}),
}


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
@pytest.mark.parametrize("name", SAMPLINGS)
def test_it_is_the_filter_within_its_tolerance(tmp_path: Path, name: str, tolerance: float) -> None:
    """Of a dense eigendecomposition; constants and integrals stay, whatever is left out."""
    manifold, given = SAMPLINGS[name]
    pyramid = pyramid_of(tmp_path, GraphSpec(manifold, **{"weights": "voronoi", **given}, levels=1))
    fwhm = 0.25
    found = smoothing_matrix(pyramid, fwhm, tolerance=tolerance).to_dense().double().numpy()
    assert np.abs(found - truth.dense_beam(pyramid, fwhm)).sum(1).max() < tolerance + 1e-6
    mass = pyramid.levels[0].mass.double().numpy()
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-7)
    np.testing.assert_allclose(mass @ found, mass, rtol=2e-7)


def test_beams_of_many_spacings_reach_no_further_than_they_do(tmp_path: Path) -> None:
    """Where blocks are parts of the graph, harmonics are multiplied as by the beam."""
    pyramid = pyramid_of(tmp_path, GraphSpec("s2", nside=32, weights="voronoi", levels=1))
    fwhm = 0.08
    matrix = smoothing_matrix(pyramid, fwhm, tolerance=1e-5)
    assert matrix.values().numel() < 0.05 * matrix.numel()
    for degree in (1, 4, 12):
        x = truth.harmonic(pyramid, degree)
        y = (matrix.double() @ torch.from_numpy(x)).numpy()
        np.testing.assert_allclose(y, smooth(pyramid, truth.signal(x), fwhm)[0, 0], atol=2e-5)
        np.testing.assert_allclose(y, truth.response(degree, fwhm) * x, atol=0.01)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_planes_are_fitted_at_the_sides_of_a_region(fields: Store, tolerance: float) -> None:
    pyramid = fields["region"]
    x = truth.vectors(pyramid) @ [0.3, -0.8, 0.5] + 3
    y = smoothing_matrix(pyramid, 0.15, tolerance=tolerance).double() @ torch.from_numpy(x)
    expected = smooth(pyramid, truth.signal(x), 0.15)[0, 0]
    assert (y - expected).abs().max() < (tolerance + 1e-6) * np.abs(x).max()
    slope = truth.response(1, 0.15) * (x - 3) + 3
    assert np.abs(y.numpy() - slope).max() < 0.006 + tolerance * np.abs(x).max()


def test_refusals(fields: Store, tmp_path: Path) -> None:
    plane = fields["plane"]
    for tolerance in (0, 1e-9, 0.5, np.nan):
        refused("tolerance must be in", smoothing_matrix, plane, 0.1, tolerance=tolerance)
    for matrix in (torch.eye(3), smoothing_matrix(plane, 0.1).to(torch.int64)):
        refused("matrix must be a sparse CSR tensor of", save_npz, tmp_path / "m.npz", matrix)
    assert list(tmp_path.iterdir()) == []
