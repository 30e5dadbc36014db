"""Entry point: exit codes, signals, errors of one line.

Commands are loaded when they run, so that a signal that comes meanwhile ends them as ever; while
numpy and scipy load, the system itself ends them (`loading`).
"""

import errno
import io
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from cheblienet_cli import spelling
from cheblienet_cli.loading import end_while_libraries_load
from cheblienet_graphs import errors
from cheblienet_graphs.errors import one_line, quoted


class Terminated(BaseException):
    """SIGTERM came."""


ENDINGS = (KeyboardInterrupt, Terminated)
"""Exceptions that signals raise."""

OF_USAGE = errors.SpecError | errors.InputError | errors.UnknownGraphError
FAILED, USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
FULL_DISK = {errno.ENOSPC, errno.EDQUOT}
STANDARD_ERROR = 2
BUILD_TIME = "SOURCE_DATE_EPOCH"
"""A variable of the environment that numpy and matplotlib read as they are loaded."""
YEAR_9999 = 253_402_300_799
"""The end of it, in seconds since 1970."""
UNMAPPED = ("failed to map", "cannot allocate", "out of memory")
"""Phrases of a loader where memory is short; there is no number of the error."""
NO_THREAD = "can't start new thread"


class _Messages(io.TextIOWrapper):
    """Standard error: what can't be shown there isn't, and the work goes on."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            _discard(self.fileno())
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _discard(self.fileno())


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    signal.signal(signal.SIGTERM, _terminate)
    end_while_libraries_load()
    _open_streams()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # it was printed; Python would print it again
        _discard(sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; errors are printed as one line.

    With --json that line is a JSON object, on standard error as ever.
    """
    try:
        try:
            return _run(arguments)
        except ENDINGS as error:
            return _ended(error)
    except ENDINGS as error:  # a second signal, before the first one was reported
        return _ended(error)


def _run(arguments: Sequence[str]) -> int:
    try:
        _check_working_folder()
        _check_time()
        from cheblienet_cli.commands import call

        return call(arguments)
    except BrokenPipeError:
        _discard(sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if "--debug" in arguments:
            raise
        if isinstance(error, ImportError | SystemError) and (ending := _ending_before(error)):
            raise ending from None  # a library that was being loaded made another error of it
        code = USAGE if isinstance(error, OF_USAGE) else FAILED
        message = _with_notes(_explained(error), error)
        if "--json" in arguments:
            print(_as_json(error, message, code), file=sys.stderr, flush=True)  # noqa: T201
        else:
            _tell(f"Error: {message}")
        return code


def _open_streams() -> None:
    """Make streams that were closed, and take their descriptors, which a file would get else.

    Names that are no text in the terminal's encoding are printed as the bytes they are.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    binary = open(STANDARD_ERROR, "wb", closefd=False)  # noqa: SIM115
    sys.stderr = _Messages(binary, encoding, "backslashreplace", line_buffering=True)


def _discard(descriptor: int) -> None:
    """Let what is written to a descriptor vanish from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _check_working_folder() -> None:
    try:
        os.getcwd()  # noqa: PTH109 - pathlib's does the same
    except OSError as error:
        error.filename = "The working folder"
        raise


def _check_time() -> None:
    """See that libraries can represent the time, also the one that numpy is given."""
    try:
        time.time()
    except OverflowError as error:
        raise errors.CheblienetError(
            "The clock of this machine must be before the year 2262. Set it."
        ) from error
    told = os.environ.get(BUILD_TIME, "0")
    if not (told.isascii() and told.isdigit()) or len(told) > 18 or int(told) > YEAR_9999:
        raise errors.InputError(
            f"{BUILD_TIME} must be whole seconds since 1970, in [0, {YEAR_9999}]. "
            f"Got {quoted(told)}. Correct or unset it."
        )


def _explained(error: Exception) -> str:
    """The message of an error; it may have come before commands were loaded."""
    if _memory_is_short(error):
        return "out of memory; build fewer vertices or free some."
    if isinstance(error, errors.CheblienetError):
        return spelling.message(error)
    if _files_are_short(error):
        return "too many open files; close some, or allow more with `ulimit -n`."
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename} can't be used: {error.strerror}."
    if isinstance(error, OSError) and error.errno in FULL_DISK:  # of standard output: no file's
        return "what was to be printed can't be written: no space left; free some."
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} (rerun with --debug for the traceback)"


def _memory_is_short(error: Exception) -> bool:
    """True if memory could not be had, which libraries that are loaded say in a text."""
    if isinstance(error, ImportError):
        return any(said in str(error).lower() for said in UNMAPPED)
    if isinstance(error, RuntimeError):  # a thread is memory for its stack
        return str(error) == NO_THREAD
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM


def _files_are_short(error: Exception) -> bool:
    """Check whether files could not be opened, which a loader says in a text."""
    if isinstance(error, ImportError):
        return os.strerror(errno.EMFILE).lower() in str(error).lower()
    return getattr(error, "errno", None) in {errno.EMFILE, errno.ENFILE}


def _tell(message: str) -> None:
    """Print a message on stderr, as one line whatever it quotes."""
    print(one_line(message), file=sys.stderr, flush=True)  # noqa: T201


def _as_json(error: Exception, message: str, code: int) -> str:
    """An error as one JSON object: its message, kind, the parameter at fault, the exit code."""
    parameter = {"parameter": error.field} if isinstance(error, errors.SpecError) else {}
    kind = type(error).__name__
    return json.dumps({"error": one_line(message), "kind": kind, **parameter, "exit_code": code})


def _ended(error: BaseException) -> int:
    """Print that a signal ended the command, and what stays; return the exit code."""
    from cheblienet_graphs.machine.interrupts import interrupts_ignored  # multiprocessing

    terminated = isinstance(error, Terminated)
    with interrupts_ignored():
        message = _with_notes("Terminated." if terminated else "Interrupted.", error)
        _tell(message)
    return TERMINATED if terminated else INTERRUPTED


def _chain(error: BaseException, *, contexts: bool) -> list[BaseException]:
    """An error and its causes, the first one first."""
    chain = list[BaseException]()
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.insert(0, cause)
        cause = cause.__cause__ or (cause.__context__ if contexts else None)
    return chain


def _ending_before(error: Exception) -> BaseException | None:
    """The signal's exception that an error comes from, if any."""
    return next((e for e in _chain(error, contexts=True) if isinstance(e, ENDINGS)), None)


def _with_notes(message: str, error: BaseException) -> str:
    """A message with what was noted on the way, such as what can be resumed.

    A second Ctrl-C replaces the first one's error, and click wraps either in another error.
    """
    chain = _chain(error, contexts=isinstance(error, ENDINGS))
    notes = [note for cause in chain for note in getattr(cause, "__notes__", [])]
    return " ".join(dict.fromkeys([message, *map(spelling.spelled, notes)]))


def _terminate(_number: int, _frame: object) -> NoReturn:
    raise Terminated
