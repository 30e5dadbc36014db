"""What to do about a graph, and where it comes from: the command to build it, advice, files."""

import json
from collections.abc import Mapping
from typing import Any

from cheblienet_graphs.errors import Remedy, SpecError, Spell
from cheblienet_graphs.page.html import Markup, element, joined, listing, prose, section, table
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.text import Report
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.least import least_fields, makes, shortest, without
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store.facts import VersionFacts
from cheblienet_graphs.store.layout import NAME

FILE = "FILE"
"""Stands for a file that only whoever built the graph has,"""
BOX = "X0,Y0,X1,Y1"
"""and for the box around their points."""
MEANINGS = {
    "apart": "No filter passes information between components.",
    "moments": "Its Laplacian smooths by a metric that differs from the one requested.",
    "areas": "Its second moments are those of the metric. The given areas are not those of cells.",
    "eigenvalues": "Its second moments are those of the metric. Its first eigenvalues are not.",
    "sides": (
        "Inside, its Laplacian smooths by the metric requested. At the open sides it does not, as "
        "edges are cut off there."
    ),
}
"""By the kind of the first cause; all kinds of second moments have one."""
_BETWEEN = {"size": "x"} | dict.fromkeys(("region", "spacing", "refined", "pl"), ",")


def advice(report: Report, spell: Spell, option: Spell) -> Markup:
    """What is known, what to do about it, and what else there is to say.

    Args:
        report: of the graph.
        spell: writes a parameter within a sentence.
        option: writes it as an option of the command line.
    """
    wrong = [level for level in report.levels if level.consistency == "inconsistent"]
    content = [_list(report.verdicts(spell))]
    if wrong:
        content += _remedy(report, wrong[0], option)
    if also := report.remarks(spell=spell):
        content += [element("h3", "Remarks"), _list(also)]
    title = "Not consistent: what to do" if wrong else "Consistency"
    return section("consistency", title, *content)


def _list(sentences: list[str]) -> Markup:
    items = [prose(f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in sentences]
    if len(items) == 1:
        return element("p", items[0])
    return element("ul", *(element("li", item) for item in items))


def _remedy(report: Report, level: LevelReport, option: Spell) -> list[Markup]:
    """What it means, and what to type for the first remedy."""
    todo, explained = level.finding.advice, element("p", meaning(report.spec, level.finding))
    if todo is None or not todo.remedies or todo.remedies[0].value is None:
        return [explained]
    first = todo.remedies if " with " in todo.parts else todo.remedies[:1]
    fields = changed_fields(report.spec, {remedy.field: remedy.value for remedy in first})
    if fields is None:
        return [explained]
    name = f"{report.name}-{first[0].value}"
    line = command(fields, name if NAME.fullmatch(name) else None, option)
    return [explained, element("p", "Suggested command:"), listing(line)]


def meaning(spec: GraphSpec, finding: Finding) -> str:
    """What the first cause of an inconsistency means for a filter on the graph."""
    kind = finding.causes[0].kind
    inside = kind == "eigenvalues" and spec.boundary == "open" and spec.sampling_kind.regular
    return MEANINGS.get("sides" if inside else kind, MEANINGS["moments"])


def provenance(report: Report, facts: VersionFacts, option: Spell) -> Markup:
    """The whole provenance as text.

    Args:
        report: of the graph.
        facts: of the same version.
        option: writes a parameter as an option of the command line.
    """
    spec, fields = report.spec, typed_fields(report.spec)
    name = None if report.name == spec.default_name else report.name
    return section(
        "provenance",
        "Provenance",
        _origin(report, facts),
        element("h3", "Rebuild"),
        element("p", f"With cheblienet {report.generator['version']}:"),
        listing(command(fields, name, option)),
        *(element("p", prose(sentence)) for sentence in missing(spec, fields, option)),
        element("h3", "Specification"),
        element("p", prose("In Python `GraphSpec.from_dict` takes it.")),
        element("pre", json.dumps(spec.to_dict(), indent=1)),
        element("h3", "Files"),
        _files(facts),
    )


def _origin(report: Report, facts: VersionFacts) -> Markup:
    known = {
        "graph": f"{report.name}@{report.version}",
        "refs": ", ".join(report.refs),
        "created": report.created,
        "built by": f"{report.generator['name']} {report.generator['version']}",
        "size": f"{human_bytes(report.bytes)} ({report.bytes:,} bytes)",
        "SHA-256 of the specification": _digest(report.spec_sha256),
        "SHA-256 of the metadata": _digest(facts.sha256),
    }
    pairs = [
        (element("dt", title), element("dd", value)) for title, value in known.items() if value
    ]
    return element("dl", *map(joined, pairs), class_="facts")


def _digest(sha256: str) -> Markup:
    return element("span", sha256, class_="digest")


def _files(facts: VersionFacts) -> Markup:
    files = facts.files.items()
    rows = [(path, [f"{file.nbytes:,}", _digest(file.sha256)]) for path, file in files]
    caption = f"{len(rows)} files, {facts.nbytes:,} bytes"
    return table("files", caption, ["file", "bytes", "SHA-256"], {"": rows}, kind="files")


def typed_fields(spec: GraphSpec) -> dict[str, Any]:
    """The arguments that a command line gives: files and boxes that only whoever built it has."""
    fields = least_fields(spec)
    # That of a region takes a look at all points, so it is the last; given points are not known.
    if spec.region is not None and (
        spec.coordinates is not None or makes(without(fields, "mask"), spec)
    ):
        fields = without(fields, "mask")
    if spec.coordinates is not None:
        fields |= {"domain": BOX} if spec.geometry.base.flat else {"units": "degrees"}
    return fields


def changed_fields(spec: GraphSpec, changed: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the same graph but for some, without those that do not go with these.

    None where there is no such graph.
    """
    fields = typed_fields(spec) | changed
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


def command(fields: Mapping[str, Any], name: str | None, option: Spell) -> str:
    """The command line that builds from these fields.

    Args:
        fields: JSON types; files are FILE.
        name: of the graph; None for the default.
        option: writes a parameter as an option.
    """
    given = {field: value for field, value in fields.items() if field != "manifold"}
    if name is not None:
        given["name"] = name
    texts = [option(Remedy(field, text)) for field in given for text in _texts(field, given[field])]
    return " ".join(["clg", "build", str(fields["manifold"]), *texts])


def _texts(field: str, value: Any) -> list[Any]:
    """What is typed after an option, as often as that is given."""
    if field in {"coordinates", "mask"}:
        return [FILE] * (len(value["points"]) if field == "coordinates" else 1)
    if field in _BETWEEN:
        return [_BETWEEN[field].join(map(shortest, value))]
    return [value if isinstance(value, bool) else shortest(value)]


def missing(spec: GraphSpec, fields: Mapping[str, Any], option: Spell) -> list[str]:
    """Sentences about what a version knows by its digest alone.

    Args:
        spec: of the graph.
        fields: JSON types.
        option: writes a parameter as an option.
    """
    mask, order = option(Remedy("mask", FILE)), option(Remedy("mask_order", "ring"))
    facts = {
        f"`{FILE}` stands for what only the builder has: its digest is in the specification.": (
            "mask" in fields or "coordinates" in fields
        ),
        f"Leave `{option(Remedy('domain', BOX))}` out if no box was given.": "domain" in fields,
        f"A mask in ring order takes `{order}`, too.": "mask" in fields and spec.nside,
        f"Give `{mask}`, too, if there was one besides the region.": (
            spec.mask is not None and spec.coordinates is not None and "mask" not in fields
        ),
    }
    return [sentence for sentence, holds in facts.items() if holds]
