"""Reports on graphs on the sphere."""

from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, build, inspect


def test_effective_metric_of_an_isotropic_sphere(tmp_path: Path) -> None:
    build(GraphSpec("s2", subdivisions=3, levels=1), tmp_path / "g.zarr", name="g")
    (metric,) = inspect(tmp_path / "g.zarr", "g", eigenvalues=0).levels[0].effective_metric
    assert metric.eps_squared == pytest.approx(1, abs=0.03)
    assert metric.xi_squared is None


def test_remarks_suit_the_manifold(tmp_path: Path) -> None:
    build(GraphSpec("s2", bandlimit=16, levels=1), tmp_path / "g.zarr", name="g", device="cpu")
    text = str(inspect(tmp_path / "g.zarr", "g", eigenvalues=0))
    assert "falls into 3 components" in text  # the rings at the poles
    assert "more `neighbors` may link them" in text
    assert "alpha" not in text
