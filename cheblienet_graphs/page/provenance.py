"""Advice on a graph and its provenance: the command that builds it, and its files."""

import json
from collections.abc import Mapping
from typing import Any

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.page.html import Markup, element, joined, listing, prose, section, table
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.rows import Row
from cheblienet_graphs.report.text import Report
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.command import FILE, command
from cheblienet_graphs.spec.naming import least_fields, specifies, without_field
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store.facts import VersionFacts
from cheblienet_graphs.store.layout import NAME

BOX = "X0,Y0,X1,Y1"
"""Placeholder of the box around given points."""
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


def advice(report: Report) -> Markup:
    """The verdicts, a command that mends the graph or builds the metric's, and remarks."""
    wrong = [level for level in report.levels if level.consistency == "inconsistent"]
    kernels = [level for level in report.levels if level.consistency == "kernel weights"]
    content = [_list(report.verdicts())]
    if wrong:
        content += [element("p", meaning(report.spec, wrong[0].finding))]
        content += _command(report, wrong[0], "Suggested command:")
    elif kernels:
        content += _command(report, kernels[0], "The same graph for diffusion and spectra:")
    if also := report.remarks():
        content += [element("h3", "Remarks"), _list(also)]
    title = "Not consistent: what to do" if wrong else "Consistency"
    return section("consistency", title, *content)


def _list(sentences: list[str]) -> Markup:
    items = [prose(f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in sentences]
    if len(items) == 1:
        return element("p", items[0])
    return element("ul", *(element("li", item) for item in items))


def _command(report: Report, level: LevelReport, title: str) -> list[Markup]:
    """The command for the first change that is advised, below a title; nothing without any."""
    todo = level.finding.advice
    if todo is None or not todo.changes:
        return []
    change = dict(todo.changes[0])
    fields = changed_fields(report.spec, change)
    if fields is None:
        return []
    name = f"{report.name}-{next(iter(change.values()))}"
    line = command(fields, name if NAME.fullmatch(name) else None)
    return [element("p", title), listing(line)]


def meaning(spec: GraphSpec, finding: Finding) -> str:
    """The meaning of an inconsistency's first cause for a filter on the graph."""
    kind = finding.causes[0].kind
    inside = kind == "eigenvalues" and spec.boundary == "open" and spec.sampling_kind.regular
    return MEANINGS.get("sides" if inside else kind, MEANINGS["moments"])


def provenance(report: Report, facts: VersionFacts) -> Markup:
    """The whole provenance as text.

    Args:
        report: of the graph.
        facts: of the same version.
    """
    spec, fields = report.spec, typed_fields(report.spec)
    name = None if report.name == spec.default_name else report.name
    return section(
        "provenance",
        "Provenance",
        _origin(report, facts),
        element("h3", "Rebuild"),
        element("p", f"With cheblienet {report.generator['version']}:"),
        listing(command(fields, name)),
        *(element("p", prose(sentence)) for sentence in missing(spec, fields)),
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
    rows = [Row(path, [f"{file.nbytes:,}", _digest(file.sha256)]) for path, file in files]
    caption = f"{len(rows)} files, {facts.nbytes:,} bytes"
    return table("files", caption, ["file", "bytes", "SHA-256"], {"": rows}, kind="files")


def typed_fields(spec: GraphSpec) -> dict[str, Any]:
    """The arguments for a command line, with placeholders for the builder's files and box."""
    fields = least_fields(spec)
    # That of a region takes a look at all points, so it is the last; given points are not known.
    if spec.region is not None and (
        spec.coordinates is not None or specifies(without_field(fields, "mask"), spec)
    ):
        fields = without_field(fields, "mask")
    if spec.coordinates is not None:
        fields |= {"domain": BOX} if spec.geometry.base.flat else {"units": "degrees"}
    return fields


def changed_fields(spec: GraphSpec, changed: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the same graph but for some, without the ones that do not go with these.

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


def missing(spec: GraphSpec, fields: Mapping[str, Any]) -> list[str]:
    """Sentences about inputs that a version knows by their digest alone.

    Args:
        spec: of the graph.
        fields: JSON types.
    """
    facts = {
        f"`{FILE}` stands for what only the builder has: its digest is in the specification.": (
            "mask" in fields or "coordinates" in fields
        ),
        f"Leave `--domain {BOX}` out if no box was given.": "domain" in fields,
        "A mask in ring order takes `--mask-order ring`, too.": "mask" in fields and spec.nside,
        f"Give `--mask {FILE}`, too, if there was one besides the region.": (
            spec.mask is not None and spec.coordinates is not None and "mask" not in fields
        ),
    }
    return [sentence for sentence, holds in facts.items() if holds]
