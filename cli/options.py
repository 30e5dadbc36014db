"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

store = click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=Path("graphs.zarr"),
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
