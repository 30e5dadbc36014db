"""Stored eigenpairs and both Laplacians: reading, the Fourier transform, spectral truth."""

import json
import pickle
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    ChebConv,
    Graph,
    Pyramid,
    StoreError,
    ignore_graphs_in_ddp,
    open_store,
    sample_edges,
    sample_vertices,
)
from cheblienet_models.store.files import opened
from cheblienet_models.store.laplacian import verify_laplacian
from cheblienet_models.store.levels import Level
from cheblienet_models.store.version import read_version
from cheblienet_models.tensors.sparse import announce_beta_state

SPECS = {
    "kernel": GraphSpec("se2", 8, orientations=6, levels=1, eigenpairs=384),
    "selling": GraphSpec("se2", 8, orientations=6, weights="selling", levels=1, eigenpairs=384),
    "matched": GraphSpec("se2", 8, orientations=6, weights="matched", levels=1, eigenpairs=384),
    "sphere": GraphSpec(
        "so3", subdivisions=1, orientations=3, laplacian="combinatorial", levels=1, eigenpairs=126
    ),
    "few": GraphSpec("se2", 16, orientations=6, weights="selling", levels=2, eigenpairs=20),
}
WHOLE = ["kernel", "selling", "matched", "sphere"]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("eigenpairs") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    return path


@pytest.fixture
def copy(graphs: Path, tmp_path: Path) -> Path:
    """A private copy of the store, writable."""
    shutil.copytree(graphs, tmp_path / "g.zarr")
    for path in (tmp_path / "g.zarr").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "g.zarr"


def level(graphs: Path, name: str) -> Graph:
    return open_store(graphs)[name].levels[0]


def stored_levels(graphs: Path, name: str) -> tuple[Level, ...]:
    with opened(str(graphs)) as root:
        return read_version(root / name / "v001", name).levels


