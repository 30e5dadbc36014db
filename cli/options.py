"""Options: how they are written, those that commands share, and the layout of help pages."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

STORE = "graphs.zarr"
FILE = click.Path(path_type=Path)

Function = TypeVar("Function", bound=Callable[..., Any])


def option(
    described: str, text: str, *names: str, **settings: Any
) -> Callable[[Function], Function]:
    """An option of a command.

    Args:
        described: it and what stands for its value, "--level L"; without a value it is a flag.
        text: what it does.
        names: others.
        settings: those of `click.option`.
    """
    flag, _, metavar = described.partition(" ")
    value = {"metavar": metavar} if metavar else {"is_flag": True}
    return click.option(*names, flag, help=text, **value | settings)


class _Store(click.Path):
    """A path; an empty one counts as not given, as that of the variable does."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value or os.environ.get("CLG_STORE") or STORE, param, ctx)


store = option(
    "--store PATH",
    "Where graphs are published.",
    type=_Store(path_type=Path),
    default=Path(STORE),
    envvar="CLG_STORE",
    show_default=True,
    show_envvar=True,
)
as_json = option("--json", "Print one JSON object.", "as_json")
quiet = option("--quiet", "No progress, no messages.")


class Once(click.Command):
    """A command that refuses an option given twice, of which click would take the last.

    It has --debug, for which the entry point itself looks.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        debug = ["--debug"]
        text = "Show the traceback of an error."
        self.params.append(click.Option(debug, is_flag=True, expose_value=False, help=text))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's."""
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for given in order:
            single = isinstance(given, click.Option) and not given.multiple
            if single and not given.is_eager and order.count(given) > 1:
                raise click.UsageError(f"{given.opts[-1]} must be given once.", ctx)
        return super().parse_args(ctx, args)


class WholeSentences(click.Group):
    """A group whose page has the first sentence of each command, wrapped instead of cut short."""

    command_class = Once

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The section on the commands."""
        rows = [
            (name, command.get_short_help_str(sys.maxsize))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def examples(*commands: str) -> str:
    """The end of a page, a line for each example."""
    # click does not wrap a paragraph that starts with \b.
    title = "Examples:" if len(commands) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {command}" for command in commands)])
