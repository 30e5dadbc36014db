"""What a build publishes: symmetric, equivariant, bounded, complete, independent of the blocks."""

from pathlib import Path

import numpy as np
import pytest
from all_pairs import engine_and_lengths
from builds import SPECS, manifest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import slow_but
from masks import disc, fractions, points_mask

from cheblienet_graphs import GraphSpec, build, open_group
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.spec.edges import KERNELS
from cheblienet_graphs.store.layout import check_version
from cheblienet_graphs.store.mapped import mapped_csr

RING = disc(48) ^ disc(48, across=9.0)


FLAT = {
    "manifold": st.sampled_from(["r2", "se2"]),
    "boundary": st.sampled_from(["open", "periodic"]),
}
SPHERE = {"manifold": st.sampled_from(["s2", "so3"])}
SIZES = [("subdivisions", 1), ("nside", 2), ("bandlimit", 3), ("points", 50)]
samplings = st.one_of(
    st.fixed_dictionaries(FLAT | {"size": st.tuples(st.integers(3, 10), st.integers(3, 10))}),
    st.fixed_dictionaries(FLAT | {"points": st.integers(20, 99)}),
    *(st.fixed_dictionaries(SPHERE | {field: st.just(value)}) for field, value in SIZES),
)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    sampling=samplings,
    neighbors=st.integers(8, 20),
    kernel=st.sampled_from(sorted(KERNELS)),
    bandwidth=st.sampled_from([0.05, 0.2, 5]),
    lambda_max=st.sampled_from(["exact", 2]),
)
def test_stored_laplacian_is_the_defined_one(
    tmp_path_factory: pytest.TempPathFactory, sampling: dict[str, object], **fields: object
) -> None:
    """Against a dense float64 assembly from the edge lengths."""
    spec = GraphSpec(**sampling, levels=1, **fields)
    store = tmp_path_factory.mktemp("dense") / "g.zarr"
    build(spec, store, name="g")
    facts = check_version(store / "g" / "v001")["levels"][0]
    engine, lengths = engine_and_lengths(spec, choose(spec.sampling))
    n = spec.num_vertices
    degrees, columns = engine.neighbors(0, n)
    rows = np.repeat(np.arange(n), degrees)
    squared = lengths.squared_distances(rows, columns)
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
    stored = mapped_csr(store / "g/v001/levels/0/laplacian").toarray()
    assert np.allclose(stored, 2 * delta / facts["lambda_max"] - np.eye(n), atol=3e-7)
    assert (stored == stored.T).all()
    spectrum = np.linalg.eigvalsh(stored.astype(np.float64))
    assert spectrum.min() >= -1 - 1e-6
    assert spectrum.max() <= 1
    if facts["lambda_max_method"] == "lanczos":
        largest = np.linalg.eigvalsh(delta).max()
        assert largest <= facts["lambda_max"] <= largest + 1e-4
    assert np.isclose(facts["bandwidth"], t)
    stored_degree = open_group(store, "g")["levels/0/degree"][:]
    assert np.allclose(stored_degree, degree, rtol=1e-6)


BUILDS = {
    **{name: SPECS[name] for name in ("torus", "mask", "matched")},
    "laplace": GraphSpec("se2", "12x8", orientations=6, neighbors=32, kernel="laplace"),
    "volume": GraphSpec("r3", "10x7x9", boundary="periodic", lambda_max=2, levels=1),
    "axes": GraphSpec("r3s2", "6x4x6", axes=3, spacing=(1, 2, 1), lambda_max=2, levels=1),
    "masked axes": GraphSpec("r3s2", axes=3, levels=1, mask=points_mask(144, 0.7).reshape(6, 4, 6)),
    "ring torus": GraphSpec("se2", mask=RING, orientations=4, levels=2, boundary="periodic"),
    "corrected": GraphSpec("se2", "20x14", orientations=4, eps=0.2, weights="matched", levels=1),
    "matched torus": GraphSpec("se2", "16x24", weights="matched", boundary="periodic"),
    "cut": GraphSpec(
        "se2",
        mask=fractions(24),
        mask_edge="cut",
        weights="selling",
        orientations=4,
        directional=0.1,
    ),
}
QUICK = ("torus", "axes", "mask", "matched", "cut")
"""`test_resume.py` has blocks of all specifications of `builds`."""


@pytest.mark.parametrize("name", slow_but(QUICK, BUILDS))
def test_bytes_depend_neither_on_blocks_nor_on_the_engine(tmp_path: Path, name: str) -> None:
    spec = BUILDS[name]
    ways = [{}, {"block_rows": 53}]
    if spec.sampling_kind.regular and spec.weights == "kernel":
        ways.append({"engine": "pruned", "block_rows": 400})
    for number, way in enumerate(ways):
        build(spec, tmp_path / str(number), device="cpu", **way)
    first, *others = (manifest(tmp_path / str(number)) for number in range(len(ways)))
    assert all(other == first for other in others)
