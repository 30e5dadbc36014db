"""Parameters of the library as options of the command line."""

import re
from collections.abc import Iterable
from contextvars import ContextVar

from cheblienet_graphs.errors import Remedy

SPELLED = {"coordinates": "points-file"}
"""Options whose name is not that of their parameter."""
NOTHING = "((?!))"
PATH = re.compile("[/@:]")
_KEPT = ContextVar("kept", default=re.compile(NOTHING))
PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")


def option(remedy: Remedy) -> str:
    """'--name', '--name value'; of what is true or false '--name' or '--no-name'."""
    flag = SPELLED.get(remedy.field, remedy.field.replace("_", "-"))
    if remedy.value in {"False", False} and isinstance(remedy.value, str | bool):
        return f"--no-{flag}"
    alone = remedy.value is None or str(remedy.value) == "True"
    return f"--{flag}" if alone else f"--{flag} {remedy.value}"


def as_options(text: str) -> str:
    """An error of the library, which writes `name` and `name=value`, with options instead.

    Commands in backticks, which are of several words, stay as they are.
    """
    parts = _KEPT.get().split(text)
    parts[::2] = [PARAMETER.sub(_option, part) for part in parts[::2]]
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


def _option(parameter: re.Match[str]) -> str:
    value = parameter[2]
    return option(Remedy(parameter[1], value and value.strip("'\"")))
