"""Where open sides are corrected, and what a specification without the field means."""

import pytest

from cheblienet_graphs import GraphSpec, SpecError

CORRECTED = [
    {"manifold": "se2", "size": 16, "weights": "selling"},
    {"manifold": "se2", "size": 16, "weights": "matched"},
    {"manifold": "r2", "size": 16, "weights": "matched"},
    {"manifold": "r3", "size": 8, "weights": "matched"},
]
NOT = [
    ({"manifold": "se2", "size": 16}, "kernel"),
    ({"manifold": "se2", "size": 16, "weights": "selling", "boundary": "periodic"}, "periodic"),
    ({"manifold": "r2", "size": 16, "weights": "selling"}, "need none"),
    ({"manifold": "r3", "size": 8, "weights": "selling"}, "need none"),
    ({"manifold": "r2", "points": 30}, "random"),
    ({"manifold": "s2", "nside": 4}, "no boundary"),
    ({"manifold": "so3", "nside": 4, "weights": "matched", "neighbors": 24}, "no boundary"),
]


@pytest.mark.parametrize("fields", CORRECTED)
def test_it_is_the_default_where_it_applies(fields: dict) -> None:
    spec, before = GraphSpec(**fields), GraphSpec(**fields, boundary_correction=False)
    assert (spec.boundary_correction, spec.schema) == (True, "1.1")
    assert (before.boundary_correction, before.schema) == (None, "1.0")
    assert spec.to_dict() == before.to_dict() | {"boundary_correction": True}
    assert GraphSpec(**fields, boundary_correction=True).sha256 == spec.sha256
    for known in (spec, before):
        assert GraphSpec.from_dict(known.to_dict()) == known


@pytest.mark.parametrize(("fields", "why"), NOT)
def test_it_is_refused_where_it_means_nothing(fields: dict, why: str) -> None:
    spec = GraphSpec(**fields)
    assert "boundary_correction" not in spec.to_dict()
    assert GraphSpec(**fields, boundary_correction=False) == spec
    with pytest.raises(SpecError, match=f"^boundary_correction must be left out .*{why}"):
        GraphSpec(**fields, boundary_correction=True)