def delta_of(graph: Graph, values: Tensor) -> np.ndarray:
    parts = (graph.row_pointers, graph.columns, values)
    size = (graph.num_vertices,) * 2
    announce_beta_state()  # or the first test to make such a tensor, in any order, is warned
    matrix = torch.sparse_csr_tensor(*parts, size=size, check_invariants=True)
    return (matrix.to_dense().double().numpy() + np.eye(size[0])) * graph.lambda_max / 2


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("kernel_size", [1, 2, 5])
def test_chebconv_is_a_function_of_the_frequencies(
    graphs: Path, name: str, kernel_size: int
) -> None:
    """Phi p(Lambda) Phi^T x with p(lambda) = sum_k w_k T_k(2 lambda / lambda_max - 1)."""
    torch.manual_seed(0)
    graph = level(graphs, name)
    conv = ChebConv(2, 3, kernel_size, graph, bias=False)
    x = torch.randn(2, 2, graph.num_vertices)
    values, vectors = (part.double().numpy() for part in graph.eigenpairs)
    angles = np.arccos(np.clip(2 * values / graph.lambda_max - 1, -1, 1))
    response = np.einsum(
        "kio,km->iom",
        conv.weight.detach().double().numpy(),
        np.cos(np.arange(kernel_size)[:, None] * angles),
    )
    x_hat = x.double().numpy() @ vectors
    expected = torch.from_numpy(np.einsum("bim,iom->bom", x_hat, response) @ vectors.T)
    assert (conv(x) - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.parametrize("name", SPECS)
def test_eigenpairs_are_the_laplacians(graphs: Path, name: str) -> None:
    for graph in open_store(graphs)[name].levels:
        values, vectors = graph.eigenpairs
        count = SPECS[name].eigenpairs
        assert values.shape == (count,)
        assert vectors.shape == (graph.num_vertices, count)
        assert values.dtype == vectors.dtype == torch.float32
        assert graph.eigenvalues.dtype == torch.float64
        expected = np.linalg.eigvalsh(delta_of(graph, graph.values))[:count]
        assert np.allclose(graph.eigenvalues, expected, atol=1e-5 * graph.lambda_max)
        assert torch.allclose(vectors.T @ vectors, torch.eye(count), atol=1e-5)


@pytest.mark.parametrize("name", SPECS)
def test_kernel_of_the_laplacian_is_the_root_of_the_mass(graphs: Path, name: str) -> None:
    graph = level(graphs, name)
    combinatorial = SPECS[name].laplacian == "combinatorial"
    assert graph.laplacian_kind == SPECS[name].laplacian
    assert graph.mass is (graph.area if combinatorial else graph.degree)
    delta, root = delta_of(graph, graph.values), graph.mass.double().sqrt().numpy()
    assert np.abs(delta @ root).max() <= 1e-6 * graph.lambda_max * root.max()
    weights = -delta * np.outer(root, root)
    edges = graph.edges
    assert np.allclose(weights[edges.first, edges.second], edges.weights, rtol=1e-5, atol=0)
    double = graph.double()
    assert double.mass.shape == (graph.num_vertices,)
    assert torch.allclose(double.edges.weights.float(), edges.weights, rtol=1e-5)


@pytest.mark.parametrize("name", SPECS)
def test_fourier_and_back(graphs: Path, name: str) -> None:
    torch.manual_seed(0)
    graph = level(graphs, name)
    _, vectors = graph.eigenpairs
    x = torch.randn(2, 3, graph.num_vertices)
    x_hat = graph.fourier(x)
    assert x_hat.shape == (2, 3, SPECS[name].eigenpairs)
    assert torch.allclose(x_hat, x @ vectors, atol=1e-5)
    back = graph.inverse_fourier(x_hat)
    assert back.permute(2, 0, 1).is_contiguous()
    assert torch.allclose(graph.fourier(back), x_hat, atol=1e-4)
    if name in WHOLE:
        assert torch.allclose(back, x, atol=1e-4)
        assert torch.allclose(x_hat.norm(), x.norm())
    assert graph.fourier(x[:0]).shape == (0, 3, SPECS[name].eigenpairs)


def test_convolution(graphs: Path) -> None:
    torch.manual_seed(0)
    graph = level(graphs, "kernel")
    x, y = torch.randn(2, 3, 384), torch.randn(1, 1, 384)
    found = graph.convolve(x, y)
    assert found.shape == (2, 3, 384)
    assert torch.allclose(found, graph.convolve(y, x), atol=1e-5)
    one = graph.inverse_fourier(torch.ones(1, 1, 384))
    assert torch.allclose(graph.convolve(x, one), x, atol=1e-4)
    # Convolving commutes with every function of the Laplacian.
    conv = ChebConv(1, 1, 4, graph, bias=False)
    assert torch.allclose(graph.convolve(conv(y), y), conv(graph.convolve(y, y)), atol=1e-4)


def test_gradients(graphs: Path) -> None:
    torch.manual_seed(0)
    graph = level(graphs, "few").double()
    x = torch.randn(1, 2, graph.num_vertices, dtype=torch.float64, requires_grad=True)
    y = torch.randn(2, 1, graph.num_vertices, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(graph.convolve, (x, y), fast_mode=True)
    assert torch.autograd.gradgradcheck(graph.convolve, (x, y), fast_mode=True)


def test_dtypes(graphs: Path) -> None:
    graph = level(graphs, "few")
    x = torch.randn(1, 1, graph.num_vertices)
    exact = graph.eigenvalues.clone()
    assert graph.fourier(x.double()).dtype == torch.float64
    assert graph.fourier(x.half()).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(graph.fourier(x), graph.fourier(x.clone()))
        assert graph.fourier(x).dtype == torch.float32
    for dtype, kept in (
        (torch.float64, torch.float64),
        (torch.float32, torch.float32),
        (torch.bfloat16, torch.float32),
    ):
        values, vectors = graph.to(dtype).eigenpairs
        assert values.dtype == vectors.dtype == graph.values.dtype == kept
    assert torch.equal(graph.double().eigenpairs[0], exact)
    assert graph.state_dict() == {}


def test_pickles_and_ddp(graphs: Path) -> None:
    pyramid = open_store(graphs)["few"].double()
    data = pickle.dumps(pyramid)
    assert len(data) < 1000
    again = pickle.loads(data)
    for a, b in zip(pyramid.levels, again.levels, strict=True):
        assert all(map(torch.equal, a.eigenpairs, b.eigenpairs))
    conv = ChebConv(1, 1, 2, pyramid.levels[0])
    ignore_graphs_in_ddp(conv)
    assert "graph.eigenvectors" in conv._ddp_params_and_buffers_to_ignore


def test_vectors_are_mapped(graphs: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = level(graphs, "few")
    assert graph.eigenvectors.data_ptr() == graph.eigenpairs[1].data_ptr()
    maps = Path("/proc/self/maps").read_text()
    assert "few/v001/levels/0/eigenvectors/c/0/0" in maps


def test_none_stored(store: Path) -> None:
    graph = open_store(store)["torus"].levels[0]
    x = torch.zeros(1, 1, graph.num_vertices)
    for call in (lambda: graph.eigenpairs, lambda: graph.fourier(x), lambda: graph.convolve(x, x)):
        with pytest.raises(StoreError, match=r"level 0 has no stored eigenpairs; build it with"):
            call()


@pytest.mark.parametrize("shape", [(1, 384), (1, 1, 20), (1, 1536, 1), (1, 1, 1536, 1)])
def test_wrong_shapes(graphs: Path, shape: tuple[int, ...]) -> None:
    graph = level(graphs, "few")
    with pytest.raises(ValueError, match=r"fourier on few@v001, level 0 takes \(B, C, 1536\)"):
        graph.fourier(torch.zeros(shape))
    with pytest.raises(ValueError, match=r"takes \(B, C, 1536\)"):
        graph.convolve(torch.zeros(1, 1, 1536), torch.zeros(shape))
    with pytest.raises(ValueError, match=r"inverse_fourier on few.*takes \(B, C, 20\)"):
        graph.inverse_fourier(torch.zeros(*shape, 1))


def test_signals_that_do_not_broadcast(graphs: Path) -> None:
    graph = level(graphs, "few")
    with pytest.raises(ValueError, match=r"equal or 1\. Got \(2, 3, 1536\) and \(2, 2, 1536\)"):
        graph.convolve(torch.zeros(2, 3, 1536), torch.zeros(2, 2, 1536))


@pytest.mark.parametrize("name", ["kernel", "selling", "matched", "sphere"])
def test_all_edges_make_the_whole_graph(graphs: Path, name: str) -> None:
    graph = level(graphs, name)
    all_but_none = 1 - 1e-12
    for sample in (sample_edges, sample_vertices):
        sample(graph, all_but_none)
        assert torch.allclose(graph.subgraph, graph.values, atol=1e-6)
    sample_edges(graph, 1)
    assert graph.subgraph is None


@pytest.mark.parametrize("kappa", [0.2, 0.7])
@pytest.mark.parametrize("sample", [sample_edges, sample_vertices])
@pytest.mark.parametrize("name", ["selling", "sphere"])
def test_combinatorial_subgraphs(graphs: Path, name: str, sample: object, kappa: float) -> None:
    graph = level(graphs, name)
    sample(graph, kappa, torch.Generator().manual_seed(0))
    delta = delta_of(graph, graph.laplacian_parts(training=True)[2])
    whole = delta_of(graph, graph.values)
    root = graph.area.double().sqrt().numpy()
    kept = (delta != 0) & ~np.eye(len(delta), dtype=bool)
    assert 0 < kept.sum() < (whole != 0).sum()
    weights = np.where(kept, -whole * np.outer(root, root), 0)
    expected = (np.diag(weights.sum(1)) - weights) / np.outer(root, root)
    assert np.allclose(delta, expected, atol=1e-5 * graph.lambda_max)
    spectrum = np.linalg.eigvalsh(delta) / graph.lambda_max
    assert -1e-6 < spectrum.min() < spectrum.max() <= 1 + 1e-6


def edit_array(dtype: str, change: Callable[[np.ndarray], None]) -> Callable[[Path], None]:
    def mutate(path: Path) -> None:
        values = np.fromfile(path, dtype)
        change(values)
        values.tofile(path)

    return mutate


def put(index: int, value: float) -> Callable[[Path], None]:
    return edit_array("<f8", lambda values: values.__setitem__(index, value))


def in_spec(**values: object) -> Callable[[Path], None]:
    def mutate(path: Path) -> None:
        document = json.loads(path.read_text())
        spec = document["attributes"]["clg"]["spec"]
        spec.update(values)
        for key in [key for key, value in values.items() if value is ...]:
            del spec[key]
        path.write_text(json.dumps(document, default=lambda _: None))

    return mutate


def field(**values: object) -> Callable[[Path], None]:
    return lambda path: path.write_text(json.dumps(json.loads(path.read_text()) | values))


ATTRIBUTES = "few/v001/zarr.json"
VALUES, VECTORS = "few/v001/levels/0/eigenvalues", "few/v001/levels/0/eigenvectors"
MUTATIONS: list[tuple[str, Callable[[Path], object]]] = [
    *((ATTRIBUTES, in_spec(laplacian=word)) for word in ("other", "", None, 1, ["normalized"], {})),
    (ATTRIBUTES, in_spec(laplacian=...)),
    *((ATTRIBUTES, in_spec(eigenpairs=n)) for n in (0, -1, 19, 21, 385, 2**70, True, 20.0, "20")),
    (ATTRIBUTES, in_spec(eigenpairs=None)),
    (f"{VALUES}/c/0", put(3, np.nan)),
    (f"{VALUES}/c/0", put(-1, np.inf)),
    (f"{VALUES}/c/0", put(-1, 1e9)),
    (f"{VALUES}/c/0", put(0, -np.inf)),
    (f"{VALUES}/c/0", put(0, -1e3)),
    (f"{VALUES}/c/0", put(0, 1e3)),
    (f"{VALUES}/c/0", put(5, 0)),
    (f"{VALUES}/c/0", edit_array("<f8", lambda values: values.__iadd__(10))),
    (f"{VALUES}/c/0", Path.unlink),
    (VALUES, shutil.rmtree),
    (VECTORS, shutil.rmtree),
    (f"{VALUES}/zarr.json", field(shape=[10])),
    (f"{VALUES}/zarr.json", field(data_type="float32")),
    (f"{VECTORS}/zarr.json", field(data_type="float64")),
    (f"{VECTORS}/zarr.json", field(shape=[20, 1536])),
    (f"{VECTORS}/zarr.json", field(shape=[1536 * 20])),
    (f"{VECTORS}/c/0/0", lambda path: path.write_bytes(path.read_bytes()[:-4])),
]


@pytest.mark.parametrize(("where", "change"), MUTATIONS)
def test_mutated_stores_are_refused(
    copy: Path, where: str, change: Callable[[Path], object]
) -> None:
    assert open_store(copy)["few"].levels
    change(copy / where)
    with pytest.raises(StoreError) as caught:
        open_store(copy)["few"]
    assert len(str(caught.value)) < 1000
    assert open_store(copy)["kernel"].levels


def test_unused_arrays_are_not_read(copy: Path) -> None:
    in_spec(eigenpairs=...)(copy / ATTRIBUTES)
    assert open_store(copy)["few"].levels[0].eigenvectors is None


def test_lambda_max_may_be_large(copy: Path) -> None:
    def scaled(lambda_max: float) -> Pyramid:
        path = copy / "selling/v001/zarr.json"
        document = json.loads(path.read_text())
        clg = document["attributes"]["clg"]
        clg["spec"].pop("eigenpairs", None)
        clg["levels"][0]["lambda_max"] = lambda_max
        path.write_text(json.dumps(document))
        return open_store(copy)["selling"]

    graph = scaled(1e15).levels[0]
    sample_edges(graph, 0.5)
    assert graph.subgraph.isfinite().all()
    assert graph.subgraph.abs().max() <= 1 + 1e-6
    with pytest.raises(StoreError, match=r"lambda_max in \(0, 1e\+15\]"):
        scaled(1.1e15)


@pytest.mark.parametrize("name", SPECS)
def test_verified(graphs: Path, name: str) -> None:
    assert open_store(graphs, verify=True)[name].levels
    for stored in stored_levels(graphs, name):
        verify_laplacian(stored)


def shuffled(vectors: Tensor) -> None:
    vectors[:, [1, 10]] = vectors[:, [10, 1]]


def vanished(vectors: Tensor) -> None:
    vectors[:, 3] = 0


def unknown(vectors: Tensor) -> None:
    vectors[7, 3] = torch.nan


def repeated(vectors: Tensor) -> None:
    vectors[:, 2] = vectors[:, 1]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (shuffled, "not its Laplacian's"),
        (unknown, "not its Laplacian's"),
        (vanished, "not orthonormal"),
        (repeated, "not orthonormal"),
    ],
)
def test_verification_finds_other_vectors(
    graphs: Path, change: Callable[[Tensor], None], match: str
) -> None:
    stored = stored_levels(graphs, "kernel")[0]
    change(stored.eigenpairs.vectors)
    with pytest.raises(StoreError, match=match):
        verify_laplacian(stored)
