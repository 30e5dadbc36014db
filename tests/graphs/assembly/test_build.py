"""What a build publishes: symmetric, equivariant, bounded, complete, independent of the blocks."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from all_pairs import engine_and_lengths
from builds import SPECS, manifest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import slow_but

from cheblienet_graphs import (
    GraphSpec,
    build,
    open_group,
)
from cheblienet_graphs.errors import OtherGraphWarning
from cheblienet_graphs.neighbours.choice import choose
from cheblienet_graphs.spec.edges import KERNELS
from cheblienet_graphs.store.layout import check_version


def matrix(group: object) -> scipy.sparse.csr_array:
    parts = tuple(group[part][:] for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_array(parts, shape=tuple(group.attrs["shape"]))


def laplacian(store: Path, name: str, level: int = 0) -> scipy.sparse.csr_array:
    return matrix(open_group(store, name)[f"levels/{level}/laplacian"])


def permutation_of(spec: GraphSpec, image_of: object) -> np.ndarray:
    """The permutation that sends vertex (i, y, x) to image_of(i, y, x)."""
    width, height = spec.size
    indices = itertools.product(range(spec.orientations), range(height), range(width))
    moved = (image_of(*index) for index in indices)
    return np.array([(i * height + y) * width + x for i, y, x in moved])


def difference(matrix: scipy.sparse.csr_array, permutation: np.ndarray) -> float:
    return float(abs(matrix[permutation][:, permutation] - matrix).max())


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("orientations", [4, 5, 6, 8])
def test_symmetries_of_the_stored_laplacian(
    tmp_path: Path, orientations: int, boundary: str
) -> None:
    n = 12
    spec = GraphSpec("se2", n, orientations=orientations, boundary=boundary, levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    stored = laplacian(tmp_path / "g.zarr", "g")
    assert stored.dtype == np.float32
    flip = permutation_of(spec, lambda i, y, x: ((orientations - i) % orientations, n - 1 - y, x))
    assert difference(stored, flip) <= 1e-6
    turn = permutation_of(
        spec, lambda i, y, x: ((i + orientations // 2) % orientations, x, n - 1 - y)
    )
    if orientations % 2 == 0:
        assert difference(stored, turn) <= 1e-6
    else:
        assert difference(stored, turn) > 1e-3  # no such symmetry: the test can tell
    shift = permutation_of(spec, lambda i, y, x: (i, (y + 5) % n, (x + 3) % n))
    if boundary == "periodic":
        assert difference(stored, shift) == 0
    else:
        assert difference(stored, shift) > 1e-3


boundaries = st.sampled_from(["open", "periodic"])
samplings = st.one_of(
    st.fixed_dictionaries(
        {
            "manifold": st.sampled_from(["r2", "se2"]),
            "size": st.tuples(st.integers(3, 10), st.integers(3, 10)),
            "boundary": boundaries,
        }
    ),
    st.fixed_dictionaries(
        {
            "manifold": st.sampled_from(["r2", "se2"]),
            "points": st.integers(20, 99),
            "boundary": boundaries,
        }
    ),
    st.sampled_from([("subdivisions", 1), ("nside", 2), ("bandlimit", 3), ("points", 50)]).flatmap(
        lambda size: st.fixed_dictionaries(
            {"manifold": st.sampled_from(["s2", "so3"]), size[0]: st.just(size[1])}
        )
    ),
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
    rows = np.repeat(np.arange(n), engine.degrees(0, n))
    columns = engine.columns(0, n)
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
    stored = laplacian(store, "g").toarray()
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


@pytest.mark.parametrize(("neighbors", "expected"), [(8, 1.597), (16, 1.417), (32, 1.255)])
def test_verified_largest_eigenvalues(tmp_path: Path, neighbors: int, expected: float) -> None:
    spec = GraphSpec("se2", 32, orientations=6, neighbors=neighbors, levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    found = check_version(tmp_path / "g.zarr" / "g" / "v001")["levels"][0]["lambda_max"]
    assert found == pytest.approx(expected, abs=6e-4)


def test_bipartite_plane_reaches_two(tmp_path: Path) -> None:
    build(GraphSpec("r2", 16, neighbors=4, levels=1), tmp_path / "g.zarr", name="g")
    facts = check_version(tmp_path / "g.zarr" / "g" / "v001")["levels"][0]
    assert facts["lambda_max"] == 2
    assert facts["lambda_max_method"] == "bound"


ANYWHERE = [
    GraphSpec("se2", "12x8", orientations=6, levels=2, kernel="laplace"),
    GraphSpec("so3", subdivisions=2, orientations=5, levels=2),
    GraphSpec("s2", nside=4, levels=2),
    GraphSpec("se2", points=200, boundary="periodic"),
]


@pytest.mark.slow
@pytest.mark.parametrize("block_rows", slow_but([100, 577], [7, 100, 577]))
@pytest.mark.parametrize("spec", ANYWHERE)
def test_bytes_do_not_depend_on_blocks(tmp_path: Path, spec: GraphSpec, block_rows: int) -> None:
    build(spec, tmp_path / "whole.zarr", name="g")
    build(spec, tmp_path / "cut.zarr", name="g", block_rows=block_rows)
    whole, cut = (
        check_version(tmp_path / store / "g" / "v001") for store in ("whole.zarr", "cut.zarr")
    )
    assert whole["manifest"] == cut["manifest"]
    assert whole["levels"] == cut["levels"]


def test_bytes_do_not_depend_on_the_engine(tmp_path: Path) -> None:
    spec = GraphSpec("se2", "16x12", orientations=6, levels=2, boundary="periodic")
    manifests = []
    for engine in ("stencil", "pruned"):
        build(spec, tmp_path / engine, name="g", engine=engine, device="cpu")
        manifests.append(check_version(tmp_path / engine / "g" / "v001")["manifest"])
    assert manifests[0] == manifests[1]


def test_pooling_and_unpooling(store: Path) -> None:
    group = open_group(store, "se2-16x16x6")
    signal = np.random.default_rng(0).standard_normal((6, 16, 16)).astype(np.float32)
    pool, unpool = matrix(group["pooling/0to1"]), matrix(group["unpooling/1to0"])
    coarse = (pool @ signal.ravel()).reshape(6, 8, 8)
    blocks = signal.reshape(6, 8, 2, 8, 2).mean((2, 4))
    assert np.allclose(coarse, blocks, atol=1e-6)
    fine = (unpool @ coarse.ravel()).reshape(6, 16, 16)
    assert np.allclose(fine, blocks.repeat(2, 1).repeat(2, 2), atol=1e-6)


def test_coordinates(store: Path) -> None:
    group = open_group(store, "r2-24x16")
    points = group["levels/0/coordinates"]
    assert points.attrs["columns"] == ["x", "y"]
    expected = np.stack(np.meshgrid(np.arange(24) / 24, np.arange(16) / 24), -1).reshape(-1, 2)
    assert np.allclose(points[:], expected)
    oriented = open_group(store, "se2-16x16x6")["levels/0/coordinates"]
    assert oriented.attrs["columns"] == ["x", "y", "theta"]
    assert np.allclose(np.unique(oriented[:][:, 2]), -np.pi / 2 + np.arange(6) * np.pi / 6)


def test_second_build_is_recognised(tmp_path: Path) -> None:
    spec = GraphSpec("r2", 8)
    assert build(spec, tmp_path / "g.zarr").built
    again = build(GraphSpec("r2", "8x8"), tmp_path / "g.zarr")
    assert (again.version, again.built) == ("v001", False)
    forced = build(spec, tmp_path / "g.zarr", force=True)
    assert (forced.version, forced.built) == ("v002", True)
    with pytest.warns(OtherGraphWarning, match="r2-8x8 stands for r2-8x8@v003"):
        other = build(GraphSpec("r2", 8, neighbors=4), tmp_path / "g.zarr")
    assert other.version == "v003"
    with pytest.warns(OtherGraphWarning, match="r2-8x8 stands for r2-8x8@v003"):
        assert build(spec, tmp_path / "g.zarr").version == "v002"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lattice", "torus"])
@pytest.mark.parametrize("engine", ["pruned", "keops"])
def test_bytes_do_not_depend_on_the_engine_and_its_blocks(
    tmp_path: Path, name: str, engine: str, expected: dict[str, dict[str, object]]
) -> None:
    build(SPECS[name], tmp_path / "g", engine=engine, device="cpu", block_rows=500)
    assert manifest(tmp_path / "g") == expected[name]
