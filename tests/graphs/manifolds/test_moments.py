"""Where sources lie as seen from targets, against matrix logarithms and rotations of scipy."""

import math

import numpy as np
import pytest
from scipy.linalg import logm
from scipy.spatial.transform import Rotation
from sphere_truth import arcs, logarithms, rotations, unit_vectors

from cheblienet_graphs.manifolds import MANIFOLDS, moments, with_period

RANDOM = np.random.default_rng(3)


def planar(x: float, y: float, a: float) -> np.ndarray:
    cos, sin = math.cos(a), math.sin(a)
    return np.array([[cos, -sin, x], [sin, cos, y], [0, 0, 1]])


@pytest.mark.parametrize("period", ["pi", "2pi"])
def test_rigid_motions_of_the_plane(period: str) -> None:
    """The matrix logarithm, of the smaller rotation of both where orientations are lines."""
    half = math.pi / (2 if period == "pi" else 1)
    ends = RANDOM.uniform([-1, -1, -half], [1, 1, half], (2, 60, 3))
    found = moments.edge_components(with_period("se2", period), *ends)
    for g, h, (forward, sideways, turn) in zip(*ends, found, strict=True):
        turns = [0, math.pi] if period == "pi" else [0]
        logs = [logm(np.linalg.inv(planar(*g)) @ planar(*h) @ planar(0, 0, t)) for t in turns]
        log = min(logs, key=lambda matrix: abs(matrix[1, 0]))
        assert np.allclose([forward, sideways, turn], [log[0, 2], log[1, 2], log[1, 0]], atol=1e-9)


def test_rotations() -> None:
    ends = RANDOM.uniform([-1.5, 0.1, -3], [1.5, 3, 3], (2, 60, 3))
    found = moments.edge_components(MANIFOLDS["so3"], *ends)
    both = logarithms(*map(rotations, ends))
    least = abs(both[..., 2]).argmin(axis=0)
    assert np.allclose(found, both[least, np.arange(60)], atol=1e-9)


def test_arcs_and_their_directions() -> None:
    """Turning the target's frame along them for their length leads to the source."""
    ends = RANDOM.uniform([0.1, -3], [3, 3], (2, 60, 2))
    found = moments.edge_components(MANIFOLDS["s2"], *ends)
    target, source = map(unit_vectors, ends)
    assert np.allclose(np.linalg.norm(found, axis=1), arcs(target, source))
    frame = Rotation.from_euler("ZY", ends[0][:, ::-1])
    ahead = frame.apply(np.column_stack([found, np.zeros(60)]))
    led = Rotation.from_rotvec(np.cross(target, ahead)).apply(target)
    assert np.allclose(led, source, atol=1e-12)


def test_the_nearest_image_counts_and_blocks_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = RANDOM.random((2, 200, 2)) * [1, 0.5]
    found = moments.edge_components(MANIFOLDS["r2"], *ends, (1.0, 0.5))
    shifts = np.array([(x, 0.5 * y) for x in (-1, 0, 1) for y in (-1, 0, 1)])
    images = (ends[1] - ends[0])[:, None] + shifts
    nearest = np.linalg.norm(images, axis=2).argmin(axis=1)
    assert np.allclose(found, images[np.arange(200), nearest], atol=1e-15)
    monkeypatch.setattr(moments, "EDGES_AT_ONCE", 17)
    assert (moments.edge_components(MANIFOLDS["r2"], *ends, (1.0, 0.5)) == found).all()
