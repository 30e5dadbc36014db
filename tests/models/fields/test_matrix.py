"""Smoothing as a matrix against smoothing itself, one vertex at a time."""

from pathlib import Path

import field_truth as truth
import numpy as np
import pytest
import scipy.sparse
import torch
from refusing import refused

from cheblienet_models import Store, save_npz, smooth, smoothing_matrix


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
@pytest.mark.parametrize("name", ["sphere", "kernel", "plane", "turning"])
def test_rows_are_those_of_smoothing(fields: Store, name: str, tolerance: float) -> None:
    pyramid = fields[name]
    vertices = pyramid.levels[0].num_vertices
    fwhm = 0.4
    exact = smooth(pyramid, torch.eye(vertices, dtype=torch.float64)[None], fwhm)[0].T
    matrix = smoothing_matrix(pyramid, fwhm, tolerance=tolerance)
    assert (matrix.dtype, matrix.shape) == (torch.float32, exact.shape)
    error = (matrix.to_dense() - exact).abs().sum(1).max()
    assert error < 20 * tolerance + 1e-6
    torch.testing.assert_close(matrix.to_dense().sum(1), torch.ones(vertices))


def test_small_entries_are_left_out(fields: Store) -> None:
    pyramid = fields["healpix"]
    fwhm, sizes = 4 * truth.spacing(pyramid), {}
    for tolerance in (1e-2, 1e-4):
        matrix = smoothing_matrix(pyramid, fwhm, tolerance=tolerance)
        dense = matrix.to_dense().abs()
        kept = torch.where(dense > 0, dense, torch.inf)
        assert (kept.amin(1) >= 0.999 * tolerance * dense.amax(1)).all()
        sizes[tolerance] = matrix.values().numel() / len(dense)
        expected = 2.6 * -np.log10(tolerance) * 4**2
        assert sizes[tolerance] == pytest.approx(expected, rel=0.25)


def test_scipy_reads_what_is_saved(fields: Store, tmp_path: Path) -> None:
    pyramid = fields["healpix"]
    matrix = smoothing_matrix(pyramid, 0.2)
    read = scipy.sparse.load_npz(save_npz(tmp_path / "smoothing", matrix))
    assert read.format == "csr"
    assert read.has_canonical_format
    x = truth.harmonic(pyramid, 4)
    np.testing.assert_allclose(read @ x, truth.response(4, 0.2) * x, atol=2e-3 * abs(x).max())


def test_refusals(fields: Store, tmp_path: Path) -> None:
    plane = fields["plane"]
    for tolerance in (0, 1e-9, 0.5, np.nan):
        refused("tolerance must be in", smoothing_matrix, plane, 0.1, tolerance=tolerance)
    refused("fwhm must be in", smoothing_matrix, fields["sphere"], 4.0)
    for matrix in (torch.eye(3), smoothing_matrix(plane, 0.1).to(torch.int64)):
        message = "matrix must be a sparse CSR tensor of two dimensi"
        refused(message, save_npz, tmp_path / "m.npz", matrix)
    assert list(tmp_path.iterdir()) == []
