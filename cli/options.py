"""Options that several commands share."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

STORE = "graphs.zarr"

Command = TypeVar("Command", bound=Callable[..., Any])


class _Store(click.Path):
    """A path; an empty one counts as not given, as that of the variable does."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value or os.environ.get("CLG_STORE") or STORE, param, ctx)


store = click.option(
    "--store",
    type=_Store(path_type=Path),
    default=Path(STORE),
    envvar="CLG_STORE",
    show_default=True,
    show_envvar=True,
    help="Where graphs are published.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet = click.option("--quiet", is_flag=True, help="No progress, no messages.")


def debug(command: Command) -> Command:
    """--debug: errors come with their traceback. The entry point itself looks for it."""
    return click.option(
        "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
    )(command)
