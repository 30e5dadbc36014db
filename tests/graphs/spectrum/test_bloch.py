"""Lattices that translations leave alone: blocks of their spectra."""

from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import (
    GraphSpec,
    build,
)
from cheblienet_graphs.spectrum.symmetric import BlochBlocks, translated
from cheblienet_graphs.store.reader import mapped_csr

SMALL = {
    "even": GraphSpec("se2", "10x8", orientations=3, boundary="periodic", levels=1),
    "odd": GraphSpec("se2", "9x11", orientations=2, boundary="periodic", levels=1),
    "plane": GraphSpec("r2", "12x9", neighbors=4, boundary="periodic", levels=1),
    "selling": GraphSpec("se2", 12, weights="selling", boundary="periodic", levels=1),
}


@pytest.mark.parametrize("name", SMALL)
def test_bloch_blocks_have_the_dense_eigenpairs(tmp_path: Path, name: str) -> None:
    """Also where a multiplet is cut in two, and where a wave is its own mirror image."""
    build(SMALL[name], tmp_path / "g.zarr", name="g")
    laplacian = mapped_csr(tmp_path / "g.zarr/g/v001/levels/0/laplacian")
    points = SMALL[name].full_sampling(0)
    assert translated(points, laplacian)
    dense = np.linalg.eigvalsh(laplacian.toarray().astype(float))
    blocks = BlochBlocks(laplacian, points)
    assert np.allclose(blocks.eigenvalues(), dense, atol=1e-12)
    for count in (1, 4, 30, len(dense)):
        values, vectors = blocks.smallest(count)
        assert np.allclose(values, dense[:count], atol=1e-12)
        assert np.allclose(laplacian @ vectors, vectors * values, atol=1e-6)
        assert np.allclose(vectors.T @ vectors, np.eye(count), atol=1e-10)


def test_open_lattices_have_no_bloch_blocks(store: Path) -> None:
    laplacian = mapped_csr(store / "r2-24x16/v001/levels/0/laplacian")
    periodic = GraphSpec("r2", "24x16", boundary="periodic")
    assert not translated(periodic.full_sampling(0), laplacian)
    assert not translated(GraphSpec("r2", "24x16").full_sampling(0), laplacian)
