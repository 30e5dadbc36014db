"""Advice can be followed: a graph of the same kind has what it names, and is another graph."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from many_specs import MANY_SPECS

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import AXES
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.measure.faults import CLOSE, faults
from cheblienet_graphs.measure.moments import EffectiveMetric
from cheblienet_graphs.measure.verdict import advice
from cheblienet_graphs.page.provenance import changed_fields, typed_fields
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.sentences import sentence
from cheblienet_graphs.report.text import connections

KERNELS = ("gaussian", "laplace", "cauchy", "rectangular")
WEIGHTS = ("kernel", "kernel", "kernel", "matched", "selling", "voronoi")
ON_THE_SPHERE: list[Callable] = [
    lambda rng: {"subdivisions": int(rng.integers(2, 4))},
    lambda rng: {"nside": int(2 ** rng.integers(2, 4))},
    lambda rng: {"bandlimit": int(rng.integers(5, 12))},
    lambda rng: {"gaussian": f"{rng.choice(['O', 'F'])}{rng.integers(5, 12)}"},
]
SIZES: dict[str, list[Callable]] = {
    "r2": [lambda rng: {"size": tuple(map(int, rng.integers(12, 40, 2)))}],
    "se2": [lambda rng: {"size": int(rng.integers(12, 24))}],
    "r3": [lambda rng: {"size": int(rng.integers(7, 12))}],
    "r3s2": [lambda rng: {"size": int(rng.integers(5, 9))}],
    "s2": ON_THE_SPHERE,
    "so3": ON_THE_SPHERE,
}
"""Manifold -> sizes of its samplings, drawn."""
for irregular in ("r2", "se2", "s2", "so3"):
    SIZES[irregular] = [
        *SIZES[irregular],
        lambda rng: {"sampling": "random", "points": int(rng.integers(200, 700))},
    ]
CELLS: dict[str, Any] = {"weights": "voronoi", "levels": 1}
UNLINKED = EffectiveMetric(0, 1.0, None, 0.0, 2.0, 0.0, squared_reach=1.0)


def advised(spec: GraphSpec) -> Iterator[dict[str, Any]]:
    """The fields that each change changes; then those that sentences on causes name."""
    if found := advice(spec):
        yield from map(dict, found.changes)
        if found.more is not None:
            yield {found.more: changed(spec, found.more, larger=True)}
    level = cast("Any", SimpleNamespace(level=0, isolated=1, components=3))
    known = [*connections(spec, level), *faults(spec, Metric(spec.eps, 0.3), [UNLINKED])]
    for finding in known:
        for more, field in re.findall(r"(more|a smaller) `(\w+)`", sentence(finding, spec)):
            yield {field: changed(spec, field, larger=more == "more")}


def changed(spec: GraphSpec, field: str, *, larger: bool) -> Any:
    """A larger or smaller value of a field."""
    now = getattr(spec, field)
    assert now is not None, f"{spec.manifold} has no {field}"
    if field == "axes":
        return max(AXES, key=AXES.__getitem__)
    if field == "gaussian":
        return f"{now[0]}{2 * int(now[1:])}"
    if field == "subdivisions":
        return now + 1
    return now * 2 if larger else now / 2


def follows(spec: GraphSpec, change: dict[str, Any]) -> GraphSpec:
    """The specification of whoever follows advice."""
    if spec.sampling_kind.field in change:  # a mask is another one on other points
        fields = typed_fields(spec)
        fields.pop("mask", None)
        return GraphSpec(**fields | change)
    fields = changed_fields(spec, change)
    assert fields is not None, (spec, change)
    if spec.mask is not None:
        fields["mask"] = spec.mask.to_dict()
    return GraphSpec(**fields)


def test_all_advice_can_be_followed() -> None:
    count = 0
    for given, made in MANY_SPECS:
        spec = made.recorded()
        for change in advised(spec):
            if "coordinates" in given:  # nobody is asked for more points of their own
                assert not {"points", "coordinates"} & change.keys()
            count += 1
            assert follows(spec, change) != spec, change
    assert count > 40


def test_more_neighbors_than_there_are_are_not_advised() -> None:
    few, many = (
        GraphSpec("so3", subdivisions=subdivisions, orientations=3, neighbors=5)
        for subdivisions in (0, 1)
    )
    assert advice(few) is None
    assert str(advice(many)) == "use `weights='matched'` with `neighbors=48`"


@pytest.mark.parametrize("count", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_a_value_that_is_advised_helps(count: int, report_on: Callable) -> None:
    """Followed alone, unless values go together: the measurements of another graph tell."""
    drawn, followed = 0, 0
    for spec in random_specs(np.random.default_rng(count)):
        try:
            before = report_on(spec).levels[0]
        except SpecError:  # there are no such weights
            continue
        found = before.finding.advice
        for change in found.changes if found else ():
            after = report_on(follows(spec.recorded(), dict(change))).levels[0]
            assert helped(before, after), (spec, change, before.verdict, after.verdict)
            followed += 1
        drawn += 1
        if drawn == count:
            break
    assert followed > count / 3


def test_an_xi_that_is_solved_for_suits_no_matched_weights_for_sure() -> None:
    sizes: dict[str, Any] = {"nside": 4, "orientations": 6}
    solved, known = GraphSpec("so3", **sizes, xi="auto"), GraphSpec("so3", **sizes)
    assert str(advice(solved)) == "more `neighbors` may help"
    assert str(advice(known)) == "use `weights='matched'` with `neighbors=48`"


def helped(before: LevelReport, after: LevelReport) -> bool:
    """Whether the verdict is better, or what it was of: moments, or else eigenvalues."""
    off = {"inconsistent", "kernel weights"}
    if not {before.consistency, after.consistency} <= off:
        return after.consistency not in off
    deviation, then = (max(m.deviation for m in r.effective_metric) for r in (before, after))
    if deviation > CLOSE:
        return then < CLOSE
    errors = before.spectral_error, after.spectral_error
    return None not in errors and errors[1] < errors[0]


def random_specs(rng: np.random.Generator) -> Iterator[GraphSpec]:
    """Specifications of small graphs on every manifold and sampling, with any weights there are."""
    while True:
        manifold = str(rng.choice([*SIZES]))
        size = SIZES[manifold][rng.integers(len(SIZES[manifold]))](rng)
        given: dict[str, Any] = size | {"levels": 1, "weights": str(rng.choice(WEIGHTS))}
        if manifold in {"se2", "so3"}:
            given["orientations"] = int(rng.integers(1, 9))
            given["period"] = str(rng.choice(["pi", "pi", "2pi"]))
        if manifold in {"se2", "so3", "r3s2"}:
            given["eps"] = float(np.exp(rng.uniform(np.log(0.1), 0)))
        if manifold == "r3s2":
            given["axes"] = str(rng.choice(["6", "7", "12"]))
        if given["weights"] == "kernel":
            given["kernel"] = str(rng.choice(KERNELS))
            given["bandwidth"] = float(np.exp(rng.uniform(-2.5, 1)))
            given |= {"neighbors": int(rng.integers(6, 40))} if rng.random() < 0.5 else {}
        for field, value in (("laplacian", "normalized"), ("xi", "auto"), ("boundary", "periodic")):
            given |= {field: value} if rng.random() < 0.2 else {}
        with suppress(SpecError):  # some do not go together
            yield GraphSpec(manifold, **given)


def test_normalized_voronoi_graphs_are_told_what_helps_them(report_on: Callable) -> None:
    off = report_on(GraphSpec("s2", gaussian="O8", **CELLS, laplacian="normalized")).levels[0]
    assert off.spectral_error > 0.3
    assert off.verdict.endswith(": use `laplacian='combinatorial'`")
    mended = report_on(GraphSpec("s2", gaussian="O8", **CELLS)).levels[0]
    assert mended.consistency == "consistent"
    assert mended.spectral_error < 0.02


@pytest.mark.parametrize("field", [{"subdivisions": 2}, {"nside": 2}, {"points": 60}])
def test_matched_graphs_are_not_told_to_take_more_neighbors(field: dict[str, Any]) -> None:
    spec = GraphSpec("so3", orientations=6, weights="matched", neighbors=24, levels=1, **field)
    assert advice(spec) is None


@pytest.mark.parametrize("finest", [2, 4])
def test_points_that_are_refined_in_a_region_alone_are_too_coarse(
    finest: int, report_on: Callable
) -> None:
    spec = GraphSpec("s2", refined=(0, finest, -10, 35, 30, 60), **CELLS)
    assert report_on(spec).levels[0].consistency == "too coarse"
