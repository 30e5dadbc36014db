"""Parameters of the library as options of the command line."""

import re

PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")


def as_options(text: str) -> str:
    """A message of the library, which writes `name` and `name=value`, with --name and --name value.

    Commands in backticks, which are of several words, stay as they are.
    """
    return PARAMETER.sub(lambda found: _option(found[1], found[2]), text)


def _option(name: str, value: str | None) -> str:
    flag = f"--{name.replace('_', '-')}"
    if value is None or value == "True":
        return flag
    unquoted = value.strip("'\"")
    return f"{flag} {unquoted}"
