"""Specifications as stores and checkpoints tell them: read without a point of any sampling."""

import contextlib
import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from many_specs import MANY_SPECS
from refusing import refused

from cheblienet_graphs import GraphSpec, MapSpec, SpecError
from cheblienet_graphs.samplings import SAMPLINGS, icosphere
from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set
from cheblienet_graphs.spec.map_spec import POINTS

COMPUTED = ("coordinates", "base_points", "base_areas", "base_coordinates", "angles", "mesh")
DIGEST = "0" * 64
GIVEN = {"areas": "voronoi", "points": [2**31 - 1], "sha256": DIGEST}
REGION = [-10.0, 35.0, 30.0, 60.0]
LARGEST: list[dict[str, Any]] = [
    {"manifold": "r2", "size": [65536, 65536]},
    {"manifold": "r3", "size": [2048, 2048, 2048]},
    {"manifold": "r2", "sampling": "random", "points": 2**31 - 1},
    {"manifold": "r2", "coordinates": GIVEN | {"extent": [1.0, 1.0]}},
    {"manifold": "s2", "subdivisions": 9},
    {"manifold": "s2", "refined": [0, 12, -180, 0, 180, 10]},
    {"manifold": "s2", "refined": [9, 12, *REGION]},
    {"manifold": "s2", "nside": 8192},
    {"manifold": "s2", "bandlimit": 16384},
    {"manifold": "s2", "gaussian": "O8192"},
    {"manifold": "s2", "pl": [65536] * 16384},
    {"manifold": "s2", "points": 2**31 - 1},
    {"manifold": "s2", "coordinates": GIVEN},
]
HUGE: list[Any] = [
    *(0, -1, 2**31 - 1, 2**63, 10**400, 1e308, True, "9" * 999, "65536x65536", "O8192"),
    *([], [2**31 - 1], [65536] * 2, [65536] * 16384, [0, 12, *REGION], REGION, [[1, 0], [0, 1]]),
    *({}, GIVEN, {"inside": [2**31 - 1], "sha256": DIGEST}, "ico81", "healpix", "random"),
]


@pytest.fixture
def nothing_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """See that no sampling computes a point, or what belongs to one."""

    def sampled(*_: object) -> None:
        raise AssertionError("points were sampled")

    for name in AXIS_SETS:  # of at most 81 axes, once
        axis_set(name)
    for base in {base for kind in SAMPLINGS.values() for base in kind.__mro__}:
        for name in vars(base).keys() & {*COMPUTED}:
            monkeypatch.setattr(base, name, property(sampled))
    monkeypatch.setattr(icosphere, "refined_points", sampled)
    monkeypatch.setattr(icosphere, "subdivided", sampled)


def read(kind: type[GraphSpec | MapSpec], values: dict[str, Any]) -> Any:
    """The specification, and what facts, lists and names ask of it."""
    spec = kind.from_dict(values)
    sides = spec.sides.values() if isinstance(spec, MapSpec) else [spec]
    for side in sides:
        grids = [side.grid(level) for level in range(side.levels)]
        assert len(side.vertices) == len(grids)
        assert side.squared_spacing(0) > 0
        assert side.schema
    assert repr(spec)
    assert spec.default_name
    assert len(spec.sha256) == 64
    return spec


@pytest.mark.usefixtures("nothing_sampled")
@pytest.mark.parametrize("values", LARGEST, ids=lambda v: f"{list(v)[-1]}-{str(v)[-20:]}")
def test_the_largest_are_read_without_a_point(values: dict[str, Any]) -> None:
    spec = read(GraphSpec, values | {"levels": 1})
    masked = {"mask": {"inside": [2], "sha256": DIGEST}, "levels": 1}
    read(GraphSpec, values | masked | {"gradients": True})
    read(MapSpec, {"source": spec.to_dict(), "target": values | masked, "neighbors": 1})
    if spec.manifold == "s2":
        assert read(GraphSpec, values | masked | {"region": REGION}).region == (*REGION,)
        side, message = values | {"region": REGION}, "^mask must be given with a region"
        refused(message, GraphSpec.from_dict, side)
        sides = {"source": spec.to_dict(), "target": side, "neighbors": 1}
        refused(message, MapSpec.from_dict, sides)
    pixels = [[1, 0], [0, 1]]
    refused("^mask must be as `to_dict", GraphSpec.from_dict, values | {"mask": pixels})


@pytest.mark.usefixtures("nothing_sampled")
@pytest.mark.parametrize("field", [field.name for field in fields(GraphSpec)])
def test_no_value_of_a_field_makes_points(field: str) -> None:
    """Whatever the other fields are, it is refused or read."""
    calls: list[Callable[[], object]] = []
    for _, spec in MANY_SPECS:
        values = spec.to_dict()
        for huge in HUGE:
            changed = values | {field: huge}
            calls.append(functools.partial(read, GraphSpec, changed))
            if field in POINTS:
                side = {"source": values, "target": changed, "neighbors": 1}
                calls.append(functools.partial(read, MapSpec, side))
    for call in calls:
        with contextlib.suppress(SpecError, TypeError):
            call()


def test_points_given_as_a_list_are_none_that_were_recorded() -> None:
    values = {"manifold": "s2", "coordinates": [[0.0, 1.0], [2.0, 3.0]], "weights": "voronoi"}
    refused("^coordinates must be as `to_dict", GraphSpec.from_dict, values)
