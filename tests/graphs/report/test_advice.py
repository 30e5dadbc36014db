"""Advice can be followed: a graph of the same kind has what it names, and is another graph."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from many_specs import MANY_SPECS

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.errors import Remedy
from cheblienet_graphs.limits import AXES
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.page.provenance import changed_fields, typed_fields
from cheblienet_graphs.report.moments import EffectiveMetric
from cheblienet_graphs.report.text import connections
from cheblienet_graphs.report.verdict import faults, remedy

CELLS: dict[str, Any] = {"weights": "voronoi", "levels": 1}
SMALLER = {"unlinked", "components, fiber"}
"""Kinds whose parameter should be smaller."""
UNLINKED = EffectiveMetric(0, 1.0, None, 0.0, 2.0, 0.0, squared_reach=1.0)


Change = tuple[str, tuple[Remedy, ...]]
"""A kind of finding, or "advice", and the parameters it names: all of them with "together"."""


def advice(spec: GraphSpec) -> Iterator[Change]:
    """All advice on a graph that nothing is right with."""
    level = cast("Any", SimpleNamespace(level=0, isolated=1, components=3))
    if found := remedy(spec):
        yield ("together" if " with " in found.parts else "advice"), tuple(found.remedies)
    known = [*connections(spec, level), *faults(spec, Metric(spec.eps, 0.3), [UNLINKED])]
    yield from ((finding.kind, finding.remedies) for finding in known)


def advised(spec: GraphSpec, kind: str, remedies: tuple[Remedy, ...]) -> Iterator[dict[str, Any]]:
    """The fields that each of them changes."""
    if kind == "together":
        yield {named.field: named.value for named in remedies}
        return
    for field, value in ((named.field, named.value) for named in remedies):
        if value is not None:
            yield {field: value}
            continue
        now = getattr(spec, field)
        assert now is not None, f"{spec.manifold} has no {field}: {kind}"
        if field == "axes":
            yield {field: max(AXES, key=AXES.__getitem__)}
        elif field == "gaussian":
            yield {field: f"{now[0]}{2 * int(now[1:])}"}
        elif field == "subdivisions":
            yield {field: now + 1}
        else:
            yield {field: now / 2 if kind in SMALLER else now * 2}


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
        for kind, remedies in advice(spec):
            if "coordinates" in given:  # nobody is asked for more points of their own
                assert not {"points", "coordinates"} & {named.field for named in remedies}
            for change in advised(spec, kind, remedies):
                count += 1
                assert follows(spec, change) != spec, (kind, change)
    assert count > 40


def test_more_neighbors_than_there_are_are_not_advised() -> None:
    for subdivisions in (0, 1):
        spec = GraphSpec("so3", subdivisions=subdivisions, orientations=2, neighbors=5)
        found = remedy(spec)
        assert found is not None
        assert (" with " in found.parts) == (subdivisions > 0)


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
    assert remedy(spec) is None


@pytest.mark.parametrize("finest", [2, 4])
def test_points_that_are_refined_in_a_region_alone_are_too_coarse(
    finest: int, report_on: Callable
) -> None:
    spec = GraphSpec("s2", refined=(0, finest, -10, 35, 30, 60), **CELLS)
    assert report_on(spec).levels[0].consistency == "too coarse"
