"""clg ls: what a store holds."""

import datetime as dt
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once

if TYPE_CHECKING:
    from cheblienet_graphs.store.facts import Listed


@click.command(cls=Once)
@options.store
@options.as_json
@options.debug
def ls(store: Path, as_json: bool) -> None:
    """List the graphs of a store, a line for each version and one for all."""
    from cheblienet_graphs.store.facts import listing  # help does without

    versions = listing(store)
    if as_json:
        click.echo(json.dumps([asdict(version) for version in versions]))
        return
    rows = [*map(_row, versions), *_total(versions)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _row(version: "Listed") -> tuple[str, ...]:
    from cheblienet_graphs.spec import words  # help does without

    if version.fault is not None:
        remark = "unreadable; clg verify says why"
        return f"{version.name}@{version.version}", remark, "", "", "", ", ".join(version.refs)
    levels = len(version.vertices)
    return (
        f"{version.name}@{version.version}",
        f"{max(version.vertices, default=0):,} vertices",
        f"{levels} level{'s' if levels > 1 else ''}",
        words.human_bytes(version.bytes),
        _age(version.created),
        ", ".join(version.refs),
    )


def _total(listed: list["Listed"]) -> list[tuple[str, ...]]:
    """The last line: numbers of versions and graphs, and their size together."""
    from cheblienet_graphs.spec import words  # help does without

    if not listed:
        return []
    graphs = len({version.name for version in listed})
    size = words.human_bytes(sum(version.bytes for version in listed))
    versions = f"{len(listed):,} version{'s' if len(listed) > 1 else ''}"
    return [("total", versions, f"{graphs:,} graph{'s' if graphs > 1 else ''}", size, "", "")]


def _age(created: str) -> str:
    try:
        elapsed = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(created)
    except (ValueError, TypeError):
        return "age unknown"
    minutes = int(elapsed.total_seconds() // 60)
    for unit, length in (("day", 1440), ("hour", 60), ("minute", 1)):
        if (count := minutes // length) > 0:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
