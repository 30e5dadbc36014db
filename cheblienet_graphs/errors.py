"""The exceptions that this package raises on purpose, and values in their messages.

Values are cut to what a reader needs, on one line, without control characters. Rows of a table are
aligned here, too.
"""

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

VALUE = 80
"""Most characters of a value."""
MESSAGE = 2_000
"""Most characters of a message."""
NAMES = 20
"""Most names of a list."""
LONGEST_NUMBER = 256
"""Most bits of an integer; Python itself refuses to write very long ones."""


class Unquoted(str):
    """A description of what was found, which messages show as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


MISSING = Unquoted()
"""Stands for a value that was not given."""


class CheblienetError(Exception):
    """The work could not be done; the message says what was wrong, what was found, what to do.

    It is one line of at most 2,000 characters, whatever it quotes. Parameters stand in backticks as
    Python has them, `neighbors` or `weights='matched'`; the command line prints options instead.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class SpecError(CheblienetError, ValueError):
    """A value of a specification is out of range.

    Args:
        field: name of the parameter; the message starts with it.
        accepted: what the value must be.
        found: the value, or `Unquoted` words for what was found.
        remedy: sentences on what to do.
    """

    def __init__(self, field: str, accepted: str, found: object, remedy: str = "") -> None:
        self.field = field
        self._given = field, accepted, found, remedy
        got = f" Got {shown}." if (shown := quoted(found)) else ""
        self.complaint = f"must be {accepted}.{got} {remedy}".rstrip()
        super().__init__(f"{field} {self.complaint}")

    def __reduce__(self) -> tuple[type["SpecError"], tuple[str, str, object, str]]:
        return type(self), self._given


class InputError(CheblienetError):
    """A file, a recipe or a command line that was given can't be read, or is not valid."""


class StoreError(CheblienetError):
    """A store can't be read or written, or isn't one of ours."""


class UnreadableError(StoreError):
    """The machine refused to read a file; that says nothing of what was published."""


class SkippedDamage(AbstractContextManager["SkippedDamage"]):
    """A block that ends where a store is damaged; what the machine refuses to read is still raised.

    Attributes:
        error: the damage; None without damage.
    """

    error: StoreError | None = None

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, StoreError) and not isinstance(error, UnreadableError):
            self.error = error
        return self.error is not None


class SchemaError(StoreError):
    """A version has a schema that this package does not read; another cheblienet may."""


class UnknownGraphError(StoreError, KeyError):
    """No store, graph, version or ref of that name exists, or the name is ambiguous."""

    __str__ = Exception.__str__  # KeyError's would print the message's repr


class OtherGraphWarning(UserWarning):
    """A name stands, or stood, for a graph or map of another specification than the one built."""


class NotDrawnError(CheblienetError):
    """A graph has nothing of the kind that a figure shows; the message says why."""


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Say how to install a library that is not there.

    Args:
        what: needs it.
        extra: of this package, which brings the library.

    Raises:
        CheblienetError: instead of a ModuleNotFoundError.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "a library").partition(".")[0].replace("_", "-")
        raise CheblienetError(
            f"{what} needs {library}, which is not installed. Install it: "
            f"pip install 'cheblienet[{extra}]'."
        ) from error


class _Short(reprlib.Repr):
    """Writes values, long ones by their beginning and end."""

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002
        bits = x.bit_length()
        return f"an integer of {bits} bits" if bits > LONGEST_NUMBER else repr(x)


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = VALUE


def quoted(value: object) -> str:
    """A value as Python writes it, of which at most 80 characters are shown."""
    return one_line(_SHORT.repr(value), VALUE)


def one_line(text: str, most: int = MESSAGE) -> str:
    """At most `most` characters of a text; characters that can't be printed are escaped."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def listed(names: Iterable[str]) -> str:
    """'a, b, c', or the first of many and the number of the others."""
    known = list(names)
    more = f" and {len(known) - NAMES} more" if len(known) > NAMES else ""
    return ", ".join(known[:NAMES]) + more


def aligned(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Rows in columns.

    Args:
        rows: their cells.
        sides: of each column "<" or ">"; the last one is that of all further ones.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    each = [*zip(sides.ljust(len(widths), sides[-1]), widths, strict=False)]
    return [
        "  ".join(f"{c:{side}{width}}" for c, (side, width) in zip(row, each, strict=True)).rstrip()
        for row in rows
    ]
