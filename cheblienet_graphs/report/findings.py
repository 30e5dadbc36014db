"""Findings: what is known of a graph as data, put into words by templates, and only here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cheblienet_graphs.errors import Remedy, Spell, Words

IN_PLANE = "in-plane fraction {share:.3f}, asked for {asked:g}: "
APART = "has {count:,} components; no signal passes between them"
LARGE_CELLS = (
    "Voronoi cells up to {times:,.0f} times their mean, as at ends of a part; give areas{more}"
)
STEEP = (
    "gradients amplify noise {times:.3g} times a difference of neighbors, at {count:,} vertices, "
    "as at {where}"
)

TEMPLATES = {
    # verdicts
    "inconsistent": "not consistent with its metric",
    "not measured": "not compared with its metric: no point has all its neighbors inside the mask",
    "not compared": (
        "second moments consistent with its metric: {close}; spectrum not compared: {why}"
    ),
    "consistent": (
        "consistent with its metric: second moments {close}, first {count} eigenvalues within "
        "{error}{made}{further}"
    ),
    "coarse fiber": (
        "too few {fibers} for its metric: {count} carry too few functions along the fiber{off}; "
        "second moments {close}"
    ),
    "coarse lattice": "too coarse for its metric: its edges reach {ends}",
    "coarse spectrum": (
        "{what} for its first eigenvalues, up to {error} off: their waves are down to "
        "{waves:.2g} edges long; second moments {close}"
    ),
    # second moments, as a build looks at them
    "small lattice": ("second moments not measured: stencils are as wide as the lattice"),
    "all at the edge": "second moments not measured: the edge of the mask affects all points",
    "moments": "second moments consistent with the metric: {close}",
    "no moments": "second moments not consistent with the metric{some}",
    # fidelity, as a build ends with it
    "realized": (
        "{weights} weights realize eps^2 = {realized} where {asked:.4g} was asked; {0} realizes "
        "it exactly"
    ),
    # causes
    "apart": "has {count:,} components",
    "one orientation": "has one orientation, so there are no edges along the fiber",
    "unlinked": (
        "{fibers} are not connected: no edge leads from one to another (a smaller {0} connects "
        "them)"
    ),
    "nothing forward": "at some {fibers} there is no neighbor in the forward direction",
    "eps": "realizes eps^2 = {realized}, asked {asked:.4g}",
    "xi": "realizes {realized} of the xi^2 asked for",
    "mixed": "second moments mix directions by {share}",
    "single points": "second moments of single points are up to {share} off",
    "areas": (
        "given areas are not in proportion to Voronoi cells: over them, a tenth is below "
        "{low:.2g} and a tenth above {high:.2g} times the median"
    ),
    "levels off": "with {weights} weights on such points eigenvalues stay off, however many",
    "eigenvalues": "first {count} eigenvalues are up to {error} off",
    "close": "second moments {close}",
    # remarks
    "one level": (
        "1 level, as half of {size} is not whole: pad images to {padded}, as networks do with "
        "pad=True, or crop them to {cropped}"
    ),
    "one component": "one component",
    "components": APART,
    "components, neighbors": APART + "; more {0} may connect them",
    "components, fiber": APART + "; a smaller {0} connects {fibers}, a larger one connects points",
    "components, mask": APART + "; the region inside the mask may have as many parts",
    "not counted": "components not counted; `clg inspect` counts them",
    "at least": "has at least {count:,} components; `clg inspect` counts them",
    "isolated": "vertices without neighbors: {count:,}",
    "in plane": IN_PLANE + "the closest that any xi reaches with these points and neighbors",
    "in plane, mask": IN_PLANE + "xi is solved for on the whole sampling, not on the edges inside",
    "more neighbors": "up to {count:.0f} neighbors, more than K = {most}, to match the metric",
    "dropped": "{count:,} edges left out, as their matched weight is 0",
    "dense": "{zeros} zeros, below the paper's rule of thumb",
    "approximate": "the eigenvalues are approximate: the solver did not converge",
    "copies": "eigenvalues from Lanczos recursions: multiplicities may be larger",
    "large cells": LARGE_CELLS,
    "steep": STEEP,
    "steep, edge": STEEP + "; a larger {0} gives vertices neighbors on all sides",
    "steep, poles": STEEP + "; {0} and {1} have no poles",
    "steep, points": STEEP + "; leave out points that are close to others",
    "large cells, xi": LARGE_CELLS + ", and {0} for their own spacing",
}
"""Kind -> sentence: numbers by name, remedies by place."""

REASONS = ("why", "what", "ends", "some")
"""Names of numbers that are words: findings that differ in these are not alike."""


@dataclass(frozen=True)
class Finding:
    """Something known of a graph. str() is its sentence for readers of Python.

    Args:
        kind: key of `TEMPLATES`.
        levels: of which it is known; none where it is part of another finding.
        numbers: of the sentence, by name; words that have no number count, too.
        remedies: of the sentence, in order of worth.
        causes: what it follows from.
        advice: what to do about it.
    """

    kind: str
    levels: tuple[int, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    remedies: tuple[Remedy, ...] = ()
    causes: tuple["Finding", ...] = ()
    advice: Words | None = None

    def __str__(self) -> str:
        """Its sentence, without the levels."""
        return self.sentence()

    def sentence(self, spell: Spell = str) -> str:
        """The template with numbers and remedies, then causes, then advice."""
        parts = [TEMPLATES[self.kind].format(*map(spell, self.remedies), **self.numbers)]
        if self.causes:
            parts.append("; ".join(cause.sentence(spell) for cause in self.causes))
        if self.advice:
            parts.append(self.advice.spelled(spell))
        return ": ".join(parts)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Key that is equal for findings that differ in levels, numbers and values alone."""
        inner = [cause.shape for cause in self.causes]
        reasons = [self.numbers.get(name) for name in REASONS]
        advised = self.advice.remedies if self.advice else ()
        named = [remedy.field for remedy in (*self.remedies, *advised)]
        return self.kind, *reasons, *named, *inner


