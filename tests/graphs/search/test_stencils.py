"""Edges against brute force over all pairs, and the properties the neighbor rule promises."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from all_pairs import listed
from masks import disc
from sphere_truth import Edges
from truth import brute_force_edges

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.manifolds.base import PERIODS
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.offsets import OffsetDistances
from cheblienet_graphs.search.stencil import Stencils


def stencils_of(spec: GraphSpec) -> Stencils:
    sampled = SampledManifold(spec.full_sampling(0), spec.geometry, spec.metric(0))
    return Stencils.of(sampled, spec.neighbors)


def edges(spec: GraphSpec) -> Edges:
    stencils = stencils_of(spec)
    return listed(stencils.engine, stencils, spec.num_vertices)


GRIDS = [
    *(("se2", "12x12", 6, "pi"), ("se2", "16x10", 5, "pi")),
    *(("se2", "9x12", 3, "2pi"), ("r2", "7x12", None, None)),
]


@pytest.mark.parametrize("count", [4, 16, 32])  # the first one, as distances are for all
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("eps", [0.1, 1.0])
@pytest.mark.parametrize(("manifold", "size", "orientations", "period"), GRIDS)
def test_equal_brute_force(
    manifold: str,
    size: str,
    orientations: int | None,
    period: str | None,
    count: int,
    eps: float,
    boundary: str,
) -> None:
    fiber = {"orientations": orientations, "eps": eps, "period": period} if orientations else {}
    spec = GraphSpec(manifold, size, **fiber, neighbors=count, boundary=boundary)
    around = {"alpha": 1, "count": count, "periodic": boundary == "periodic"}
    around["period"] = PERIODS[period or "pi"]
    expected = brute_force_edges(*spec.size, orientations, eps=spec.eps or 1, **around)
    stencil_edges = edges(spec)
    assert stencil_edges.keys() == expected.keys()
    lengths = np.array([(stencil_edges[e], squared) for e, squared in expected.items()]).T
    np.testing.assert_allclose(*lengths, rtol=1e-9)


def test_too_few_neighbors_names_the_least() -> None:
    with pytest.raises(SpecError, match=r"at least 4.*Got 3"):
        stencils_of(GraphSpec("r2", 12, neighbors=3))
    assert edges(GraphSpec("r2", 12, neighbors=4))


@pytest.mark.parametrize("masked", [False, True])
def test_a_build_finds_those_of_a_level_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, masked: bool
) -> None:
    """For its plan, rows, mask and checks."""
    found = Mock(side_effect=OffsetDistances.stencils)
    monkeypatch.setattr(OffsetDistances, "stencils", lambda *given: found(*given))
    points = {"mask": disc(26)} if masked else {"size": 22}  # of which nobody else has any
    build(GraphSpec("se2", **points, orientations=4, levels=2), tmp_path / "g")
    assert found.call_count == 2
