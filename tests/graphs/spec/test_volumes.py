"""Fields of volumes: axes and the sides of voxels."""

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.limits import AXES
from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set


def test_every_set_has_its_number() -> None:
    assert {name: len(axis_set(name)) for name in AXIS_SETS} == AXES


def test_defaults() -> None:
    spec = GraphSpec("r3s2", 48)
    assert (spec.axes, spec.orientations, spec.spacing) == ("12", 12, None)
    assert (spec.neighbors, spec.boundary, spec.levels) == (32, "open", 3)
    assert spec.eps**2 == pytest.approx(0.1)
    assert spec.metric(0).xi ** 2 == pytest.approx(12 / 48**2)
    assert spec.num_vertices == 48**3 * 12
    assert spec.default_name == "r3s2-48x48x48x12"
    assert spec.schema == "1.1"


@pytest.mark.parametrize("given", [12, 12.0, "12", " 12", np.int64(12)])
def test_equal_sets_have_equal_digests(given: object) -> None:
    assert GraphSpec("r3s2", 8, axes=given).sha256 == GraphSpec("r3s2", 8).sha256


def test_other_manifolds_have_no_such_fields() -> None:
    for spec in (GraphSpec("r3", 8), GraphSpec("se2", 8)):
        assert spec.to_dict().keys().isdisjoint({"axes", "spacing"})


def test_names_of_icospheres() -> None:
    spec = GraphSpec("r3s2", 8, axes="ico21")
    assert (spec.orientations, spec.default_name) == (21, "r3s2-8x8x8xico21")
    assert GraphSpec("r3s2", 8, axes="ico6") != GraphSpec("r3s2", 8, axes=6)


@pytest.mark.parametrize("manifold", ["r3", "r3s2"])
def test_spacing_is_relative_to_x(manifold: str) -> None:
    spec = GraphSpec(manifold, "8x8x4", spacing="0.5,0.5,1")
    assert spec.spacing == (1, 1, 2)
    assert spec == GraphSpec(manifold, "8x8x4", spacing=(2, 2, 4))
    assert spec.schema == "1.1"
    assert spec.squared_spacing(0) == pytest.approx(2 ** (2 / 3) / 64)
    assert spec.full_sampling(0).extent == (1, 1, 1)
    assert spec.full_sampling(1).extent == (1, 1, 1)
    equal = GraphSpec(manifold, 8, spacing=(3, 3, 3))
    assert equal == GraphSpec(manifold, 8)
    assert GraphSpec("r3", 8, spacing=1e5 * np.ones(3)).schema == "1.0"


def test_what_is_recorded_comes_back() -> None:
    spec = GraphSpec("r3s2", "8x6x4", axes=7, spacing=(1, 1, 2), xi="auto", mask=np.ones((4, 6, 8)))
    again = GraphSpec.from_dict(spec.to_dict())
    assert again == spec.recorded()
    assert again.sha256 == spec.sha256
    assert spec.to_dict()["axes"] == "7"
    assert spec.to_dict()["orientations"] == 7
    assert spec.to_dict()["spacing"] == [1.0, 1.0, 2.0]


SETS = "one of 3, 4, 6, 7, 12, 13, 22, 43, or ico6 or ico21 or ico81"


@pytest.mark.parametrize(
    ("manifold", "fields", "field", "said"),
    [
        ("r3s2", {"axes": 5}, "axes", SETS),
        ("r3s2", {"axes": "ico7"}, "axes", SETS),
        ("r3s2", {"axes": "healpix"}, "axes", SETS),
        ("r3s2", {"axes": 12.5}, "axes", SETS),
        ("r3s2", {"axes": True}, "axes", SETS),
        ("r3s2", {"axes": [12]}, "axes", SETS),
        ("r3s2", {"orientations": 12}, "orientations", "`axes` says how many"),
        ("r3", {"axes": 12}, "axes", "left out on r3"),
        ("se2", {"axes": 12}, "axes", "left out on se2"),
        ("se2", {"spacing": (1, 1, 1)}, "spacing", "left out on se2"),
        ("r3s2", {"spacing": (1, 1)}, "spacing", "three positive sides"),
        ("r3s2", {"spacing": (1, 1, 0)}, "spacing", "three positive sides"),
        ("r3s2", {"spacing": (1, 1, -1)}, "spacing", "three positive sides"),
        ("r3s2", {"spacing": (1, 1, 1e4)}, "spacing", "1000 times"),
        ("r3s2", {"spacing": "1,1,x"}, "spacing", "three positive sides"),
        ("r3s2", {"spacing": 2}, "spacing", "three positive sides"),
        ("r3s2", {"spacing": (1, 1, float("nan"))}, "spacing", "three positive sides"),
        ("r3s2", {"directional": 0.1}, "directional", "left out on r3s2"),
        ("r3s2", {"sampling": "random"}, "sampling", "lattice"),
        ("r3s2", {"size": "8x8"}, "size", "WxHxD"),
    ],
)
def test_refusals(manifold: str, fields: dict, field: str, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        GraphSpec(manifold, **{"size": 8, **fields})
    assert refused.value.field == field
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_masks_of_other_shapes() -> None:
    with pytest.raises(SpecError, match=r"of shape \(8, 8, 8\).*Got \(8, 8, 7\)"):
        GraphSpec("r3s2", 8, mask=np.ones((8, 8, 7), bool))
    assert GraphSpec("r3s2", mask=np.ones((4, 6, 8), bool)).size == (8, 6, 4)
