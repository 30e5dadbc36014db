"""Where a graph comes from: specification, digests, files, and how to build it again."""

import json
from typing import Any

from cheblienet_graphs.page.again import command, least_fields, missing, python, recipe_of
from cheblienet_graphs.page.tables import Group, table
from cheblienet_graphs.page.tags import Markup, Say, element, joined, listing, section
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.spec.words import human_bytes
from cheblienet_graphs.store.facts import VersionFacts


def provenance(report: Report, facts: VersionFacts, say: Say) -> Markup:
    """The whole provenance as text.

    Args:
        report: of the graph.
        facts: of the same version.
        say: makes HTML of sentences.
    """
    return section(
        "provenance",
        "Provenance",
        _origin(report, facts),
        element("h3", "To build it again"),
        _again(report, say),
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


def _again(report: Report, say: Say) -> Markup:
    """The command and the Python that build it, and what they need besides."""
    spec, fields = report.spec, least_fields(report.spec)
    name = None if report.name == spec.default_name else report.name
    parts = [element("p", f"With cheblienet {report.generator['version']}:")]
    if say.option is not None:
        parts += [listing(command(fields, name, say.option))]
        if recipe := recipe_of(spec):
            parts += [element("p", say(f"It is the recipe {recipe}: `clg build recipe {recipe}`."))]
        parts += [element("p", "In Python:")]
    parts += [listing(python(fields, name))]
    return joined([*parts, *(element("p", say(line)) for line in missing(spec, fields))])


def _files(facts: VersionFacts) -> Markup:
    rows = [
        [path, f"{file.nbytes:,}", element("span", file.sha256, class_="digest")]
        for path, file in facts.files.items()
    ]
    caption = f"{len(rows)} files, {facts.nbytes:,} bytes"
    columns = ["file", "bytes", "SHA-256"]
    return table("files", caption, columns, [Group(rows)], kind="files")
