"""What every test of the training side starts from."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Let no test depend on the random numbers that tests before it drew."""
    torch.manual_seed(0)
