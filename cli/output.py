"""Output of commands besides sentences: JSON, tables."""

import json
from collections.abc import Sequence
from typing import Any

import click

from cheblienet_cli.spelling import spelled
from cheblienet_graphs.errors import aligned


def show(value: Any) -> None:
    """Print a text, or JSON types as one line, parameters as options."""
    value = spelled(value)
    click.echo(value if isinstance(value, str) else json.dumps(value, allow_nan=False))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows, columns below each other."""
    click.echo("\n".join(aligned(rows, "<")))


def count(number: int, one: str) -> str:
    """'1 level', '2 levels'."""
    return f"{number:,} {one}{'s' if number != 1 else ''}"
