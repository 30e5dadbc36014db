"""Parameters of the library as options of the command line."""

import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

SPELLED = {"coordinates": "points-file"}
"""Options whose name is not that of their parameter."""
NOTHING = "((?!))"
PATH = re.compile("[/@:]")
_KEPT = ContextVar("kept", default=re.compile(NOTHING))
PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")


def as_options(text: str) -> str:
    """A message of the library, which writes `name` and `name=value`, with --name and --name value.

    Commands in backticks, which are of several words, stay as they are.
    """
    parts = _KEPT.get().split(text)
    parts[::2] = [PARAMETER.sub(lambda match: _option(match[1], match[2]), p) for p in parts[::2]]
    return "".join(parts)


def keep(given: Iterable[str]) -> None:
    """Leave what a user gave as it is in all texts, where it has backticks of its own.

    Names in paths count one by one, as paths are told in other forms, too.
    """
    values = [part for value in given for part in (value, value.partition("=")[2])]
    values += [value[2:] for value in values if value.startswith("-")]  # as in -oFILE
    names = {name for value in values for name in PATH.split(value) if "`" in name}
    longest_first = sorted(names, key=len, reverse=True)
    _KEPT.set(re.compile(f"({'|'.join(map(re.escape, longest_first))})" if names else NOTHING))


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
