"""Options: their form, common ones, and the layout of help pages."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from cheblienet_graphs.errors import quoted

STORE = "graphs.zarr"
FILE = click.Path(path_type=Path)

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
"""A decorator that gives options to a command."""


def option(described: str, text: str, *names: str, **settings: Any) -> Decorator:
    """An option of a command.

    Args:
        described: it and what stands for its value, "--level L"; without a value it is a flag.
        text: what it does.
        names: others.
        settings: of `click.option`.
    """
    flag, _, metavar = described.partition(" ")
    value = {"metavar": metavar} if metavar else {"is_flag": True}
    return click.option(*names, flag, help=text, **value | settings)


def together(*options: Decorator) -> Decorator:
    """Options of a command, in their order on its page."""

    def decorate(command: Function) -> Function:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


def from_table(table: Mapping[str, str]) -> Decorator:
    """Options of a command: of each what `option` takes as `described`, and what it does."""
    return together(*(option(*row) for row in table.items()))


def _given(_context: click.Context, _option: click.Parameter, value: str) -> Path:
    """The path of a store; an empty one counts as not given, as that of the variable does."""
    return Path(value or os.environ.get("CLG_STORE") or STORE)


store = option(
    "--store PATH",
    "Where graphs are published.",
    type=click.Path(),
    callback=_given,
    default=STORE,
    envvar="CLG_STORE",
    show_envvar=True,
)
level = option("--level L", "Which level of the pyramid, 0 the finest.  [default: 0]", type=int)
as_json = option("--json", "Print one JSON object.", "as_json")
quiet = option("--quiet", "No progress, no messages.")
verbose = option("--verbose", "Describe the graph, and how it was built.")


class Once(click.Command):
    """A command that refuses an option given twice, of which click would take the last.

    It has --debug, for which the entry point itself looks.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        option("--debug", "Show the traceback of an error.", expose_value=False)(self)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The parsed arguments, as from click; the shell may complete any line."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for given in order:
            single = isinstance(given, click.Option) and not given.multiple
            if single and not given.is_eager and order.count(given) > 1:
                raise click.UsageError(f"{given.opts[-1]} must be given once.", ctx)
        return super().parse_args(ctx, args)


class Group(click.Group):
    """A group of such commands; its page has their first sentences, wrapped instead of cut short.

    Args:
        unknown: what to say of another name, which stands for {}; click's words where left out.
    """

    command_class = Once

    def __init__(self, *args: Any, unknown: str = "", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._unknown = unknown

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, as click does."""
        cmd.short_help = cmd.get_short_help_str(sys.maxsize)
        super().add_command(cmd, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; while the shell completes a line there are no errors."""
        if self._unknown and cmd_name not in self.commands and not ctx.resilient_parsing:
            raise click.UsageError(self._unknown.format(quoted(cmd_name)))
        return super().get_command(ctx, cmd_name)


def examples(*commands: str) -> str:
    """The end of a page, a line for each example."""
    # click does not wrap a paragraph that starts with \b.
    title = "Examples:" if len(commands) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {command}" for command in commands)])
