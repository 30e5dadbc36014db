"""Parameters of the library as options of the command line."""

from cheblienet_graphs.errors import Remedy, Words

SPELLED = {"coordinates": "points-file"}
"""Options whose name is not that of their parameter."""


def option(remedy: Remedy) -> str:
    """'--name', '--name value'; of what is true or false '--name' or '--no-name'."""
    flag = SPELLED.get(remedy.field, remedy.field.replace("_", "-"))
    if remedy.value is False:
        return f"--no-{flag}"
    alone = remedy.value is None or remedy.value is True
    return f"--{flag}" if alone else f"--{flag} {remedy.value}"


def spelled(text: str) -> str:
    """A text of the library, its parameters as options."""
    return Words(text).spelled(option)
