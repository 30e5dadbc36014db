"""Specifications: normalization, defaults, digests."""

import hashlib
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs import GraphSpec, SpecError


def test_equal_values_have_equal_digests() -> None:
    digests = {
        GraphSpec("se2", size, orientations=n_o, eps=eps, bandwidth=0.2, levels=levels).sha256
        for size in (96, 96.0, "96", "96x96", (96, 96.0), np.int64(96))
        for n_o in (6, "6", 6.0)
        for eps in (0.1, "0.1", "1/10", Fraction(1, 10), "1e-1")
        for levels in (None, 4)
    }
    assert len(digests) == 1


def roundtrip(spec: GraphSpec) -> None:
    """Assert that JSON tells the specification, and that its digest is that of the JSON."""
    text = json.dumps(spec.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
    again = GraphSpec.from_dict(json.loads(text))
    assert again == spec
    assert again.sha256 == spec.sha256 == hashlib.sha256(text.encode()).hexdigest()


@given(
    manifold=st.sampled_from(["r2", "se2"]),
    size=st.tuples(st.integers(2, 500), st.integers(2, 500)),
    neighbors=st.integers(1, 64),
    kernel=st.sampled_from(["gaussian", "laplace", "cauchy", "rectangular"]),
    boundary=st.sampled_from(["open", "periodic"]),
    lambda_max=st.sampled_from(["exact", 2, "2"]),
)
def test_json_round_trip(manifold: str, size: tuple[int, int], **fields: object) -> None:
    roundtrip(GraphSpec(manifold, size, **fields))


def test_the_period_is_that_of_lines_unless_it_is_named() -> None:
    lines, arrows = GraphSpec("so3", subdivisions=1), GraphSpec("so3", subdivisions=1, period="2pi")
    assert lines == GraphSpec("so3", subdivisions=1, period="pi", orientations=6)
    assert (lines.period, lines.schema, "period" in lines.to_dict()) == ("pi", "1.0", False)
    assert (arrows.period, arrows.schema, arrows.to_dict()["period"]) == ("2pi", "1.2", "2pi")
    assert (arrows.orientations, GraphSpec("s2", subdivisions=1).period) == (8, None)
    assert arrows.default_name == "so3-icosahedral-1x8-2pi"
    assert GraphSpec.from_dict(json.loads(json.dumps(arrows.to_dict()))) == arrows
    assert arrows.metric(0).xi ** 2 == pytest.approx(4 * arrows.squared_spacing(0))


@pytest.mark.parametrize(
    ("manifold", "period", "accepted"),
    [
        ("r2", "2pi", "left out on r2, which has no angles"),
        ("r3s2", "2pi", "left out on r3s2"),
        ("se2", 2, "one of pi, 2pi"),
    ],
)
def test_other_periods_are_refused(manifold: str, period: object, accepted: str) -> None:
    with pytest.raises(SpecError, match=rf"^period must be {accepted}.*Got '?{period}'?"):
        GraphSpec(manifold, 8, period=period)


def test_defaults_are_the_papers() -> None:
    se2, r2 = GraphSpec("se2", 96), GraphSpec("r2", 96)
    assert (se2.orientations, se2.neighbors, r2.neighbors) == (6, 16, 8)
    assert math.isclose(se2.eps**2, 0.1)
    assert r2.eps == 1
    assert (se2.kernel, se2.bandwidth, se2.alpha, se2.xi) == ("gaussian", 0.2, 1.0, "alpha")
    assert (se2.boundary, se2.lambda_max, se2.levels) == ("open", "exact", 4)
    assert se2.default_name == "se2-96x96x6"
    assert GraphSpec("r2", "24x16").default_name == "r2-24x16"


@pytest.mark.parametrize(
    ("size", "levels"), [(96, 4), (16, 2), (15, 1), ("96x24", 2), ("64x48", 3), (8, 1)]
)
def test_default_pyramid_halves_down_to_eight(size: object, levels: int) -> None:
    assert GraphSpec("r2", size).levels == levels


def test_xi_follows_alpha_on_every_level() -> None:
    spec = GraphSpec("se2", 32, orientations=6, alpha=1)
    assert [spec.metric(level).xi ** 2 for level in range(3)] == pytest.approx(
        [6 / 32**2, 6 / 16**2, 6 / 8**2]
    )
    given_xi = GraphSpec("se2", 32, xi=0.1)
    assert [given_xi.metric(level).xi for level in range(3)] == pytest.approx([0.1, 0.2, 0.4])


def test_specs_are_frozen_and_hashable() -> None:
    spec = GraphSpec("se2", 16)
    assert {spec: 1}[GraphSpec("se2", "16x16")] == 1
    with pytest.raises(AttributeError):
        spec.eps = 1.0  # type: ignore[misc]


def test_weights_set_the_defaults() -> None:
    kernel, matched = GraphSpec("se2", 16), GraphSpec("se2", 16, weights="matched")
    fewest, plane = GraphSpec("se2", 16, weights="selling"), GraphSpec("r2", 16, weights="selling")
    assert (kernel.weights, kernel.laplacian, kernel.eigenpairs) == ("kernel", "normalized", None)
    assert (matched.laplacian, matched.kernel) == ("combinatorial", "gaussian")
    assert matched.neighbors == 16
    assert (fewest.laplacian, fewest.neighbors, plane.neighbors) == ("combinatorial", 8, 4)
    assert (fewest.kernel, fewest.bandwidth) == (None, None)
    assert GraphSpec("se2", 16, weights="selling", laplacian="normalized").laplacian == "normalized"
    assert GraphSpec("se2", 16, weights="selling", neighbors=8) == fewest
    assert len({spec.sha256 for spec in (kernel, matched, fewest)}) == 3


@given(
    sampling=st.sampled_from(
        [
            {"manifold": "se2", "size": 32, "weights": "selling"},
            {"manifold": "se2", "size": 32, "weights": "matched", "kernel": "cauchy"},
            {"manifold": "r2", "size": (16, 24), "weights": "selling"},
            {"manifold": "r2", "size": 16, "weights": "kernel"},
            {"manifold": "s2", "nside": 4, "weights": "matched", "neighbors": 24},
            {"manifold": "so3", "subdivisions": 2, "weights": "matched", "neighbors": 32},
            {"manifold": "so3", "points": 99, "weights": "matched", "neighbors": 24},
            {"manifold": "s2", "nside": 4, "weights": "matched", "neighbors": 24, "drift": "0.1"},
        ]
    ),
    laplacian=st.sampled_from([None, "normalized", "combinatorial"]),
    eigenpairs=st.sampled_from([None, 1, "20", 40.0]),
)
def test_json_round_trip_of_weights(sampling: dict[str, object], **fields: object) -> None:
    spec = GraphSpec(**sampling, **fields)
    roundtrip(spec)
    for changed in ({"laplacian": "combinatorial"}, {"laplacian": "normalized"}, {"eigenpairs": 7}):
        other = GraphSpec(**sampling, **(fields | changed))
        same = all(getattr(spec, field) == value for field, value in changed.items())
        assert (other.sha256 == spec.sha256) == same


def test_drift_is_told_only_where_it_is_given() -> None:
    fields = {"nside": 4, "weights": "matched", "neighbors": 24}
    plain, little = GraphSpec("s2", **fields), GraphSpec("s2", **fields, drift="3/100")
    assert (plain.drift, plain.schema, little.schema) == (None, "1.0", "1.1")
    assert plain.to_dict() | {"drift": 0.03} == little.to_dict() != plain.to_dict()


def test_as_many_eigenpairs_as_vertices() -> None:
    assert GraphSpec("se2", 16, eigenpairs=384).eigenpairs == 384
    assert GraphSpec("se2", 96, eigenpairs="1e3", levels=1).eigenpairs == 1000
