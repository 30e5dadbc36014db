"""Reports on graphs that a test builds for itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cheblienet_graphs import build, inspect
from cheblienet_graphs.report.inspect import Report


@pytest.fixture
def report_on(tmp_path: Path) -> Callable[..., Report]:
    """Builds a graph and reports on it."""
    store = tmp_path / "g.zarr"
    return lambda spec, **options: inspect(store, build(spec, store, device="cpu").name, **options)
