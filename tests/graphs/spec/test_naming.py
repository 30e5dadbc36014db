"""Names and printed forms: different graphs have different names, and what is printed is them."""

import re
from typing import Any

import numpy as np
import pytest
from digests import SPECS as DIGESTED
from many_specs import MANY_SPECS

from cheblienet_graphs import GraphSpec, LatLonMask
from cheblienet_graphs.spec.naming import (
    LONGEST,
    MOST,
    SCREEN,
    least_fields,
    specifies,
    without_field,
)
from cheblienet_graphs.spec.recorded import arguments
from cheblienet_graphs.store.layout import NAME

CHANGES = [
    *({field: 0.1} for field in ("eps", "eps_squared", "alpha", "xi", "bandwidth", "directional")),
    *({"alpha": alpha} for alpha in (1.0, 2.0, 0.1 + 0.2, 0.3, 1e6)),
    *({"weights": weights} for weights in ("matched", "selling")),
    *({"orientations": 8, "period": period} for period in ("pi", "2pi")),
    *({"levels": 1, "eigenpairs": count} for count in (1, 9)),
    *({"boundary": "periodic", "lambda_max": bound} for bound in ("exact", 2)),
    *({"laplacian": kind, "size": "16x24"} for kind in ("normalized", "combinatorial")),
]
REFINED = (2, 3, -122.419, 37.775, -100.123, 50.125)


def test_equal_names_are_equal_specifications() -> None:
    changed = [GraphSpec(**{"manifold": "se2", "size": 16} | change) for change in CHANGES]
    specs = [*changed, *DIGESTED.values()]
    for spec in specs:
        assert NAME.fullmatch(spec.default_name)
        assert len(spec.default_name) <= LONGEST
        assert GraphSpec(**least_fields(spec)) == spec
        assert spec.mask is not None or eval(repr(spec)) == spec
    assert len({spec.default_name for spec in specs}) == len({spec.sha256 for spec in specs})


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"eps_squared": 0.05}, "se2-96x96x6-eps-squared0.05"),
        ({"period": "2pi", "xi": "auto"}, "se2-96x96x8-2pi-xi-auto"),
        ({"weights": "selling", "boundary_correction": False},
         "se2-96x96x6-selling-no-boundary-correction"),
    ],
)  # fmt: skip
def test_names_say_what_is_not_the_default(fields: dict, name: str) -> None:
    assert GraphSpec("se2", 96, **fields).default_name == name


def test_digests_stand_for_what_a_name_cannot_hold() -> None:
    mask = np.eye(96, dtype=bool)
    points = np.random.default_rng(0).uniform(-80, 80, (90, 2))
    long = {"weights": "matched", "kernel": "cauchy", "bandwidth": 0.3, "neighbors": 24}
    for spec, start in (
        (GraphSpec("se2", 96, mask=mask), "se2-96x96x6-masked-"),
        (GraphSpec("s2", nside=8, region=(0, 0, 90, 90)), "s2-healpix-8-region-"),
        (GraphSpec("s2", coordinates=points), "s2-unstructured-90-"),
        (GraphSpec("se2", 96, **long), "se2-96x96x6-matched-neighbors24-cauchy-"),
        (GraphSpec("se2", 96, mask=mask, eps=0.1), "se2-96x96x6-masked-eps0.1-"),
        (GraphSpec("s2", refined=REFINED, levels=1), "s2-refined-icosahedral-"),
    ):
        assert spec.default_name == start + spec.sha256[:8]
        assert len(spec.default_name) <= MOST
        assert NAME.fullmatch(spec.default_name)


def test_what_is_printed_fits_a_screen() -> None:
    grid = np.arange(-80.0, 81), np.arange(0.0, 360)
    lands = LatLonMask(np.ones((161, 360), bool), *grid)
    assert str(lands) == "LatLonMask(161 latitudes x 360 longitudes, 57,960 inside)"
    for spec in (
        GraphSpec("se2", 96, eps=0.1, weights="selling"),
        GraphSpec("s2", nside=16, mask=lands),
        GraphSpec("so3", coordinates=np.random.default_rng(0).uniform(-80, 80, (500, 2))),
    ):
        assert max(map(len, str(spec).splitlines())) <= SCREEN
        first, rest = re.split(r"\nby default: ", str(spec))
        assert " ".join(first.split()) == repr(spec)
        told = re.findall(r"(\w+)=", first + " " + rest)
        assert len(told) == len({*told}) >= len(spec.to_dict()) - 1


def test_pixels_are_told_where_a_region_would_clip_cells() -> None:
    points = np.random.default_rng(0).uniform(-80, 80, (90, 2))
    given = {"coordinates": points, "weights": "voronoi", "region": (-90, -60, 90, 60)}
    clipped, whole = (GraphSpec("s2", **given, mask_edge=edge) for edge in (None, "pixels"))
    assert "mask_edge" not in least_fields(clipped)
    assert GraphSpec(**least_fields(whole)) == whole != clipped


def left_out_one_by_one(spec: GraphSpec) -> dict[str, Any]:
    """The arguments that the others do not imply: those without which another one comes out."""
    fields = arguments(spec.to_dict())
    for name in sorted(fields.keys() - {"manifold", "mask"}):
        if specifies(remaining := without_field(fields, name), spec):
            fields = remaining
    return fields


@pytest.mark.parametrize("number", range(len(MANY_SPECS)))
def test_what_is_implied_is_what_may_be_left_out(number: int) -> None:
    built = MANY_SPECS[number][1]
    told = least_fields(spec := built.recorded())
    eps = {"eps": spec.eps} if "eps_squared" in told else {}
    expected = left_out_one_by_one(spec)
    assert told.keys() - {"eps_squared"} == expected.keys() - eps.keys()
    assert without_field(told, "eps_squared") == {k: v for k, v in expected.items() if k not in eps}
    assert [*without_field(told, "eps_squared")] == [k for k in expected if k not in eps]
    assert GraphSpec.from_dict(spec.to_dict()).implied == built.implied == spec.implied
