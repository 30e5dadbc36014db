import numpy as np
import pytest
from pictured import dense, opened
from scipy.special import eval_chebyt

from cheblienet_graphs.plot.chebyshev import part_around, random_weights
from cheblienet_graphs.plot.places import Places, places_of
from cheblienet_graphs.plot.symmetric import symmetries_of, turn_of
from cheblienet_graphs.plot.turning import rotation
from cheblienet_graphs.samplings.lattice import Lattice

Z = np.array([0.0, 0.0, 1.0])
DIAGONAL = np.ones(3) / np.sqrt(3)


def measured(name: str, axes: list[np.ndarray]) -> dict[str, tuple[int | None, float]]:
    graph = opened(name)
    found = symmetries_of(graph, 0, places_of(graph, 0), axes, random_weights(1), 2)
    assert all(symmetry.error < 1e-6 for symmetry in found if "approx" not in symmetry.name)
    return {symmetry.name: (symmetry.axis, round(symmetry.angle, 6)) for symmetry in found}


def test_rotations_of_a_plane_are_known_with_their_angles() -> None:
    assert measured("torus", [Z]) == {
        "rotation_90": (0, 90),
        "2 x rotation_90": (0, 180),
        "rotation_180": (0, 180),
        "flip": (None, 0),
        "translation_x": (None, 0),
        "translation_y": (None, 0),
    }


def test_rotations_of_a_sphere_and_a_volume_are_known_about_their_axes() -> None:
    grid = measured("grid", [Z])
    assert grid["longitude_step"] == (0, 22.5)
    assert grid["8 x longitude_step"] == (0, 180)
    assert grid["half_turn_x"] == (None, 0)
    sphere = measured("sphere", [Z, DIAGONAL])
    assert sphere["half_turn_z"] == (0, 180)
    assert sphere["rotation_120"] == (1, 120)


def test_a_permutation_that_is_no_symmetry_is_not_taken_for_one() -> None:
    places = places_of(opened("plane"), 0)
    order = np.random.default_rng(0).permutation(places.points.num_vertices)
    assert turn_of(places, order, [Z]) is None


def test_points_on_a_line_are_not_said_to_turn() -> None:
    line = Lattice((1, 6))
    assert turn_of(Places(line, 1 / 6, flat=True), np.arange(6)[::-1], [Z]) is None


def test_the_error_is_that_of_dense_matrices() -> None:
    """An approximate symmetry, for which it is not small."""
    graph = opened("rotations")
    weights, places = random_weights(1), places_of(graph, 0)
    found = {s.name: s.error for s in symmetries_of(graph, 0, places, [Z], weights, 2)}
    name = "rotation_120 (approximate)"
    permutation = dict(places.points.symmetries())[name]
    values, vectors = np.linalg.eigh(dense(graph))
    signal = np.random.default_rng(2).standard_normal(len(values))
    moved = np.empty_like(signal)
    moved[permutation] = signal
    error, size = 0.0, 0.0
    for channel in weights.T:
        polynomial = sum(w * eval_chebyt(k, values) for k, w in enumerate(channel))
        layer = vectors @ (polynomial[:, None] * vectors.T)
        image = np.empty_like(signal)
        image[permutation] = layer @ signal
        error += np.sum((layer @ moved - image) ** 2)
        size += np.sum(image**2)
    assert found[name] == pytest.approx(np.sqrt(error / size), rel=1e-6)
    assert found[name] > 0.01


def test_a_part_of_a_graph_gives_the_outputs_of_the_whole() -> None:
    graph = opened("group")
    matrix, laplacian = dense(graph), graph.level(0).laplacian
    wanted, weights = np.array([300, 301, 900]), random_weights(0)
    part = part_around(laplacian, wanted, len(weights) - 1)
    assert len(wanted) < len(part.vertices) < len(matrix)
    signal = np.random.default_rng(0).standard_normal(len(matrix))
    own = np.searchsorted(part.vertices, wanted)
    found = part.outputs(signal[part.vertices, None], weights)[own, 0]
    whole = part_around(laplacian, np.arange(len(matrix)), 1)
    assert abs(found - whole.outputs(signal[:, None], weights)[wanted, 0]).max() < 1e-12


@pytest.mark.parametrize("axis", [Z, DIAGONAL])
def test_rotations_turn_about_their_axis_from_x_towards_y(axis: np.ndarray) -> None:
    turn = rotation(axis, 40)
    assert turn @ axis == pytest.approx(axis)
    assert turn @ turn.T == pytest.approx(np.eye(3))
    assert np.trace(turn) == pytest.approx(1 + 2 * np.cos(np.radians(40)))
    assert rotation(Z, 90) @ [1, 0, 0] == pytest.approx([0, 1, 0])
