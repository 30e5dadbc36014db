"""The group of all commands, and what their errors say."""

import errno
import sys
from collections.abc import Sequence

import click

from cheblienet_cli.build import build, recipes
from cheblienet_cli.doctor import doctor
from cheblienet_cli.export import export, import_
from cheblienet_cli.inspect import diff, inspect, neighbors
from cheblienet_cli.options import WholeSentences, examples
from cheblienet_cli.plot import plot
from cheblienet_cli.spelling import option
from cheblienet_cli.store import ls, rm, tag, verify
from cheblienet_graphs import __version__
from cheblienet_graphs.errors import (
    CheblienetError,
    InputError,
    RecipeError,
    SpecError,
    UnknownGraphError,
)

FULL_DISK = {errno.ENOSPC, errno.EDQUOT}
DONE, FAILED, USAGE = 0, 1, 2


@click.group(
    cls=WholeSentences,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("clg build se2 --size 96 --weights selling", "clg inspect"),
)
@click.version_option(__version__, prog_name="clg")
def clg() -> None:
    """Graphs on Lie groups for group-equivariant spectral networks."""


COMMANDS = inspect, plot, diff, neighbors, ls, tag, rm, verify, export, import_
for command in (build, recipes, *COMMANDS, doctor):
    clg.add_command(command)


def call(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it.
        Exception: whatever a command raises; `explained` says what of it.
    """
    try:
        code = clg.main(list(arguments), prog_name="clg", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as help_text:
        click.echo(help_text.format_message(), err=True)
        return USAGE
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return code if isinstance(code, int) else DONE


def explained(error: Exception) -> tuple[str, int] | None:
    """What a command's error says, and its exit code; None for one that nobody expects."""
    if isinstance(error, click.UsageError):
        return _with_page(error), USAGE
    if isinstance(error, CheblienetError):
        of_usage = isinstance(error, SpecError | RecipeError | UnknownGraphError | InputError)
        return error.spelled(option), USAGE if of_usage else FAILED
    if isinstance(error, OSError) and error.errno in FULL_DISK:  # of standard output: no file's
        return "what was to be printed can't be written: no space left; free some.", FAILED
    return None


def _with_page(error: click.UsageError) -> str:
    """Click's message, and the help page that explains it."""
    message = " ".join(error.format_message().split())
    if error.ctx is None:  # our own message, which has a remedy
        return message
    end = "" if message.endswith((".", "?", "?)")) else "."
    return f"{message}{end} See `{error.ctx.command_path} --help`."
