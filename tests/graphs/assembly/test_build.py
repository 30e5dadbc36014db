"""What a build publishes: symmetric, equivariant, bounded, complete, independent of the blocks."""

from pathlib import Path

import numpy as np
import pytest
from all_pairs import engine_and_lengths
from builds import SPECS, manifest
from csr_truth import mapped
from masks import points_mask

from cheblienet_graphs import GraphSpec, build, open_group
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.layout import check_version

DENSE = [
    {"manifold": "se2", "size": "9x7", "kernel": "gaussian", "boundary": "periodic"},
    {"manifold": "r2", "points": 80, "kernel": "laplace", "bandwidth": 0.05},
    {"manifold": "so3", "nside": 2, "kernel": "cauchy", "bandwidth": 5, "neighbors": 20},
    {"manifold": "s2", "subdivisions": 1, "kernel": "rectangular", "lambda_max": 2},
]


@pytest.mark.parametrize("fields", DENSE, ids=lambda fields: fields["kernel"])
def test_stored_laplacian_is_the_defined_one(tmp_path: Path, fields: dict[str, object]) -> None:
    """Against a dense float64 assembly from the edge lengths."""
    spec, store = GraphSpec(**fields, levels=1), tmp_path / "g.zarr"
    build(spec, store, name="g")
    facts = check_version(Folder(store / "g" / "v001"))["levels"][0]
    engine, lengths = engine_and_lengths(spec, choose(spec.sampling))
    n = spec.num_vertices
    degrees, columns = engine.neighbors(0, n)
    rows = np.repeat(np.arange(n), degrees)
    squared = lengths(rows, columns)
    t = spec.bandwidth * squared.mean()
    u = squared / (4 * t)
    kernel = {
        "gaussian": np.exp(-u),
        "laplace": np.exp(-np.sqrt(u)),
        "cauchy": 1 / (1 + u),
        "rectangular": np.ones_like(u),
    }[spec.kernel]
    weights = np.zeros((n, n))
    weights[rows, columns] = kernel
    degree = weights.sum(1)
    root = np.where(degree > 0, degree, 1) ** -0.5
    delta = np.diag((degree > 0).astype(float)) - root[:, None] * weights * root
    stored = mapped(Folder(store / "g/v001/levels/0/laplacian")).toarray()
    assert np.allclose(stored, 2 * delta / facts["lambda_max"] - np.eye(n), atol=3e-7)
    assert (stored == stored.T).all()
    assert np.isclose(facts["bandwidth"], t)
    stored_degree = open_group(store, "g")["levels/0/degree"][:]
    assert np.allclose(stored_degree, degree, rtol=1e-6)


BUILDS = {
    "torus": SPECS["torus"],
    "axes": GraphSpec("r3s2", "6x4x6", axes=3, spacing=(1, 2, 1), lambda_max=2, levels=1),
    "masked axes": GraphSpec("r3s2", axes=3, levels=1, mask=points_mask(144, 0.7).reshape(6, 4, 6)),
    "corrected": GraphSpec("se2", "20x14", orientations=4, eps=0.2, weights="matched", levels=1),
}
"""`test_resume.py` has blocks of all specifications of `builds`."""


@pytest.mark.parametrize("name", BUILDS)
def test_bytes_depend_neither_on_blocks_nor_on_the_engine(tmp_path: Path, name: str) -> None:
    spec = BUILDS[name]
    ways = [{}, {"block_rows": 53}]
    if spec.sampling_kind.regular and spec.weights == "kernel":
        ways.append({"engine": "pruned", "block_rows": 400})
    for number, way in enumerate(ways):
        build(spec, tmp_path / str(number), device="cpu", **way)
    first, *others = (manifest(tmp_path / str(number)) for number in range(len(ways)))
    assert all(other == first for other in others)