class _Several(tuple[Any, ...]):
    """A number of several levels: written once where it looks the same on all."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        each = [format(number, spec) for number in self]
        return each[0] if len(set(each)) == 1 else listed(each)


def lines(findings: Iterable[Finding], every: Sequence[int], spell: Spell = str) -> list[str]:
    """A line for each kind of finding, with the levels of which it is known.

    Args:
        findings: level by level, each of one level.
        every: numbers of all levels of the report.
        spell: writes parameters.
    """
    alike: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        alike.setdefault(finding.shape, []).append(finding)
    return [_line(same, every, spell) for same in alike.values()]


def _line(alike: Sequence[Finding], every: Sequence[int], spell: Spell) -> str:
    """Numbers level by level; of a finding with causes or advice only those of the first level."""
    first, levels = alike[0], [level for finding in alike for level in finding.levels]
    title = "all levels" if len(every) > 1 and levels == [*every] else levels_in_words(levels)
    if first.causes or first.advice or first.kind in WHOLE:
        sentences = [finding.sentence(spell) for finding in alike]
        differ = f" (numbers of level {levels[0]})" if len(set(sentences)) > 1 else ""
        return f"{title}: {sentences[0]}{differ}"
    numbers = {name: _Several(each.numbers[name] for each in alike) for name in first.numbers}
    return f"{title}: {Finding(first.kind, (), numbers, first.remedies).sentence(spell)}"


WHOLE = {
    "not compared",
    "consistent",
    "coarse lattice",
    "coarse spectrum",
    "coarse fiber",
    "moments",
}
"""Kinds with so many numbers that those of one level stand for all."""


def levels_in_words(numbers: Sequence[int]) -> str:
    """'level 2', or 'levels 0, 1 and 3'."""
    return f"level{'s' if len(numbers) > 1 else ''} {listed(map(str, numbers))}"


def listed(words: Iterable[str]) -> str:
    """'a, b and c'."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
