"""Specifications: normalization, defaults, digests; volumes, and where open sides are corrected."""

import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from digests import SPECS as DIGESTED

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.limits import AXES
from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set


def test_equal_values_have_equal_digests() -> None:
    digests = {
        GraphSpec("se2", size, orientations=n_o, eps=eps, bandwidth=0.2, levels=levels).sha256
        for size in (96, 96.0, "96", "96x96", (96, 96.0), np.int64(96), np.array([96, 96]))
        for n_o in (6, "6", 6.0)
        for eps in (0.1, "0.1", "1/10", Fraction(1, 10), "1e-1")
        for levels in (None, 4)
    }
    assert len(digests) == 1
    bounds = (2, "2", "2.0", np.int64(2), np.float32(2))
    assert len({GraphSpec("se2", 8, lambda_max=bound) for bound in bounds}) == 1
    assert GraphSpec("r2", 8, gradients=np.True_) == GraphSpec("r2", 8, gradients=True)


def test_the_period_is_that_of_lines_unless_it_is_named() -> None:
    lines, arrows = GraphSpec("so3", subdivisions=1), GraphSpec("so3", subdivisions=1, period="2pi")
    assert lines == GraphSpec("so3", subdivisions=1, period="pi", orientations=6)
    assert (lines.period, lines.schema) == ("pi", "1.0")
    assert (arrows.period, arrows.schema, arrows.orientations) == ("2pi", "1.2", 8)
    assert GraphSpec("s2", subdivisions=1).period is None
    assert GraphSpec.from_dict(json.loads(json.dumps(arrows.to_dict()))) == arrows
    assert arrows.metric(0).xi ** 2 == pytest.approx(4 * arrows.squared_spacing(0))


@pytest.mark.parametrize("spec", DIGESTED.values(), ids=DIGESTED)
def test_json_round_trip(spec: GraphSpec) -> None:
    """JSON tells the specification, and its digest is that of the JSON."""
    text = json.dumps(spec.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
    again = GraphSpec.from_dict(json.loads(text))
    assert again == spec
    assert again.sha256 == spec.sha256 == hashlib.sha256(text.encode()).hexdigest()
    other = GraphSpec.from_dict(spec.to_dict() | {"eigenpairs": 7})
    assert (other == spec, other.sha256 == spec.sha256) == (False, False)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"manifold": "se2", "size": 16}, "kernel"),
        ({"manifold": "se2", "size": 16, "weights": "selling", "boundary": "periodic"}, "periodic"),
        ({"manifold": "r3", "size": 8, "weights": "selling"}, "need none"),
        ({"manifold": "r2", "points": 30}, "random"),
        ({"manifold": "so3", "nside": 4, "weights": "matched", "neighbors": 24}, "no boundary"),
    ],
)
def test_a_correction_is_refused_where_it_means_nothing(fields: dict, why: str) -> None:
    spec = GraphSpec(**fields)
    assert "boundary_correction" not in spec.to_dict()
    assert GraphSpec(**fields, boundary_correction=False) == spec
    with pytest.raises(SpecError, match=f"^boundary_correction must be left out .*{why}"):
        GraphSpec(**fields, boundary_correction=True)


def test_defaults_of_planes_and_spheres() -> None:
    """Those of other fields are in the digests of `tests/data`."""
    assert GraphSpec("s2", nside=2, weights="matched").neighbors == 24
    given_xi = GraphSpec("se2", 32, xi=0.1)
    assert [given_xi.metric(level).xi for level in range(3)] == pytest.approx([0.1, 0.2, 0.4])


def test_defaults_of_volumes() -> None:
    spec = GraphSpec("r3s2", 48)
    assert (spec.axes, spec.orientations, spec.spacing) == ("12", 12, None)
    assert (spec.neighbors, spec.boundary, spec.levels) == (32, "open", 3)
    assert spec.metric(0).xi ** 2 == pytest.approx(12 / 48**2)
    assert (spec.num_vertices, spec.schema) == (48**3 * 12, "1.1")
    for axes in (12, 12.0, "12", " 12", np.int64(12)):
        assert GraphSpec("r3s2", 48, axes=axes).sha256 == spec.sha256
    assert GraphSpec("r3s2", 8, axes="ico6") != GraphSpec("r3s2", 8, axes=6)
    assert {name: len(axis_set(name)) for name in AXIS_SETS} == AXES


@pytest.mark.parametrize("manifold", ["r3", "r3s2"])
def test_spacing_is_relative_to_x(manifold: str) -> None:
    spec = GraphSpec(manifold, "8x8x4", spacing="0.5,0.5,1")
    assert spec.spacing == (1, 1, 2)
    assert spec == GraphSpec(manifold, "8x8x4", spacing=(2, 2, 4))
    assert spec.schema == "1.1"
    assert spec.squared_spacing(0) == pytest.approx(2 ** (2 / 3) / 64)
    assert [spec.full_sampling(level).extent for level in (0, 1)] == [(1, 1, 1)] * 2
    assert GraphSpec(manifold, 8, spacing=1e5 * np.ones(3)) == GraphSpec(manifold, 8)


@pytest.mark.parametrize("size", [{"subdivisions": 2}, {"refined": (1, 2, -10, 35, 30, 60)}])
def test_icospheres_have_voronoi_weights_unless_kernel_weights_are_meant(size: Any) -> None:
    named = GraphSpec("s2", **size)
    assert (named.weights, named.laplacian) == ("voronoi", "combinatorial")
    assert named == GraphSpec("s2", **size, weights="voronoi")
    paper = GraphSpec("s2", **size, weights="kernel")
    for meant in (
        {"neighbors": 8},
        {"kernel": "gaussian"},
        {"bandwidth": 0.2},
        {"laplacian": "normalized"},
    ):
        assert GraphSpec("s2", **size, **meant) == paper
    assert GraphSpec("s2", **size, lambda_max=2).weights == "kernel"
    others = ("so3", size), ("s2", {"nside": 2}), ("s2", {"points": 60}), ("r2", {"points": 60})
    assert {GraphSpec(name, **fields).weights for name, fields in others} == {"kernel"}
