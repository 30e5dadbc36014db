"""The verdict with its remedy, and remarks."""

import ast
import re
from typing import Any

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.page.again import least_fields, typed
from cheblienet_graphs.page.tags import Markup, Say, element, listing, section
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.order import order_of
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.report.remarks import remarks, verdicts
from cheblienet_graphs.report.training import on_training
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.layout import NAME

_FIRST = re.compile(r"use `(\w+)=([^`]*)`(?: with `(\w+)=([^`]*)`)?")


def advice(report: Report, say: Say) -> Markup:
    """What is found, what to do about it, and what else there is to say.

    Args:
        report: of the graph.
        say: makes HTML of sentences.
    """
    spec, levels = report.spec, report.levels
    wrong = [level for level in levels if level.consistency == "inconsistent"]
    content = [_list(verdicts(levels), say)]
    if wrong:
        content += _remedy(report, wrong[0], say)
    if order := order_of(spec):
        content += [element("p", "Eigenvalues of finer graphs of this kind: ", say(order), ".")]
    if also := [*remarks(spec, levels), *on_training(spec)]:
        content += [element("h3", "Remarks"), _list(also, say)]
    title = "Not consistent: what to do" if wrong else "Consistency"
    return section("consistency", title, *content)


def _list(sentences: list[str], say: Say) -> Markup:
    said = [say(f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in sentences]
    if len(said) == 1:
        return element("p", said[0])
    return element("ul", *(element("li", sentence) for sentence in said))


def _remedy(report: Report, level: LevelReport, say: Say) -> list[Markup]:
    """What it means, and what to type for the first remedy."""
    means = (
        "Its Laplacian smooths by another metric than the one asked for, so results at one "
        "resolution or orientation need not carry over to another."
    )
    if level.components > 1 and report.spec.mask is None:
        means = "What a filter does within one component is unknown to all others."
    explained = element("p", means)
    remedied = _remedied(report.spec, level.verdict)
    if remedied is None:
        return [explained]
    fields, suffix = remedied
    name = f"{report.name}-{suffix}"
    lines = typed(fields, name if NAME.fullmatch(name) else None, say.option)
    return [explained, element("p", "The first remedy, to be typed:"), listing(lines)]


def _remedied(spec: GraphSpec, verdict: str) -> tuple[dict[str, Any], str] | None:
    """The fields of the same graph with the first remedy, and a word for it; None without any."""
    found = _FIRST.search(verdict)
    if found is None:
        return None
    pairs = zip(found.groups()[::2], found.groups()[1::2], strict=True)
    changed = {name: ast.literal_eval(value) for name, value in pairs if name is not None}
    fields = changed_fields(spec, changed)
    return None if fields is None else (fields, str(next(iter(changed.values()))))


def changed_fields(spec: GraphSpec, changed: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the same graph but for some, without those that do not go with these.

    None where there is no such graph.
    """
    fields = least_fields(spec) | changed
    # What is inside a region is known, so no look is taken at its points.
    known = {} if spec.mask is None else {"mask": spec.mask.to_dict()}
    while True:
        try:
            GraphSpec(**fields | known)
        except SpecError as error:  # of a field that does not go with the remedy
            if error.field in changed or error.field not in fields:
                return None
            del fields[error.field]
        else:
            return fields
