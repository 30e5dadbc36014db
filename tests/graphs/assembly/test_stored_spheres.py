"""Stored graphs on the sphere are true to their metric: moments, and which edges there are."""

import math
from pathlib import Path

import numpy as np
import pytest
from csr_truth import edge_weights
from moments import Sparse, deviation, stored, weights_of
from sphere_truth import arcs, logarithms, rotations, unit_vectors

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import Folder


def pattern(version: Path, level: int = 0) -> Sparse:
    """1 on edges."""
    w = edge_weights(Folder(version), level)
    w.data = np.ones_like(w.data)
    return w


SPHERES = [
    {"manifold": "s2", "nside": 4},
    {"manifold": "s2", "bandlimit": 4},
    {"manifold": "so3", "subdivisions": 2, "orientations": 5, "eps": 0.5, "neighbors": 32},
    {"manifold": "so3", "bandlimit": 4},
]


def sphere_moments(w: Sparse, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(V, 3) and (V, 3, 3) sums of w c, w c c^T: c of SO(3), or tangent vectors in space on S2."""
    entries = w.tocoo()
    row, column = entries.coords
    if coordinates.shape[1] == 2:
        points = unit_vectors(coordinates)
        u, v = points[row], points[column]
        across = v - (u * v).sum(axis=1, keepdims=True) * u
        across *= (arcs(u, v) / np.linalg.norm(across, axis=1))[:, None]
        c, share = across[None], np.ones((1, len(row)))
    else:
        frames = rotations(coordinates)
        c = logarithms(frames[row], frames[column])
        turn = abs(c[:, :, 2])
        share = (turn <= turn.min(axis=0) + 1e-9).astype(float)
        share /= share.sum(axis=0)
    first, second = np.zeros((w.shape[0], 3)), np.zeros((w.shape[0], 3, 3))
    np.add.at(first, row, np.einsum("n,kn,kna->na", entries.data, share, c))
    np.add.at(second, row, np.einsum("n,kn,kna,knb->nab", entries.data, share, c, c))
    return first, second


@pytest.mark.parametrize("fields", SPHERES)
def test_stored_spheres_realize_the_metric(tmp_path: Path, fields: dict) -> None:
    """At every vertex; on the nearest neighbors."""
    spec = GraphSpec(**({"levels": 1, "neighbors": 24} | fields), weights="matched")
    version, (facts,) = stored(spec, tmp_path)
    w = weights_of(version)
    assert w.nnz == 2 * facts["edges"]
    coordinates = np.array(mapped_array(Folder(version / "levels/0/coordinates")))
    area = mapped_array(Folder(version / "levels/0/area")).astype(float)
    _, total = sphere_moments(w, coordinates)
    if spec.manifold == "s2":
        points = unit_vectors(coordinates)
        tangent = np.eye(3) - points[:, :, None] * points[:, None, :]
        assert abs(total / (2 * area)[:, None, None] - tangent).max() <= 1e-5
    else:
        xi_squared = spec.orientations * 4 * math.pi / spec.base_points(0)
        inverse = np.diag([1, spec.eps**2, 1 / xi_squared])
        assert deviation(total, inverse, 2 * area) <= 1e-5
    kernel = GraphSpec(**({"levels": 1, "neighbors": 24} | fields))
    other = stored(kernel, tmp_path / "kernel")[0]
    nearest = pattern(other)
    missing = nearest - nearest.multiply(pattern(version))
    assert missing.sum() <= 2 * facts["dropped_edges"]
    # Few are dropped, not nearly all, where points are evenly spread.
    if spec.sampling in {"icosahedral", "healpix"}:
        assert missing.sum() <= 0.05 * nearest.sum()


def test_first_moments_are_small_where_it_is_asked_for(tmp_path: Path) -> None:
    """Second ones stay the metric's."""
    fields = {"eps": 0.3, "xi": 0.5, "weights": "matched", "neighbors": 24, "levels": 1}
    units, rms = np.array([1, 1 / 0.3, 0.5]), []
    for drift in (None, 0.03, 0.001):
        spec = GraphSpec("so3", subdivisions=2, **fields, drift=drift)
        version, _ = stored(spec, tmp_path, device="cpu")
        area, coordinates = (
            np.array(mapped_array(Folder(version / "levels/0" / part)))
            for part in ("area", "coordinates")
        )
        first, second = sphere_moments(weights_of(version), coordinates)
        scaled = second / area[:, None, None] * units[:, None] * units
        assert abs(scaled - 2 * np.eye(3)).max() < 1e-5  # stored in float32
        rms.append(float(np.sqrt(((first / area[:, None] * units) ** 2).mean())))
    plain, little, least = rms
    assert plain > 10 * little > 50 * least
