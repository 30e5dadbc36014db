"""One line for each specification that can't be: which field, what it takes, what it was given."""

import math
import re
from typing import Any

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, Polygons, SpecError, Volume
from cheblienet_graphs.errors import quoted
from cheblienet_graphs.inputs.masks import LatLonMask
from cheblienet_graphs.spec.point_fields import SIZES

VALUES: dict[str, list[Any]] = {
    "orientations": [0, 2.5, True],
    "eps": [0, 1.5, math.nan, math.inf, "1/0", "small", float],
    "xi": [-1, "auto ", np.ones(2)],
    "neighbors": [0, 10**400],
    "weights": ["Selling", 1],
    "bandwidth": [0, "1e999"],
    "boundary_correction": ["yes", 1, 0, 0.5, "True"],
    "levels": [0, 9],
    "lambda_max": [1, True, np.ones(2)],
    "eigenpairs": [0, 2.5],
    "size": [1, 10**6, "12x", "12x13x14", [8, -8], math.inf],
    "manifold": ["so4", None],
}
"""What fields of se2 do not take; `tests/cli/test_help.py` has the ends of all ranges."""
SELLING, MATCHED, ONE = {"weights": "selling"}, {"weights": "matched"}, {"orientations": 1}
PLANE = np.random.default_rng(1).random((90, 2))
SPHERE = np.random.default_rng(2).uniform([-90, -180], [90, 180], (120, 2))
EARTH = LatLonMask.whole_sphere(np.ones((8, 16), bool))
SQUARE, NAN = np.ones((8, 8), bool), float("nan")
TRIANGLE = Polygons.of([[0, 0], [4, 0], [4, 4]])
VOLUME = Volume(np.ones((6, 5, 4), bool), np.diag([1.7, 1.7, 1.7, 1]))
EUROPE = (-10.0, 35.0, 30.0, 60.0)
SETS = "axes must be one of 3, 4, 6, 7, 12, 13, 22, 43, ico6, ico21, ico81"
LATITUDES = r"gaussian must be O or F with .* \[2, 8192\]"
ROWS = r"pl must be points of each latitude.*\[4, 16384\](?!.*Of a half)"
SIDES = "spacing must be x,y,z: three positive sides"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    *(
        ("se2", {"manifold": "se2", field: value}, f"{field} must be .*{re.escape(quoted(value))}")
        for field, values in VALUES.items()
        for value in values
    ),
    # Points and levels.
    ("se2", {"size": 65536, "orientations": 180}, r"size .* vertices. Got 773094113280\. Or use f"),
    ("r3s2", {"size": "8x8"}, "size must be .*WxHxD"),
    ("s2", {"sampling": "unstructured"}, "coordinates must be given: it is the size of s2"),
    ("s2", {"coordinates": SPHERE, "domain": (0, 0, 1, 1)}, "domain must be left out on s2: it is"),
    ("r2", {"coordinates": PLANE, "units": "degrees"}, "units must be left out on r2"),
    ("s2", {"coordinates": SPHERE, "levels": 2}, "levels must be left out or 1, as many as there"),
    *(("s2", {"gaussian": size}, LATITUDES) for size in ("O1", "M32", 32, "O3.5")),
    ("s2", {"gaussian": "N33"}, r"gaussian must be one of N32, .*Give the points of .*`pl`"),
    ("s2", {"gaussian": "N32", "pl": [20, 20]}, "pl must be left out where `gaussian` is given"),
    *(("s2", {"pl": pl}, ROWS) for pl in ([3, 8, 8, 3], [8, 8.5, 8.5, 8], "a,b", [20, 20])),
    *(("s2", {"pl": pl}, ROWS) for pl in ([9, 8, 7, 9], [8, 9, 8])),
    ("s2", {"pl": [20, 24, 27, 32]}, r"pl must be .* Of a half, give both: `pl \+ pl\[::-1\]`\.$"),
    *(
        ("s2", {"refined": (*sizes, *EUROPE)}, r"refined must be G,L,W,S,E,N: .*in degrees")
        for sizes in ((), (5, 5), (-1, 2), (3, 13), (1.5, 3))
    ),
    ("s2", {"refined": (1, 3, 0, 50, 10, 40)}, "refined must be G,L,W,S,E,N"),
    ("s2", {"refined": (3, 12, -180, -90, 180, 90)}, "refined must .* at most 16,777,216 points"),
    # The metric.
    ("r2", {"eps": 0.1}, "eps must be 1 on r2"),
    ("se2", {"eps": 0.1, "eps_squared": 0.01}, "eps must be left out where `eps_squared` is given"),
    ("se2", {"period": 2}, "period must be one of pi, 2pi"),
    ("s2", {"subdivisions": 1, "laplacian": np.zeros(2)}, "laplacian must be one of normalized"),
    ("so3", {**ONE, "xi": "auto"}, "xi must be left out with one orientation"),
    *(("r3s2", {"axes": axes}, SETS) for axes in (5, "ico7", 12.5, 12.0000001, True)),
    ("r3s2", {"orientations": 12}, "orientations must be .*`axes` says how many"),
    ("se2", {"spacing": (1, 1, 1)}, "spacing must be left out on se2"),
    *(("r3s2", {"spacing": sides}, SIDES) for sides in ((1, 1), (1, 1, 0), (1, 1, 1e4), "1,1,x")),
    ("r3s2", {"mask": VOLUME, "spacing": (1, 1, 2)}, "spacing must be 1.7,1.7,1.7, as of the mask"),
    # Edges and operators.
    ("s2", {**MATCHED, "neighbors": 23}, "neighbors must be at least 24"),
    ("se2", {**SELLING, "drift": 0.03}, "drift must be left out with selling weights"),
    ("s2", {**MATCHED, "neighbors": 24, "drift": "low"}, r"drift must be .*\[0.001, 1\]"),
    ("s2", SELLING, "weights must be kernel or matched or voronoi on s2 with healpix"),
    ("se2", {"points": 99, **SELLING}, "weights must be kernel on se2 with random sampling"),
    (
        "r2",
        {"points": 99, **MATCHED},
        "weights must be kernel or voronoi on r2 .* Got 'matched'",
    ),
    ("r2", {"weights": "voronoi"}, r"weights .* lattice .*`weights='selling'` is the same there"),
    ("so3", {"points": 99, "weights": "voronoi"}, "weights must be kernel or matched on so3"),
    ("s2", {"weights": "voronoi", "lambda_max": 2}, "lambda_max must be 'exact' with the comb"),
    ("se2", {**SELLING, "neighbors": 16}, "neighbors must be left out with selling weights"),
    ("se2", {**SELLING, "kernel": "gaussian"}, "kernel must be left out with selling weights"),
    ("se2", {**SELLING, "xi": "auto"}, "xi must be .* with selling weights"),
    ("se2", {**SELLING, "lambda_max": 2}, "lambda_max must be .*combinatorial"),
    ("se2", {"eigenpairs": 385}, r"eigenpairs .*\[1, 384\], as the coarsest level has 384 vert"),
    ("se2", {"size": 96, "eigenpairs": 1001, "levels": 1}, r"eigenpairs .*an integer in \[1, 1000"),
    ("s2", {"directional": 0.1}, "directional must be left out on s2, which has no orientations"),
    ("r3s2", {"size": 4, "gradients": True}, "gradients must be"),
    ("se2", {"orientations": 2, "gradients": True}, "orientations must be"),
    ("se2", {**ONE, "directional": 0.1}, "directional must be left out with one orientation"),
    # Masks and regions.
    ("r2", {"mask": np.ones(5, bool)}, r"mask .*\(H, W\) on r2\. Got \(5,\)"),
    ("r2", {"size": 8, "mask": SQUARE[:4]}, r"mask .*\(8, 8\).*Got \(4, 8\)\. `size` may be"),
    ("r2", {"mask": np.full((8, 8), NAN)}, "mask .*holds NaN"),
    ("r2", {"mask": ~SQUARE}, r"mask .*Got no point inside\."),
    ("r2", {"mask": "disc.png"}, "mask .*booleans. Got str"),
    ("s2", {"subdivisions": 1, "mask": np.ones(41, bool)}, r"mask .*Got \(41,\)"),
    ("r2", {"mask": np.ma.masked_array(SQUARE, SQUARE)}, "mask .*without masked values; fill them"),
    ("r2", {"mask": EARTH}, "mask .* r2. Got one on latitudes and longitudes"),
    ("s2", {"nside": 2, "mask": EARTH, "mask_order": "ring"}, "mask_order .* of a mask on lat"),
    ("r2", {"mask": SQUARE, "mask_edge": "cut"}, "mask_edge must be pixels with kernel weights"),
    ("r2", {"mask_edge": "cut"}, "mask_edge must be left out unless a `mask` is given"),
    ("s2", {"nside": 1, "mask": np.ones(12, bool), "mask_edge": "cut"}, "mask_edge .*off lattices"),
    ("r2", {"mask": TRIANGLE}, "size must be given"),
    ("r3", {"size": 4, **SELLING, "mask": TRIANGLE, "mask_edge": "cut"}, "mask .*of the plane"),
    ("r2", {"mask": SQUARE, "mask_order": "ring"}, "mask_order must be left out"),
    ("se2", {"region": (0, 0, 1, 1)}, "region .*se2, which is flat"),
    ("s2", {"nside": 2, "region": (1, 1, 1.1, 1.1)}, "region .*one of 48 points"),
]
SIZE = {"r2": 16, "se2": 16, "r3": 8, "r3s2": 8}
"""Sizes that are not given above; of the sphere it is nside 4."""


