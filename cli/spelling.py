"""Parameters of the library as options of the command line."""

import re
from typing import Any

SPELLED = {"coordinates": "points-file"}
"""Options whose name is not that of their parameter."""
PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")


def as_options(text: str) -> str:
    """A message of the library, which writes `name` and `name=value`, with --name and --name value.

    Commands in backticks, which are of several words, stay as they are.
    """
    return PARAMETER.sub(lambda match: _option(match[1], match[2]), text)


def with_options(value: Any) -> Any:
    """JSON types with options in all their texts; text by text, as JSON adds quotes of its own."""
    if isinstance(value, str):
        return as_options(value)
    if isinstance(value, dict):
        return {key: with_options(inner) for key, inner in value.items()}
    return [*map(with_options, value)] if isinstance(value, list | tuple) else value


def _option(name: str, value: str | None) -> str:
    flag = f"--{SPELLED.get(name, name.replace('_', '-'))}"
    if value is None or value == "True":
        return flag
    if value == "False":
        return f"--no-{flag.removeprefix('--')}"
    unquoted = value.strip("'\"")
    return f"{flag} {unquoted}"
