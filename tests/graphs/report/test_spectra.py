"""Spectra of published graphs, next to the exact ones."""

from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import (
    CheblienetError,
    GraphSpec,
    SpecError,
    build,
    eigenpairs,
    eigenvalues,
    inspect,
)


@pytest.mark.parametrize("name", ["r2-24x16", "torus"])
def test_spectra_of_published_graphs(store: Path, name: str) -> None:
    values = eigenvalues(store, name)
    facts = inspect(store, name, level=0, eigenvalues=9).levels[0]
    assert values.shape == (facts.vertices,)
    assert np.allclose(values[:9], facts.eigenvalues, atol=1e-6)
    assert values[-1] <= facts.lambda_max
    largest = eigenpairs(store, name, count=4, which="largest")
    assert np.allclose(largest.values, values[::-1][:4], atol=1e-6)
    assert eigenpairs(store, name, level=1).vectors.shape == (facts.vertices // 4, 6)


def test_spectra_out_of_range(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"level": 2}, {"count": 0}, {"count": 1025}, {"which": "middle"}):
        [field] = wrong
        with pytest.raises(SpecError, match=rf"^{field} must be "):
            eigenpairs(store, "torus", **wrong)
    monkeypatch.setattr("cheblienet_graphs.report.spectra.LARGEST_DENSE", 100)
    with pytest.raises(CheblienetError, match="384 vertices take a dense matrix"):
        eigenvalues(store, "r2-24x16")


@pytest.mark.parametrize("size", [{"subdivisions": 4}, {"nside": 16}])
@pytest.mark.parametrize(
    ("settings", "single", "mean"),
    # Few neighbors with Gaussian weights split the icosphere's multiplet l = 3 by 13 %, 3 + 4.
    [({"neighbors": 24, "kernel": "rectangular"}, 0.05, 0.02), ({}, 0.075, 0.02)],
)
def test_spectrum_of_the_sphere(
    tmp_path: Path, size: dict[str, int], settings: dict[str, object], single: float, mean: float
) -> None:
    """The first 16 eigenvalues are l (l + 1), 1, 3, 5 and 7 times, up to one scale."""
    build(GraphSpec("s2", **size, **settings, levels=1), tmp_path / "g.zarr", name="g")
    level = inspect(tmp_path / "g.zarr", "g", eigenvalues=17).levels[0]
    expected = np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])
    assert np.allclose(level.exact_eigenvalues, [*expected, 20])
    values = np.array(level.eigenvalues)
    scale = (values[:16] @ expected) / (expected @ expected)
    assert np.allclose(values[1:16] / scale, expected[1:], rtol=single)
    multiplets = np.array([part.mean() for part in np.split(values[1:16], [3, 8])])
    assert np.allclose(multiplets / scale, [2, 6, 12], rtol=mean)
    assert values[16] / scale > 15
    assert level.equivariance
    assert max(level.equivariance.values()) <= 1e-6
