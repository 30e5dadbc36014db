"""Fields of volumes: axes and the sides of voxels."""

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec
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
    assert [spec.full_sampling(level).extent for level in (0, 1)] == [(1, 1, 1)] * 2
    assert GraphSpec(manifold, 8, spacing=1e5 * np.ones(3)) == GraphSpec(manifold, 8)


def test_what_is_recorded_comes_back() -> None:
    spec = GraphSpec("r3s2", "8x6x4", axes=7, spacing=(1, 1, 2), xi="auto", mask=np.ones((4, 6, 8)))
    again = GraphSpec.from_dict(spec.to_dict())
    assert again == spec.recorded()
    assert again.sha256 == spec.sha256
    recorded = {"axes": "7", "orientations": 7, "spacing": [1.0, 1.0, 2.0]}
    assert spec.to_dict() == spec.to_dict() | recorded
    assert {*GraphSpec("se2", 8).to_dict(), *GraphSpec("r3", 8).to_dict()}.isdisjoint(
        {"axes", "spacing"}
    )
