"""Advice can be followed: a graph of the same kind has what it names, and is another graph."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from many_specs import many_specs

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.limits import AXES
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.page.advice import changed_fields
from cheblienet_graphs.page.again import least_fields
from cheblienet_graphs.report.diagnostics import EffectiveMetric
from cheblienet_graphs.report.order import order_of
from cheblienet_graphs.report.remarks import on_connections
from cheblienet_graphs.report.remedies import remedy
from cheblienet_graphs.report.second_moments import faults
from cheblienet_graphs.report.training import on_training

DIRECTED = re.compile(r"(more|smaller|larger) `(\w+)`")
GIVEN = re.compile(r"`(\w+)=([^`]*)`(?: with `(\w+)=([^`]*)`)?")
UNLINKED = EffectiveMetric(0, 1.0, None, 0.0, 2.0, 0.0, squared_reach=1.0)


def texts(spec: GraphSpec) -> Iterator[str]:
    """All advice on a graph that nothing is right with."""
    yield remedy(spec, cast("Any", SimpleNamespace(manifold=spec.geometry)), try_larger=False)
    yield from faults(spec, Metric(spec.eps, 0.3), [UNLINKED])
    yield from on_connections(
        spec, cast("Any", [SimpleNamespace(level=0, isolated=1, components=3)])
    )
    yield from on_training(spec)
    yield order_of(spec) or ""


def advised(spec: GraphSpec, text: str) -> Iterator[dict[str, Any]]:
    """The fields that each piece of advice changes."""
    for field, value, other, its in GIVEN.findall(text):
        yield {field: value.strip("'")} | ({other: its} if other else {})
    for direction, field in DIRECTED.findall(text):
        now = getattr(spec, field)
        assert now is not None, f"{spec.manifold} has no {field}: {text}"
        if field == "axes":
            yield {field: max(AXES, key=AXES.__getitem__)}
        elif field == "gaussian":
            yield {field: f"{now[0]}{2 * int(now[1:])}"}
        elif field == "subdivisions":
            yield {field: now + 1}
        else:
            yield {field: now / 2 if direction == "smaller" else now * 2}


def follows(spec: GraphSpec, change: dict[str, Any]) -> GraphSpec:
    """The specification of whoever follows advice."""
    if spec.sampling_kind.field in change:  # a mask is another one on other points
        fields = least_fields(spec)
        fields.pop("mask", None)
        return GraphSpec(**fields | change)
    fields = changed_fields(spec, change)
    assert fields is not None, (spec, change)
    if spec.mask is not None:
        fields["mask"] = spec.mask.to_dict()
    return GraphSpec(**fields)


def test_all_advice_can_be_followed() -> None:
    count = 0
    for _, given in many_specs(200, seed=2):
        spec = given.recorded()
        for text in texts(spec):
            for change in advised(spec, text):
                count += 1
                assert follows(spec, change) != spec, (text, change)
    assert count > 200


@pytest.mark.parametrize("weights", ["kernel", "matched", "selling"])
@pytest.mark.parametrize("manifold", ["se2", "r3s2"])
def test_weights_are_not_advised_to_be_what_they_are(manifold: str, weights: str) -> None:
    spec = GraphSpec(manifold, 16, weights=weights, xi=1, levels=1)
    assert f"'{weights}'" not in "".join(texts(spec))


def test_nobody_is_told_to_have_more_points_of_their_own() -> None:
    for given, spec in many_specs(100, seed=3):
        if "coordinates" in given:
            assert not re.search(r"points`|more points|`coordinates", "".join(texts(spec)))


def test_what_no_grid_mends_is_said_of_the_fibre(tmp_path: Path) -> None:
    """xi = 1 on every grid: the first waves are those over the orientations, four or twelve."""
    chosen = {"xi": 1, "weights": "selling", "boundary": "periodic", "levels": 1}
    few = GraphSpec("se2", 24, orientations=4, **chosen)
    build(few, tmp_path / "g", name="few")
    [level] = inspect(tmp_path / "g", "few").levels
    assert level.consistency == "too coarse"
    assert level.verdict.startswith("too few orientations for its first eigenvalues, up to 22 %")
    [change] = advised(few, level.verdict)
    assert change == {"orientations": 8}
    build(follows(few, change), tmp_path / "g", name="more")
    [level] = inspect(tmp_path / "g", "more").levels
    assert level.consistency == "consistent"


def test_axes_that_are_too_few_are_said_to_be(tmp_path: Path) -> None:
    chosen = {"xi": 1, "weights": "selling", "boundary": "periodic", "levels": 1}
    build(GraphSpec("r3s2", 8, axes=4, **chosen), tmp_path / "g")
    [level] = inspect(tmp_path / "g").levels
    assert level.verdict == (
        "not consistent with its metric: first eigenvalues are up to 71 % off; second moments "
        "exact: more `axes` may help"
    )
