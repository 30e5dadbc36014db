"""Edges do not depend on where the points lie: turned, in clusters, or nearly equally far."""

import numpy as np
import pytest
from all_pairs import check_rule, searched
from sphere_truth import edges_of_rows, rows_of, unit

from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.search.pruned import PrunedSearch

COUNT = 24


class Jittered(Icosphere):
    """Shells that are 1e-7 wide, relatively: within the tolerance, but far beyond rounding.

    The poles stay, for next to them gamma would be any angle.
    """

    @property
    def base_points(self) -> np.ndarray:
        jitter = 1e-8 * np.random.default_rng(0).normal(size=self.mesh.points.shape)
        jitter[np.hypot(*self.mesh.points[:, :2].T) < 1e-9] = 0
        return unit(self.mesh.points + jitter)


@pytest.mark.parametrize("manifold", ["s2", "so3"])
def test_shells_of_nearly_equal_distances(manifold: str, monkeypatch: pytest.MonkeyPatch) -> None:
    oriented = MANIFOLDS[manifold].oriented
    fiber = MANIFOLDS[manifold].fiber
    points = [kind(6 if oriented else 1, fiber, 1) for kind in (Jittered, Icosphere)]
    metric = Metric(0.3162, 1.3) if oriented else Metric(1.0)
    measured = rows_of(manifold, points[0].coordinates(), metric.eps, metric.xi)
    expected = edges_of_rows(measured, COUNT)
    exact = searched(points[1], manifold, metric, COUNT)
    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 2)
    check_rule(searched(points[0], manifold, metric, COUNT), expected, COUNT)
    assert exact.keys() == expected.keys()
