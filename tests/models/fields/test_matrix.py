"""Smoothing as a matrix against smoothing itself, one vertex at a time."""

from pathlib import Path

import field_truth as truth
import numpy as np
import pytest
import torch
from refusing import refused

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
    assert error < 20 * tolerance + 1e-6
    torch.testing.assert_close(matrix.to_dense().sum(1), torch.ones(vertices))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_small_entries_are_left_out(fields: Store, tolerance: float) -> None:
    pyramid = fields["healpix"]
    matrix = smoothing_matrix(pyramid, 4 * truth.spacing(pyramid), tolerance=tolerance)
    dense = matrix.to_dense().abs()
    kept = torch.where(dense > 0, dense, torch.inf)
    assert (kept.amin(1) >= 0.999 * tolerance * dense.amax(1)).all()
    expected = 2.6 * -np.log10(tolerance) * 4**2
    assert matrix.values().numel() / len(dense) == pytest.approx(expected, rel=0.25)


def test_refusals(fields: Store, tmp_path: Path) -> None:
    plane = fields["plane"]
    for tolerance in (0, 1e-9, 0.5, np.nan):
        refused("tolerance must be in", smoothing_matrix, plane, 0.1, tolerance=tolerance)
    for matrix in (torch.eye(3), smoothing_matrix(plane, 0.1).to(torch.int64)):
        refused("matrix must be a sparse CSR tensor of", save_npz, tmp_path / "m.npz", matrix)
    assert list(tmp_path.iterdir()) == []
