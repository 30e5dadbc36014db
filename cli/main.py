"""Entry point: commands, exit codes, errors of one line."""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from cheblienet_cli.build import build
from cheblienet_cli.diff import diff
from cheblienet_cli.doctor import doctor
from cheblienet_cli.export import export, import_
from cheblienet_cli.help import WholeSentences, examples
from cheblienet_cli.inspect import inspect
from cheblienet_cli.ls import ls
from cheblienet_cli.neighbors import neighbors
from cheblienet_cli.plot import plot
from cheblienet_cli.recipes import recipes
from cheblienet_cli.rm import rm
from cheblienet_cli.spelling import as_options
from cheblienet_cli.tag import tag
from cheblienet_cli.verify import verify
from cheblienet_graphs import __version__
from cheblienet_graphs.errors import (
    CheblienetError,
    InputError,
    RecipeError,
    SpecError,
    UnknownGraphError,
)
from cheblienet_graphs.machine.interrupts import interrupts_ignored
from cheblienet_graphs.quoting import one_line


class Terminated(BaseException):
    """SIGTERM came."""


ENDINGS = (KeyboardInterrupt, click.Abort, Terminated)
"""Exceptions that signals raise; click turns a KeyboardInterrupt into an Abort."""

FULL_DISK = {errno.ENOSPC, errno.EDQUOT}
DONE, FAILED, USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


@click.group(
    cls=WholeSentences,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("clg build se2 --size 96 --weights selling", "clg inspect"),
)
@click.version_option(__version__, prog_name="clg")
def clg() -> None:
    """Graphs on Lie groups for group-equivariant spectral networks."""


EXAMINING = (inspect, plot, diff, neighbors, ls)
KEEPING = (tag, rm, verify, export, import_)
for command in (build, recipes, *EXAMINING, *KEEPING, doctor):
    clg.add_command(command)


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; errors are printed as one line."""
    try:
        try:
            return _run(arguments)
        except ENDINGS as error:
            return _ended(error)
    except ENDINGS as error:  # a second signal, before the first one was reported
        return _ended(error)


def _run(arguments: Sequence[str]) -> int:
    try:
        code = clg.main(list(arguments), prog_name="clg", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as help_text:
        click.echo(help_text.format_message(), err=True)
        return USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except ENDINGS:
        raise
    except Exception as error:
        if "--debug" in arguments:
            raise
        message, code = _explained(error)
        _tell(_with_notes(f"Error: {message}", error))
        return code
    return code if isinstance(code, int) else DONE


def _tell(message: str) -> None:
    """Print a message on stderr, as one line whatever it quotes."""
    click.echo(one_line(message), err=True)


def _ended(error: BaseException) -> int:
    """Print that a signal ended the command, and what stays; return the exit code."""
    terminated = isinstance(error, Terminated)
    with interrupts_ignored():
        message = _with_notes("Terminated." if terminated else "Interrupted.", error)
        _tell(message)
    return TERMINATED if terminated else INTERRUPTED


def _explained(error: Exception) -> tuple[str, int]:
    if isinstance(error, click.UsageError):
        return _with_page(error), USAGE
    if isinstance(error, SpecError):
        return as_options(f"`{error.field}` {error.complaint}"), USAGE
    if isinstance(error, RecipeError):
        return str(error), USAGE  # its message names fields as the file does
    if isinstance(error, CheblienetError):
        of_usage = isinstance(error, UnknownGraphError | InputError)
        return as_options(str(error)), USAGE if of_usage else FAILED
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename} can't be used: {error.strerror}.", FAILED
    if isinstance(error, OSError) and error.errno in FULL_DISK:  # of standard output: no file's
        return "what was to be printed can't be written: no space left; free some.", FAILED
    if isinstance(error, MemoryError):
        return "out of memory; build fewer vertices or free some.", FAILED
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} (rerun with --debug for the traceback)", FAILED


def _with_page(error: click.UsageError) -> str:
    """Click's message, and the help page that explains it."""
    message = " ".join(error.format_message().split())
    if error.ctx is None:  # our own message, which has a remedy
        return message
    end = "" if message.endswith((".", "?", "?)")) else "."
    return f"{message}{end} See `{error.ctx.command_path} --help`."


def _with_notes(message: str, error: BaseException) -> str:
    """A message with what was noted on the way, such as what can be resumed.

    A second Ctrl-C replaces the first one's error, and click wraps either in another error.
    """
    signalled, chain = isinstance(error, ENDINGS), list[BaseException]()
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.insert(0, cause)
        cause = cause.__cause__ or (cause.__context__ if signalled else None)
    notes = [as_options(note) for cause in chain for note in getattr(cause, "__notes__", [])]
    return " ".join(dict.fromkeys([message, *notes]))


def _terminate(_number: int, _frame: object) -> NoReturn:
    raise Terminated
