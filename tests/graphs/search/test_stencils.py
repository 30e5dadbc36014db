"""Edges of lattices by stencils against brute force over all pairs; they are found once."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from all_pairs import edges
from masks import disc
from truth import brute_force_edges

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.manifolds.base import PERIODS
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.offsets import OffsetDistances

GRIDS = [
    {"manifold": "r2", "size": "7x12"},
    *(
        {"manifold": "se2", "size": size, "orientations": number, "period": period, "eps": eps}
        for size, number, period in (("12x12", 6, "pi"), ("16x10", 5, "pi"), ("9x12", 3, "2pi"))
        for eps in (0.1, 1.0)
    ),
]


@pytest.mark.parametrize("count", [4, 16, 32])  # the first one, as distances are for all
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("fields", GRIDS, ids=str)
def test_equal_brute_force(fields: dict, boundary: str, count: int) -> None:
    spec = GraphSpec(**fields, neighbors=count, boundary=boundary)
    around = {"alpha": 1, "count": count, "periodic": boundary == "periodic"}
    around["period"] = PERIODS[spec.period or "pi"]
    expected = brute_force_edges(*spec.size, fields.get("orientations"), eps=spec.eps, **around)
    stencil_edges = edges(spec, Choice("stencil", "cpu"))
    assert stencil_edges.keys() == expected.keys()
    lengths = np.array([(stencil_edges[e], squared) for e, squared in expected.items()]).T
    np.testing.assert_allclose(*lengths, rtol=1e-9)


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
