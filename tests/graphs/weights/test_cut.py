"""Domains that cut pixels: spectra converge at second order, and what holds at any size."""

from collections.abc import Callable
from pathlib import Path

import cut_truth
import derivatives
import numpy as np
import pytest
from csr_truth import edge_weights
from cut_truth import eigenvalues, elliptic, order, turned, worst

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.inputs.polygons import coverage
from cheblienet_graphs.sparse import components
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.reader import LevelFolder

SIZES = [20, 41, 83]


def built(folder: Path, manifold: str, mask: object = None, **fields: object) -> LevelFolder:
    fields = {"weights": "selling", "levels": 1, "mask_edge": "cut", "mask": mask} | fields
    return derivatives.built(GraphSpec(manifold, **fields), folder, force=True)[0]


ROUND = 0.43 * np.eye(2)
TILTED = turned(25) @ np.diag([0.44, 0.25])


def pictured(size: int) -> np.ndarray:
    """A tilted ellipse's fractions of 8 bits."""
    return np.round(coverage(elliptic(TILTED, size), (size, size)) * 255).astype(np.uint8)


def ball(size: int) -> Callable[..., np.ndarray]:
    """The level set of a ball whose center is no place of the lattice."""
    x0, y0, z0 = size * np.array([0.503, 0.497, 0.49])
    return lambda x, y, z: np.sqrt((x - x0) ** 2 + (y - y0) ** 2 + (z - z0) ** 2) - 0.42 * size


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "mask_of", "least"),
    [
        (lambda: cut_truth.plane(TILTED, np.eye(2)), lambda n: elliptic(TILTED, n), 1.8),
        (lambda: cut_truth.plane(TILTED, np.eye(2)), pictured, 1.6),
        (lambda: cut_truth.ball(0.42), ball, 1.8),
    ],
    ids=["ellipse", "picture", "ball"],
)
def test_domains_converge_at_second_order(
    tmp_path: Path, truth: Callable, mask_of: Callable, least: float
) -> None:
    manifold, sizes = ("r3", [10, 16, 24]) if mask_of is ball else ("r2", SIZES)
    graphs = (built(tmp_path, manifold, mask_of(n), size=n) for n in sizes)
    exact = truth()
    errors = [worst(eigenvalues(graph), exact) for graph in graphs]
    assert order(errors, sizes) > least, errors
    assert errors[-1] < (0.02 if mask_of is ball else 4e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "largest"), [("selling", 0.014), ("matched", 0.037)])
def test_orientations_converge_at_second_order(
    tmp_path: Path, weights: str, largest: float
) -> None:
    truth, errors = cut_truth.oriented(0.43, 0.1, 0.316), []
    for size, count in ((12, 6), (24, 12)):
        shape = elliptic(ROUND, size)
        fields = {"size": size, "orientations": count, "weights": weights, "xi": 0.316}
        errors.append(worst(eigenvalues(built(tmp_path, "se2", shape, **fields)), truth))
    assert order(errors, [12, 24]) > 1.8, errors
    assert errors[-1] < largest


def test_entries_and_lambda_max_stay_those_of_the_staircase(tmp_path: Path) -> None:
    mask = elliptic(ROUND, 40)
    stairs, cut = (
        built(tmp_path, "se2", mask, size=40, orientations=8, mask_edge=edge).of_level
        for edge in ("pixels", "cut")
    )
    assert cut.nnz < 1.1 * stairs.nnz
    scaled = [of.lambda_max * of.eigenvalue_scale for of in (cut, stairs)]
    assert scaled[0] < 1.3 * scaled[1]


CASES = {
    "plane": ("r2", {}),
    "matched orientations": ("se2", {"orientations": 4, "weights": "matched"}),
    "stretched": ("se2", {"orientations": 3, "eps": 0.2}),
    "torus": ("se2", {"orientations": 3, "boundary": "periodic"}),
    "arrows": ("se2", {"orientations": 4, "period": "2pi"}),
}


@pytest.mark.parametrize("name", CASES)
def test_weights_are_symmetric_and_never_negative(tmp_path: Path, name: str) -> None:
    """Of noise, too, with islands and holes of all sizes."""
    manifold, fields = CASES[name]
    noise = np.random.default_rng(0).random((14, 16)) * np.linspace(0, 2.5, 16)
    arrays = built(tmp_path, manifold, noise.clip(0, 1), **fields)
    weights = edge_weights(Folder(arrays.version), 0)
    assert abs(weights - weights.T).max() < 1e-6 * weights.max()
    assert weights.data.min() > 0
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    assert arrays.degree == pytest.approx(degrees, rel=1e-4, abs=1e-3)


def test_masses_are_those_of_the_domain(tmp_path: Path) -> None:
    """And a domain of whole pixels has the weights of a mask, cut off at sides as there."""
    arrays = built(tmp_path, "r2", elliptic(TILTED, 40), size=40)
    assert arrays.sampling.masses.sum() == pytest.approx(1600 * np.pi * 0.44 * 0.25, rel=1e-4)
    whole = np.zeros((9, 12), bool)
    whole[2:7, 3:] = True
    cut, mask = (built(tmp_path, "r2", whole, mask_edge=edge) for edge in ("cut", "pixels"))
    inner = edge_weights(Folder(mask.version), 0).toarray()
    assert (edge_weights(Folder(cut.version), 0).toarray()[20] == inner[20]).all()
    assert cut.of_level.nnz == mask.of_level.nnz


@pytest.mark.parametrize("weights", ["selling", "matched"])
def test_all_of_a_torus_is_the_torus(tmp_path: Path, weights: str) -> None:
    fields = {"orientations": 4, "weights": weights, "boundary": "periodic", "size": 12}
    cut = built(tmp_path / "cut", "se2", np.ones((12, 12)), **fields)
    whole = built(tmp_path / "whole", "se2", None, **fields | {"mask_edge": None})
    assert np.array_equal(cut.laplacian.indices, whole.laplacian.indices)
    assert cut.laplacian.data == pytest.approx(whole.laplacian.data, abs=1e-6)


def test_gaps_of_a_pixel_part_a_domain(tmp_path: Path) -> None:
    """Squares that touch at a corner are joined there."""
    halves = np.ones((9, 9))
    halves[:, 4] = 0
    slanted = 1 - np.eye(9)
    for part, pieces in (
        (halves, 2),
        (np.rot90(halves), 2),
        (np.kron(np.eye(3), np.ones((3, 3))), 1),
    ):
        arrays = built(tmp_path, "r2", part)
        assert components(arrays.laplacian) == pieces
    assert components(built(tmp_path, "se2", halves, orientations=4).laplacian) == 2
    assert components(built(tmp_path, "r2", slanted).laplacian) == 1


def test_gradients_are_right_inside_and_at_the_edge(tmp_path: Path) -> None:
    """Of linear functions everywhere; of others at second order inside, at first at the edge."""
    errors = []
    for size in (24, 48):
        arrays = built(tmp_path, "r2", elliptic(ROUND, size), size=size, gradients=True)
        x, y = arrays.coordinates.T
        slope = arrays.gradients["x"]
        assert slope @ (2 * x - y) == pytest.approx(np.full(len(x), 2.0), abs=1e-3)
        wave = np.sin(4 * x + 2 * y)
        off = abs(slope @ wave - 4 * np.cos(4 * x + 2 * y))
        depth = arrays.sampling.depth[arrays.sampling.places]
        errors.append((off[depth > 3].max(), off.max()))
    (inside, edge), (finer_inside, finer_edge) = errors
    assert finer_inside < inside / 3.5
    assert finer_edge < edge / 1.8
