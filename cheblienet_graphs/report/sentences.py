"""Findings as sentences: a template for each kind, filled with numbers and with phrases.

A field of a template is a number of the finding, or a key of `PHRASES`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.spec import GraphSpec, fibers, words

EXACT = 1e-4
"""Relative deviation of second moments that storing weights in float32 may cause."""
FIELD = re.compile(r"{(\w+)(?::([^}]*))?}")
"""A field of a template with its format."""
WHOLE = {
    "not compared",
    "consistent",
    "coarse lattice",
    "coarse spectrum",
    "coarse spectrum, fiber",
    "coarse fiber",
    "moments",
}
"""Kinds with so many numbers that one level's stand for all."""
ADVISED = {
    "kernel weights": "; right for training (docs/how-to/choose.md), for diffusion and spectra "
}
"""By kind, the text before advice, where it is not a colon."""

Numbers = Mapping[str, float]

APART = "has {count:,} components; no signal passes between them"
LARGE_CELLS = (
    "Voronoi cells up to {times:,.0f} times their mean, as at ends of a part; give areas{or_region}"
)
STEEP = (
    "gradients amplify noise {times:.3g} times a difference of neighbors, at {count:,} vertices, "
    "as at {where}"
)
COARSE_SPECTRUM = (
    "for its first eigenvalues, up to {error:percent} off: their waves are down to {waves:.2g} "
    "edges long; second moments {close}"
)

TEMPLATES = {
    # verdicts
    "inconsistent": "not consistent with its metric",
    "not measured": "not compared with its metric: no point has all its neighbors inside the mask",
    "not compared": ("second moments consistent with its metric: {close}; spectrum not compared"),
    "kernel weights": "the paper's kernel weights",
    "consistent": (
        "consistent with its metric: second moments {close}, first {count} eigenvalues within "
        "{error:percent}{others}"
    ),
    "coarse fiber": (
        "too few {fibers} for its metric: {samples} carry too few functions along the fiber"
        "{off}; second moments {close}"
    ),
    "coarse lattice": "too coarse for its metric: its edges reach {ends}",
    "coarse spectrum": "too coarse " + COARSE_SPECTRUM,
    "coarse spectrum, fiber": "too few {fibers} " + COARSE_SPECTRUM,
    # reasons why no eigenvalues are compared
    "unknown on parts": "none is known exactly on a part of the domain",
    "unknown with open sides": "none is known exactly with an open boundary",
    "no eigenvalues": "no eigenvalues were computed",
    "not converged": "the eigenvalues did not converge",
    "copies missing": "copies of eigenvalues may be missing",
    # second moments, as a build looks at them
    "small lattice": "second moments not measured: stencils are as wide as the lattice",
    "all at the edge": "second moments not measured: the edge of the mask affects all points",
    "moments": "second moments consistent with the metric: {close}",
    "no moments": "second moments not consistent with the metric{some}",
    # causes
    "apart": "has {count:,} components",
    "one orientation": "has one orientation, so there are no edges along the fiber",
    "unlinked": (
        "{fibers} are not connected: no edge leads from one to another (a smaller {scaled_by} "
        "connects them)"
    ),
    "nothing forward": "at some {fibers} there is no neighbor in the forward direction",
    "eps": "eps^2 realized {realized}, asked {asked:.4g}",
    "xi": "xi^2 realized {realized} times the one asked for",
    "mixed": "second moments mix directions by {share:percent}",
    "single points": "second moments of single points are up to {share:percent} off",
    "areas": (
        "given areas are not in proportion to Voronoi cells (over them, a tenth is below "
        "{low:.2g} and a tenth above {high:.2g} times the median); leave them out, and areas are "
        "those of the cells"
    ),
    "levels off": "eigenvalues stay off, however many points there are",
    "eigenvalues": "first {count} eigenvalues are up to {error:percent} off",
    "close": "second moments {close}",
    # remarks
    "one component": "one component",
    "components": APART,
    "components, neighbors": APART + "; more `neighbors` may connect them",
    "components, fiber": (
        APART + "; a smaller {scaled_by} connects {fibers}, a larger one connects points"
    ),
    "components, mask": APART + "; the region inside the mask may have as many parts",
    "not counted": "components not counted; `clg inspect` counts them",
    "at least": "has at least {count:,} components; `clg inspect` counts them",
    "isolated": "vertices without neighbors: {count:,}",
    "in plane": (
        "in-plane fraction {share:.3f}, asked for {asked:g}: the closest that any xi reaches with "
        "these points and neighbors"
    ),
    "in plane, mask": (
        "in-plane fraction {share:.3f}, asked for {asked:g}: xi is solved for on the whole "
        "sampling, not on the edges inside"
    ),
    "more neighbors": "up to {count:.0f} neighbors, more than K = {most}, to match the metric",
    "dropped": "{count:,} edges left out, as their matched weight is 0",
    "dense": "{zeros:places} zeros, below the paper's rule of thumb",
    "approximate": "the eigenvalues are approximate: the solver did not converge",
    "copies": "eigenvalues from Lanczos recursions: multiplicities may be larger",
    "large cells": LARGE_CELLS,
    "large cells, xi": LARGE_CELLS + ", and `xi` for their own spacing",
    "steep": STEEP,
    "steep, edge": STEEP + "; a larger {inside} gives vertices neighbors on all sides",
    "steep, poles": STEEP + "; `sampling='healpix'` and `sampling='icosahedral'` have no poles",
    "steep, points": STEEP + "; leave out points that are close to others",
}
"""Sentences by kind."""

