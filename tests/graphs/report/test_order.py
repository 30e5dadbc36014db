"""Orders of convergence that reports state: those that were measured, and no others."""

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.report.order import BUILT_FOR_METRIC, order_of

MASK = np.ones((8, 8), bool)
MATCHED = {"weights": "matched", "neighbors": 24}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (GraphSpec("r2", 8, boundary="periodic", weights="selling"), "second order on this peri"),
        (GraphSpec("r3", 8, boundary="periodic", weights="matched"), "second order on this peri"),
        (GraphSpec("se2", 8, boundary="periodic", weights="selling"), "refined together"),
        (GraphSpec("se2", 8, weights="selling"), "sides corrected), pixels and orientations"),
        (GraphSpec("r3", 8, weights="matched"), "second order on this open lattice"),
        (
            GraphSpec("se2", 8, weights="selling", boundary_correction=False),
            "order 1.1 to 1.4 on this open lattice",
        ),
        (GraphSpec("r2", mask=MASK, weights="selling", levels=1), "0.7 to 1.4 on a disc"),
        (GraphSpec("s2", subdivisions=2, region=(0, 0, 90, 90), **MATCHED), "order 1.2 to 1.6"),
        (GraphSpec("so3", subdivisions=2, **MATCHED), "order 1.5 to 1.7"),
        (GraphSpec("s2", subdivisions=2, **MATCHED), "second order on this sampling"),
        (GraphSpec("r3s2", 8, boundary="periodic", weights="selling"), "voxels and axes refined"),
        (GraphSpec("r3s2", 8, boundary="periodic", weights="matched"), "voxels and axes refined"),
        (GraphSpec("s2", points=99, **MATCHED), "hardly converges"),
        (GraphSpec("s2", points=99, weights="voronoi"), "second order on these points"),
        (GraphSpec("r2", points=99, weights="voronoi"), "second order on these points"),
    ],
)
def test_recorded_orders(spec: GraphSpec, said: str) -> None:
    order = order_of(spec)
    assert order is not None
    assert said in order
    assert BUILT_FOR_METRIC[spec.weights] in order


@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec("r2", 8, boundary="periodic"),
        GraphSpec("se2", 8),
        GraphSpec("s2", subdivisions=2),
        GraphSpec("s2", bandlimit=4, **MATCHED),
        GraphSpec("r2", points=99, boundary="periodic", weights="voronoi"),
        GraphSpec("so3", nside=2, **MATCHED),
        GraphSpec("so3", points=99, **MATCHED),
        GraphSpec("r2", 8, weights="selling"),
        GraphSpec("r3", 8, weights="selling"),
        GraphSpec("r3s2", 8, boundary="periodic"),
        GraphSpec("r3s2", 8, weights="selling"),
        GraphSpec("r3s2", 8, weights="matched"),
        GraphSpec("r3s2", mask=np.ones((8, 8, 8), bool), weights="matched", levels=1),
        GraphSpec("se2", mask=MASK, weights="selling", levels=1),
        GraphSpec("r2", mask=MASK, boundary="periodic", weights="selling", levels=1),
    ],
)
def test_what_was_not_measured_has_no_order(spec: GraphSpec) -> None:
    assert order_of(spec) is None
