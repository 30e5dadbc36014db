"""Constants stay constant on stiff graphs: lambda_max is far above their first eigenvalues."""

from pathlib import Path

import numpy as np
import pytest
import torch
from stores import level, store_of

from cheblienet_graphs import GraphSpec, inspect, verify

GOLDEN = np.pi * (1 + np.sqrt(5))


def stations() -> np.ndarray:
    """(N, 2) latitudes and longitudes spread evenly, and one more 1.1 m from the first."""
    n = np.arange(500) + 0.5
    points = np.stack([np.degrees(np.arcsin(1 - n / 250)), np.degrees(n * GOLDEN) % 360], axis=1)
    return np.vstack([points, points[250] + [1e-5, 0]])


SPECS = {
    "stations": GraphSpec("s2", coordinates=stations(), weights="voronoi"),
    "thin-fiber": GraphSpec("se2", 8, orientations=4, weights="selling", xi=1e-4, levels=1),
}
store = store_of(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_constants_stay_and_so_does_the_sum(store: Path, name: str) -> None:
    graph = level(store, name)
    t = min(graph.eigenvalue_scale, 1e8 / graph.lambda_max)  # as polynomials of degree 65,536 reach
    ones = torch.ones(1, 1, graph.num_vertices)
    assert abs(graph.diffuse(ones, t, density=True) - 1).max() < 1e-6
    root = graph.mass.sqrt()[None, None]
    kept = graph.filter(root, lambda e: torch.exp(-9 * e / graph.lambda_max) + 1)
    assert abs(kept / root - 2).max() < 2e-6
    exact = graph.double().diffuse(ones.double(), t, density=True)
    assert abs(exact - 1).max() < 1e-12


@pytest.mark.slow
def test_inspect_finds_the_first_eigenvalues(store: Path) -> None:
    """l (l + 1) of the sphere, of which float32 products would see nothing."""
    (found,) = inspect(store, "stations", eigenvalues=9).levels
    values = np.array(found.eigenvalues) * found.eigenvalue_scale
    assert found.lambda_max > 1e6 * found.eigenvalues[1]
    assert values[0] == pytest.approx(0, abs=1e-6)
    assert values[1:4] == pytest.approx(np.full(3, 2.0), rel=0.03)
    assert values[4:] == pytest.approx(np.full(5, 6.0), rel=0.03)


def test_verify_says_that_float32_loses_them(store: Path) -> None:
    said: list[tuple[str, str]] = []
    assert verify(store, remark=lambda *what: said.append(what)) == []
    assert [where for where, _ in said] == [f"{name}/v001/levels/0/laplacian" for name in SPECS]
    assert all("largest eigenvalue" in what and "float64" in what for _, what in said)