FORMATS: Mapping[str, Callable[[float], str]] = {
    "percent": words.percent,
    "places": words.two_places,
}
"""Formats of shares in templates."""


def sentence(finding: Finding, spec: GraphSpec) -> str:
    """The template of a finding, filled, then its causes, then advice.

    Args:
        finding: on a graph.
        spec: of its build.
    """
    return _sentence([finding], spec)


def lines(findings: Iterable[Finding], every: Sequence[int], spec: GraphSpec) -> list[str]:
    """A line for each kind of finding, with the levels where it holds.

    Args:
        findings: level by level, each of one level.
        every: numbers of all levels of the report.
        spec: of the build.
    """
    alike: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        alike.setdefault(_shape(finding), []).append(finding)
    return [_line(same, every, spec) for same in alike.values()]


def levels_in_words(numbers: Sequence[int]) -> str:
    """'level 2', or 'levels 0, 1 and 3'."""
    return f"level{'s' if len(numbers) > 1 else ''} {listed(map(str, numbers))}"


def listed(names: Iterable[str]) -> str:
    """'a, b and c'."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _shape(finding: Finding) -> tuple[Any, ...]:
    """A key that is equal for findings that differ in levels and numbers alone."""
    named: tuple[Any, ...] = ()
    if finding.advice:
        named = finding.advice.more, *(tuple(change) for change in finding.advice.changes)
    return finding.kind, *finding.numbers, *named, *map(_shape, finding.causes)


def _line(alike: Sequence[Finding], every: Sequence[int], spec: GraphSpec) -> str:
    """The numbers of each level; of a finding with causes or advice the first level's."""
    first = alike[0]
    levels = [level for finding in alike for level in finding.levels]
    title = "all levels" if len(every) > 1 and levels == [*every] else levels_in_words(levels)
    if first.kind == "kernel weights":
        return f"{title}: {sentence(_over_levels(alike), spec)}"
    if first.causes or first.advice or first.kind in WHOLE:
        sentences = [sentence(finding, spec) for finding in alike]
        differ = f" (numbers of level {levels[0]})" if len(set(sentences)) > 1 else ""
        return f"{title}: {sentences[0]}{differ}"
    return f"{title}: {_sentence(alike, spec)}"


