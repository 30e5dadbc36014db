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
    spec = GraphSpec(**fields)
    assert spec.boundary_correction is True
    assert spec.to_dict()["boundary_correction"] is True
    assert spec.schema == "1.1"
    assert GraphSpec(**fields, boundary_correction=True).sha256 == spec.sha256
    assert GraphSpec.from_dict(spec.to_dict()) == spec
    before = GraphSpec(**fields, boundary_correction=False)
    assert before.boundary_correction is None
    assert before.schema == "1.0"
    assert before.to_dict() == {
        name: value for name, value in spec.to_dict().items() if name != "boundary_correction"
    }
    assert GraphSpec.from_dict(before.to_dict()) == before


@pytest.mark.parametrize(("fields", "why"), NOT)
def test_it_is_refused_where_it_means_nothing(fields: dict, why: str) -> None:
    spec = GraphSpec(**fields)
    assert "boundary_correction" not in spec.to_dict()
    assert GraphSpec(**fields, boundary_correction=False) == spec
    with pytest.raises(SpecError, match=why) as refused:
        GraphSpec(**fields, boundary_correction=True)
    assert refused.value.field == "boundary_correction"
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", ["yes", 1, 0, 0.5, "True"])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(SpecError, match="True or False"):
        GraphSpec("se2", 16, weights="selling", boundary_correction=value)
