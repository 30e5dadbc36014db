"""Random numbers and stores that tests of the training side start from."""

from pathlib import Path

import first_order
import heated
import masked
import pytest
import spectral
import spin_truth
import symmetric
import torch
from damage import writable_copy
from stores import store_of

from cheblienet_models import Pyramid, open_store


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Let no test depend on the random numbers that tests before it drew."""
    torch.manual_seed(0)


spectral_graphs = store_of(spectral.SPECS, "session")
"""Stored eigenpairs, all of them but in one graph."""
gradient_graphs = store_of(first_order.SPECS, "session", opened=True)
heated_graphs = store_of(heated.SPECS, "session")
masked_graphs = store_of(masked.SPECS, "session")
spin_graphs = store_of(spin_truth.SPECS, "session", opened=True)
symmetric_graphs = store_of(symmetric.SPECS, "session")
"""Graphs on every sampling, most with symmetries."""


@pytest.fixture
def pyramid(store: Path) -> Pyramid:
    """Two levels, periodic, 16 x 16 x 4 vertices on the finest."""
    return open_store(store)["torus"]


@pytest.fixture
def copy(store: Path, tmp_path: Path) -> Path:
    """A private copy of the store, writable."""
    return writable_copy(store, tmp_path / "g.zarr")
