"""Sparsity patterns, against dense matrices."""

import numpy as np
import pytest
from pictured import dense_weights, opened

from cheblienet_graphs.plot import sparsity
from cheblienet_graphs.plot.sparsity import sparsity_of


@pytest.mark.parametrize("name", ["plane", "tiny", "dust"])
@pytest.mark.parametrize("cells", [1, 7, 5000])
def test_cells_hold_the_share_of_stored_entries(
    monkeypatch: pytest.MonkeyPatch, name: str, cells: int
) -> None:
    monkeypatch.setattr(sparsity, "CELLS", cells)
    data = sparsity_of(opened(name))
    stored = (dense_weights(opened(name)) > 0) | np.eye(data.vertices, dtype=bool)
    assert len(data.density) <= cells
    assert data.side == -(-data.vertices // cells)
    limits = np.arange(0, data.vertices, data.side)
    sums = np.add.reduceat(np.add.reduceat(stored.astype(int), limits), limits, axis=1)
    sizes = np.diff(np.append(limits, data.vertices))
    np.testing.assert_allclose(data.density, sums / np.outer(sizes, sizes))
    assert data.stored == stored.sum()
    assert data.zeros == pytest.approx(1 - stored.mean())
