"""Eigenpairs that are stored with a graph."""

from pathlib import Path

import numpy as np
import pytest
from moments import stored

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.store.reader import mapped_array, mapped_csr

EIGENPAIRS = [
    {"manifold": "se2", "size": "16x12", "weights": "selling", "levels": 2},
    {"manifold": "se2", "size": 16, "boundary": "periodic", "levels": 2, "orientations": 4},
    {"manifold": "so3", "subdivisions": 1, "weights": "matched", "neighbors": 24, "levels": 1},
    {"manifold": "s2", "subdivisions": 3, "laplacian": "combinatorial", "levels": 3},
    {"manifold": "r2", "size": 16, "lambda_max": 2, "levels": 2},
]


@pytest.mark.parametrize("fields", EIGENPAIRS)
def test_eigenpairs_are_stored(tmp_path: Path, fields: dict) -> None:
    count = 20
    spec = GraphSpec(**fields, eigenpairs=count)
    version, facts = stored(spec, tmp_path)
    for level in range(spec.levels):
        folder = version / f"levels/{level}"
        values = np.array(mapped_array(folder / "eigenvalues"))
        vectors = np.array(mapped_array(folder / "eigenvectors"))
        assert (values.shape, values.dtype) == ((count,), np.float64)
        assert (vectors.shape, vectors.dtype) == ((facts[level]["vertices"], count), np.float32)
        scale = facts[level]["lambda_max"] / 2
        rescaled = mapped_csr(folder / "laplacian").toarray().astype(float)
        delta = scale * (rescaled + np.eye(len(rescaled)))
        assert abs(delta @ vectors - vectors * values).max() <= 1e-6 * scale
        assert np.allclose(vectors.T @ vectors, np.eye(count), rtol=0, atol=1e-5)
        exact = np.linalg.eigvalsh(delta)[:count]
        assert abs(values - exact).max() <= 1e-6 * scale
        assert values.min() >= 0
