"""Text that a build prints on the graphs that it made and on their checks."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from cheblienet_graphs.assembly.checks import LevelCheck
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.report.sentences import lines, sentence
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fields import halvable

LARGE_CELL = 10.0
"""Areas of given points, in units of their mean, from which their Voronoi cells cover a void."""
UNMEASURED = {"small lattice", "all at the edge"}
"""Kinds of findings that second moments could be compared nowhere."""
HARMLESS = {"one component", "not counted"}
"""Kinds of findings that need no action."""


def to_json(spec: GraphSpec, check: LevelCheck) -> dict[str, Any]:
    """A check as JSON types, its findings in words.

    Args:
        spec: of the build.
        check: of a level.
    """
    fields = asdict(check)
    del fields["finding"], fields["steep"]
    steep = {} if check.steep is None else {"steep": sentence(check.steep, spec)}
    return fields | {"moments": sentence(check.finding, spec)} | steep


def sentences(spec: GraphSpec, checks: Sequence[LevelCheck]) -> list[str]:
    """A line for each fact, with the levels where it holds.

    Args:
        spec: of the build.
        checks: of its levels.
    """
    findings = [f for level in checks for f in (level.finding, *_others(spec, level))]
    return lines(findings, [level.level for level in checks], spec) + _one_level(spec)


def summary(spec: GraphSpec, checks: Sequence[LevelCheck]) -> list[str]:
    """A line on the fidelity of the weights, and one for each fact that may spoil the graph.

    Args:
        spec: of the build.
        checks: of its levels.
    """
    every = [level.level for level in checks]
    others = [finding for level in checks for finding in _others(spec, level)]
    spoiling = lines((f for f in others if f.kind not in HARMLESS), every, spec)
    moments = [level.finding for level in checks]
    measured = [finding for finding in moments if finding.kind not in UNMEASURED]
    return [*lines(measured or moments, every, spec), *spoiling, *_one_level(spec)]


def _one_level(spec: GraphSpec) -> list[str]:
    """Why a lattice has no further level, and what to do; empty where it could have none."""
    size = spec.level_size(0)
    if spec.levels > 1 or not isinstance(size, tuple) or not spec.sampling_kind.regular:
        return []
    if (others := halvable(size)) is None:
        return []
    padded, cropped = others
    why = (
        f"1 level, as half of {'x'.join(map(str, size))} is not whole: pad images to {padded}, as "
        f"networks do with pad=True, or crop them to {cropped}"
    )
    return [why]


def _others(spec: GraphSpec, level: LevelCheck) -> Iterator[Finding]:
    """The facts besides second moments."""
    at = (level.level,)
    if level.isolated:
        yield Finding("isolated", at, {"count": level.isolated})
    if level.components is None and level.least_components > 1:
        yield Finding("at least", at, {"count": level.least_components})
    elif level.components is None:
        yield Finding("not counted", at)
    elif level.components > 1:
        yield Finding("components", at, {"count": level.components})
    else:
        yield Finding("one component", at)
    if level.steep is not None:
        yield level.steep
    if level.largest_cell is not None and level.largest_cell > LARGE_CELL:
        kind = "large cells, xi" if spec.geometry.oriented else "large cells"
        yield Finding(kind, at, {"times": level.largest_cell})
