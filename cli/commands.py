"""The group of all commands."""

import sys
from collections.abc import Sequence

import click

from cheblienet_cli.build import build, recipes
from cheblienet_cli.doctor import doctor
from cheblienet_cli.export import export, import_
from cheblienet_cli.inspect import diff, inspect, neighbors
from cheblienet_cli.maps import build_map
from cheblienet_cli.options import Group, examples
from cheblienet_cli.plot import plot
from cheblienet_cli.store import ls, rm, tag, verify
from cheblienet_graphs import __version__
from cheblienet_graphs.errors import InputError

USAGE = 2
PAGES = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


@click.group(
    cls=Group,
    context_settings=PAGES,
    epilog=examples("clg build se2 --size 96 --weights selling", "clg inspect"),
)
@click.version_option(__version__, prog_name="clg")
def clg() -> None:
    """Graphs on Lie groups for group-equivariant spectral networks."""


build.add_command(build_map)
COMMANDS = inspect, plot, diff, neighbors, ls, tag, rm, verify, export, import_
for command in (build, recipes, *COMMANDS, doctor):
    clg.add_command(command)


def call(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Raises:
        InputError: there is no such command or option, or something of one is missing.
        KeyboardInterrupt: Ctrl-C ended it.
        Exception: whatever a command raises.
    """
    try:
        code = clg.main(list(arguments), prog_name="clg", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as help_text:
        click.echo(help_text.format_message(), err=True)
        return USAGE
    except click.UsageError as error:
        raise InputError(_with_page(error)) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return int(code or 0)


def _with_page(error: click.UsageError) -> str:
    """The message, and the help page that explains it, if there is one."""
    message = " ".join(error.format_message().split())
    end = "" if message.endswith((".", "?", "?)")) else "."
    return f"{message}{end} See `{error.ctx.command_path} --help`." if error.ctx else message
