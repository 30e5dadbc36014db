"""Findings: facts about a graph as numbers, which `report.sentences` puts into words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cheblienet_graphs.weights.weighting import Advice


@dataclass(frozen=True)
class Finding:
    """A fact about a graph.

    Args:
        kind: key of `report.sentences.TEMPLATES`.
        levels: where it holds; empty where it is part of another finding.
        numbers: by name, as the template of its kind needs them.
        causes: the findings that it follows from.
        advice: changes that help.
    """

    kind: str
    levels: tuple[int, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    causes: tuple["Finding", ...] = ()
    advice: Advice | None = None