@pytest.mark.parametrize(("manifold", "fields", "message"), REFUSED)
def test_refusals(manifold: str, fields: dict[str, Any], message: str) -> None:
    given = {"manifold": manifold} | fields
    if fields.keys().isdisjoint({*SIZES, "mask", "sampling"}):
        given = ({"size": SIZE[manifold]} if manifold in SIZE else {"nside": 4}) | given
    with pytest.raises(SpecError, match=f"^{message}") as refused:
        GraphSpec(**given)
    assert message.startswith(refused.value.field)
    assert "\n" not in str(refused.value)


POINTS = {"manifold": "se2", "coordinates": PLANE * [4, 2], "domain": (0, 0, 4, 2), "levels": 1}
MASKED = {"manifold": "r2", "mask": np.eye(8), "levels": 1}


@pytest.mark.parametrize(
    ("fields", "field", "changed"),
    [
        *((MASKED, "mask", {"inside": inside}) for inside in ([4, 1], [0], [True], [65], "4")),
        *((MASKED, "mask", {"sha256": digest}) for digest in ("0" * 63, "g" * 64, 7)),
        *((POINTS, "coordinates", {"points": n}) for n in ([], [1], [90.0], [90, 90], "90")),
        *((POINTS, "coordinates", {"extent": e}) for e in (None, [1.0], [1.0, 0.0], [1, 1])),
        *((POINTS, "coordinates", more) for more in ({"sha256": 7}, {"areas": "equal"})),
        *((MASKED, "mask", {"more": 1}), (POINTS, "coordinates", {"more": 1})),
    ],
)
def test_records_of_another_form(fields: dict, field: str, changed: dict[str, object]) -> None:
    recorded = GraphSpec(**fields).to_dict()
    assert GraphSpec.from_dict(recorded) == GraphSpec(**fields)
    for other in (recorded[field] | changed, {}):
        with pytest.raises(SpecError, match=f"^{field} must be "):
            GraphSpec.from_dict(recorded | {field: other})


def test_unknown_arguments_are_named_with_the_nearest() -> None:
    meant = {"neighbours": "neighbors", "eps_sq": "eps_squared", "eps_sqared": "eps_squared"}
    for name, nearest in meant.items():
        with pytest.raises(TypeError, match=rf"no argument '{name}'; did you mean {nearest}\?$"):
            GraphSpec("se2", 96, **{name: 1})
