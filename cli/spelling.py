"""Parameters of the library as options of the command line."""

import ast
import re
from functools import cache
from typing import Any

from cheblienet_graphs.errors import CheblienetError, SpecError, one_line

PARAMETER = re.compile(r"`([a-z_]+)(?:=([^`]+))?`")
"""A parameter in a message of the library, `name` or `name=value`."""


def spelled(value: Any) -> Any:
    """A text of the library, or JSON types with texts, its parameters as options."""
    if isinstance(value, str):
        return PARAMETER.sub(_spelled, value)
    if isinstance(value, dict):
        return {name: spelled(part) for name, part in value.items()}
    return [spelled(part) for part in value] if isinstance(value, list | tuple) else value


def message(error: CheblienetError) -> str:
    """The message of an error, its parameters as options, on one line."""
    text = str(error)
    if isinstance(error, SpecError):
        text = f"`{error.field}` {error.complaint}"
    return one_line(str(spelled(text)))


def _spelled(match: re.Match[str]) -> str:
    from cheblienet_graphs.spec.command import option  # a signal may come while this loads

    name, value = match.groups()
    if name not in _parameters():
        return match[0]
    return option(name, None if value is None else _literal(value))


def _literal(value: str) -> Any:
    """A value in Python's spelling; text that is not a literal stands for itself."""
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value


@cache
def _parameters() -> set[str]:
    """The names of all options, and of the parameters that these are given for."""
    import click

    from cheblienet_cli.commands import clg
    from cheblienet_graphs.spec.command import SPELLED

    names = set(SPELLED)
    groups: list[click.Group] = [clg]
    for group in groups:
        for command in group.commands.values():
            names |= {str(of.name) for of in command.params if isinstance(of, click.Option)}
            if isinstance(command, click.Group):
                groups.append(command)
    return names