def _over_levels(alike: Sequence[Finding]) -> Finding:
    """A finding like all of these, with numbers of causes from the least to the largest."""
    causes = []
    for same in zip(*(finding.causes for finding in alike), strict=True):
        numbers = {
            name: (min if name == "low" else max)(cause.numbers[name] for cause in same)
            for name in same[0].numbers
        }
        causes.append(replace(same[0], numbers=numbers))
    return replace(alike[0], causes=tuple(causes))


def _sentence(alike: Sequence[Finding], spec: GraphSpec) -> str:
    """The sentence of a finding that holds on several levels."""
    first = alike[0]
    parts = [FIELD.sub(partial(_filled, alike, spec), TEMPLATES[first.kind])]
    if first.causes:
        parts.append("; ".join(sentence(cause, spec) for cause in first.causes))
    before = ADVISED.get(first.kind, ": ") if first.advice else ""
    return f"{': '.join(parts)}{before}{first.advice or ''}"


def _filled(alike: Sequence[Finding], spec: GraphSpec, field: re.Match[str]) -> str:
    """A field of a template: one text where it is the same on all levels."""
    texts = [_text(finding, spec, *field.groups("")) for finding in alike]
    return texts[0] if len(set(texts)) == 1 else listed(texts)


def _text(finding: Finding, spec: GraphSpec, name: str, written: str) -> str:
    """A number, or a phrase, which may be a template itself."""
    if name in PHRASES:
        phrase = PHRASES[name](spec, finding.numbers)
        return FIELD.sub(partial(_filled, [finding], spec), phrase)
    number = finding.numbers[name]
    return FORMATS[written](number) if written in FORMATS else format(number, written)


def _close(spec: GraphSpec, numbers: Numbers) -> str:
    """The deviation of second moments, and where it is measured."""
    off = numbers["deviation"]
    close = "exact" if off < EXACT else f"within {words.percent(off)}"
    unit = Metric(spec.eps, 1.0)
    if spec.weighting.expected(spec, unit) != unit:
        close += " (fiber edges made for its first mode)"
    if not spec.sampling_kind.regular and not spec.weighting.pointwise(spec):
        close += " on average"
    return close + _some(spec, numbers)


def _some(_: GraphSpec, numbers: Numbers) -> str:
    return ", looking at some points" if "looked_at" in numbers else ""


def _others(_: GraphSpec, numbers: Numbers) -> str:
    """The eigenvalues that are exact by construction, and the errors of further ones."""
    made = " ({first} to {last} are exact by construction)" if "first" in numbers else ""
    more = ", first {further} within {further_error:percent}" if "further" in numbers else ""
    return made + more


def _off(_: GraphSpec, numbers: Numbers) -> str:
    """The errors of eigenvalues, where these were compared."""
    return f", {TEMPLATES['eigenvalues']}" if "count" in numbers else ""


def _where(spec: GraphSpec, numbers: Numbers) -> str:
    """The coordinates of a vertex."""
    return ", ".join(f"{column} = {numbers[column]:.4g}" for column in spec.geometry.columns)


def _ends(spec: GraphSpec, _: Numbers) -> str:
    return "around the torus" if spec.boundary == "periodic" else "from its middle to the boundary"


PHRASES: Mapping[str, Callable[[GraphSpec, Numbers], str]] = {
    "close": _close,
    "some": _some,
    "others": _others,
    "off": _off,
    "where": _where,
    "ends": _ends,
    "realized": lambda _, numbers: words.span((numbers["low"], numbers["high"])),
    "fibers": lambda spec, _: fibers.sample_nouns(spec),
    "scaled_by": lambda spec, _: f"`{fibers.scaled_by(spec)}`",
    "inside": lambda spec, _: "`mask`" if spec.region is None else "`region`",
    "or_region": lambda spec, _: "" if spec.geometry.base.flat else " or a region",
}
"""Words that follow from the specification, by the field of a template."""
