"""Edges do not depend on where the points lie: turned, in clusters, or nearly equally far."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from all_pairs import check_rule, cloud_of, name, nearest, searched
from scipy.spatial.transform import Rotation
from sphere_truth import edges_of_rows, rows_of, unit

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.points import Random
from cheblienet_graphs.search.pruned import PrunedSearch

TURN = Rotation.from_euler("xyz", [0.3, -1.1, 2.5])


@pytest.mark.parametrize("fields", [{"subdivisions": 2}, {"bandlimit": 5}], ids=name)
def test_so3_edges_do_not_depend_on_the_position(fields: dict) -> None:
    """Every element multiplied from the left by one rotation."""
    still = cloud_of(GraphSpec("so3", **fields))
    w, x, y, z = still.elements
    elements = Rotation.from_quat(np.stack([x, y, z, w], axis=-1).reshape(-1, 4))
    x, y, z, w = (TURN * elements).as_quat().T.reshape(4, *w.shape)
    turned = replace(still, base=TURN.apply(still.base), elements=(w, x, y, z))
    expected_radii, expected = nearest(PrunedSearch(still, "cpu"), still.points, 16)
    radii, vertices = nearest(PrunedSearch(turned, "cpu"), still.points, 16)
    assert np.allclose(radii, expected_radii, rtol=1e-12)
    assert (vertices == expected).all()


CLUSTERS = np.repeat([0.02, 0.3, 0.9], [40, 20, 1])


@dataclass(frozen=True)
class Clustered(Random):
    """Dense here, one point alone there: no single guess of the candidates suits all."""

    @property
    def base_points(self) -> np.ndarray:
        random = np.random.default_rng(self.seed)
        if self.flat:
            return CLUSTERS[:, None] + 0.01 * random.random((len(CLUSTERS), 2))
        around = np.stack([np.cos(3 * CLUSTERS), np.sin(3 * CLUSTERS), CLUSTERS], axis=1)
        return unit(around + 0.01 * random.normal(size=around.shape))


@pytest.mark.parametrize("count", [4, 16])
@pytest.mark.parametrize("manifold", ["r2", "se2", "s2", "so3"])
def test_clustered_points(manifold: str, count: int) -> None:
    fiber, oriented = MANIFOLDS[manifold].fiber, MANIFOLDS[manifold].oriented
    flat = MANIFOLDS[manifold].base.flat
    sampling = Clustered(4 if oriented else 1, fiber, len(CLUSTERS), seed=3, flat=flat)
    metric = Metric(0.2, 0.1) if oriented else Metric(1.0)
    measured = rows_of(manifold, sampling.coordinates(), metric.eps, metric.xi)
    expected = edges_of_rows(measured, count)
    check_rule(searched(sampling, manifold, metric, count), expected, count)


class Jittered(Icosphere):
    """Shells that are 1e-7 wide, relatively: within the tolerance, but far beyond rounding.

    The poles stay, for next to them gamma would be any angle.
    """

    @property
    def base_points(self) -> np.ndarray:
        jitter = 1e-8 * np.random.default_rng(0).normal(size=self.mesh.points.shape)
        jitter[np.hypot(*self.mesh.points[:, :2].T) < 1e-9] = 0
        return unit(self.mesh.points + jitter)


@pytest.mark.parametrize("count", [5, 24])
@pytest.mark.parametrize("manifold", ["s2", "so3"])
def test_shells_of_nearly_equal_distances(
    manifold: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    oriented = MANIFOLDS[manifold].oriented
    fiber = MANIFOLDS[manifold].fiber
    points = [kind(6 if oriented else 1, fiber, 1) for kind in (Jittered, Icosphere)]
    metric = Metric(0.3162, 1.3) if oriented else Metric(1.0)
    measured = rows_of(manifold, points[0].coordinates(), metric.eps, metric.xi)
    expected = edges_of_rows(measured, count)
    exact = searched(points[1], manifold, metric, count)
    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 2)
    check_rule(searched(points[0], manifold, metric, count), expected, count)
    assert exact.keys() == expected.keys()
