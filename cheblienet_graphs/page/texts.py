"""What to do about a graph, and where it comes from: advice and provenance."""

import json
from typing import Any

from cheblienet_graphs.page.again import (
    changed_fields,
    command,
    least_fields,
    missing,
    python,
    recipe_of,
    typed,
)
from cheblienet_graphs.page.html import (
    Group,
    Markup,
    element,
    joined,
    listing,
    prose,
    section,
    table,
)
from cheblienet_graphs.report.findings import Spell
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.report.remarks import remarks, verdicts
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store.facts import VersionFacts
from cheblienet_graphs.store.layout import NAME


def advice(report: Report, spell: Spell, option: Spell | None) -> Markup:
    """What is known, what to do about it, and what else there is to say.

    Args:
        report: of the graph.
        spell: writes parameters in sentences.
        option: writes them as options; None for readers of Python.
    """
    spec, levels = report.spec, report.levels
    wrong = [level for level in levels if level.consistency == "inconsistent"]
    content = [_list(verdicts(levels, spell))]
    if wrong:
        content += _remedy(report, wrong[0], option)
    if also := remarks(spec, levels, spell=spell):
        content += [element("h3", "Remarks"), _list(also)]
    title = "Not consistent: what to do" if wrong else "Consistency"
    return section("consistency", title, *content)


def _list(sentences: list[str]) -> Markup:
    items = [prose(f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in sentences]
    if len(items) == 1:
        return element("p", items[0])
    return element("ul", *(element("li", item) for item in items))


def _remedy(report: Report, level: LevelReport, option: Spell | None) -> list[Markup]:
    """What it means, and what to type for the first remedy."""
    means = (
        "Its Laplacian smooths by another metric than the one asked for, so results at one "
        "resolution or orientation need not carry over to another."
    )
    if level.components > 1 and report.spec.mask is None:
        means = "What a filter does within one component is unknown to all others."
    explained, changed = element("p", means), _first_remedy(level)
    fields = changed_fields(report.spec, changed) if changed else None
    if fields is None:
        return [explained]
    name = f"{report.name}-{next(iter(changed.values()))}"
    lines = typed(fields, name if NAME.fullmatch(name) else None, option)
    return [explained, element("p", "The first remedy, to be typed:"), listing(lines)]


def _first_remedy(level: LevelReport) -> dict[str, Any]:
    """The fields that it changes; none where no value is known."""
    todo = level.finding.advice
    if todo is None:
        return {}
    first = todo.remedies if todo.kind == "together" else todo.remedies[:1]
    return {remedy.field: remedy.value for remedy in first if remedy.value is not None}


def provenance(report: Report, facts: VersionFacts, spell: Spell, option: Spell | None) -> Markup:
    """The whole provenance as text.

    Args:
        report: of the graph.
        facts: of the same version.
        spell: writes parameters in sentences.
        option: writes them as options; None for readers of Python.
    """
    return section(
        "provenance",
        "Provenance",
        _origin(report, facts),
        element("h3", "To build it again"),
        _again(report, spell, option),
        element("h3", "Specification"),
        element("pre", _json(report.spec.to_dict())),
        element("h3", "Files"),
        _files(facts),
    )


def _json(fields: dict[str, Any]) -> str:
    """An object with a line for each field."""
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items()]
    return "\n".join(["{", ",\n".join(lines), "}"])


def _origin(report: Report, facts: VersionFacts) -> Markup:
    generator = f"{report.generator['name']} {report.generator['version']}"
    known = {
        "graph": f"{report.name}@{report.version}",
        "refs": ", ".join(report.refs),
        "created": report.created,
        "built by": generator,
        "size": f"{human_bytes(report.bytes)} ({report.bytes:,} bytes)",
        "SHA-256 of the specification": report.spec_sha256,
        "SHA-256 of the metadata": facts.sha256,
    }
    pairs = [
        joined([element("dt", title), element("dd", value, **_digest(title))])
        for title, value in known.items()
        if value
    ]
    return element("dl", *pairs, class_="facts")


def _digest(title: str) -> dict[str, str]:
    return {"class_": "digest"} if title.startswith("SHA") else {}


def _again(report: Report, spell: Spell, option: Spell | None) -> Markup:
    """The command and the Python that build it, and what they need besides."""
    spec, fields = report.spec, least_fields(report.spec)
    name = None if report.name == spec.default_name else report.name
    parts = [element("p", f"With cheblienet {report.generator['version']}:")]
    if option is not None:
        parts += [listing(command(fields, name, option))]
        if recipe := recipe_of(spec):
            parts += [
                element("p", prose(f"It is the recipe {recipe}: `clg build recipe {recipe}`."))
            ]
        parts += [element("p", "In Python:")]
    parts += [listing(python(fields, name))]
    lines = [prose(line) for line in missing(spec, fields, spell)]
    return joined([*parts, *(element("p", line) for line in lines)])


def _files(facts: VersionFacts) -> Markup:
    rows = [
        (path, [f"{file.nbytes:,}", element("span", file.sha256, class_="digest")])
        for path, file in facts.files.items()
    ]
    caption = f"{len(rows)} files, {facts.nbytes:,} bytes"
    columns = ["file", "bytes", "SHA-256"]
    return table("files", caption, columns, [Group(rows)], kind="files")
