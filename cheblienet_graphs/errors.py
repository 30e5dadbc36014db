"""The exceptions that this package raises on purpose, and values in their messages.

Values are cut to what a reader needs, on one line, without control characters. Rows of a table are
aligned here, too.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Self

VALUE = 80
"""Most characters of a value."""
MESSAGE = 2_000
"""Most characters of a message."""
NAMES = 20
"""Most names of a list."""
LONGEST_NUMBER = 256
"""Most bits of an integer; Python itself refuses to write very long ones."""


@dataclass(frozen=True)
class Remedy:
    """A parameter that would mend something. str() writes it as Python has it, in backticks.

    Args:
        field: its name.
        value: to be given; None where it is named alone.
    """

    field: str
    value: Any = None

    def __str__(self) -> str:
        return f"`{self.field}`" if self.value is None else f"`{self.field}={self.value!r}`"


Spell = Callable[[Remedy], str]


class Words(str):
    """A text that knows the parameters it names; str() writes them as Python has them.

    As what was found it stands in a message as it is, without quotes.

    Args:
        parts: in their order. Text stays as it is, whatever is in it; of Words the parts count.
    """

    __slots__ = ("parts",)
    parts: tuple[str | Remedy, ...]

    def __new__(cls, *parts: str | Remedy) -> Self:  # noqa: D102
        words = super().__new__(cls, "".join(map(str, parts)))
        words.parts = tuple(
            inner for part in parts for inner in (part.parts if isinstance(part, cls) else (part,))
        )
        return words

    def __repr__(self) -> str:
        return str(self)

    def __getnewargs__(self) -> tuple[str | Remedy, ...]:  # type: ignore[override]
        return self.parts

    @property
    def remedies(self) -> list[Remedy]:
        """The parameters it names, in their order."""
        return [part for part in self.parts if isinstance(part, Remedy)]

    def spelled(self, spell: Spell) -> str:
        """The text with parameters written in another way, such as that of the command line."""
        return "".join(spell(part) if isinstance(part, Remedy) else part for part in self.parts)


MISSING = Words()
"""Stands for a value that was not given."""


def another(field: str) -> Words:
    """The end of many messages: "choose another `store`."."""
    return Words("choose another ", Remedy(field), ".")


class CheblienetError(Exception):
    """The work could not be done; the message says what was wrong, what was found, what to do.

    It is one line of at most 2,000 characters, whatever it quotes.

    Args:
        message: its parts, as of `Words`.
    """

    def __init__(self, *message: str | Remedy) -> None:
        self.words = Words(*message)
        super().__init__(one_line(self.words))

    def spelled(self, spell: Spell) -> str:
        """The message with parameters written in another way, one line as well."""
        return one_line(self.words.spelled(spell))


class SpecError(CheblienetError, ValueError):
    """A value of a specification is out of range.

    `field` is the name of the field in GraphSpec; the message starts with it.
    """

    def __init__(self, field: str, accepted: str, found: object, remedy: str = "") -> None:
        self.field = field
        self._given = field, accepted, found, remedy
        got = f" Got {shown}." if (shown := quoted(found)) else ""
        self.complaint = Words("must be ", accepted, ".", got, " " if remedy else "", remedy)
        super().__init__(field, " ", self.complaint)

    def __reduce__(self) -> tuple[type["SpecError"], tuple[str, str, object, str]]:
        return type(self), self._given

    def spelled(self, spell: Spell) -> str:
        """The same; its field is a parameter, too."""
        return one_line(f"{spell(Remedy(self.field))} {self.complaint.spelled(spell)}")


class InputError(CheblienetError):
    """A file, a recipe or a command line that was given can't be read, or is not valid."""


class StoreError(CheblienetError):
    """A store can't be read or written, or isn't one of ours."""


class UnreadableError(StoreError):
    """The machine refused to read a file; that says nothing of what was published."""


class SkippedDamage(AbstractContextManager["SkippedDamage"]):
    """A block that ends where a store is damaged; what the machine refuses to read is still raised.

    Attributes:
        error: the damage; None where there is none.
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
    """At most `most` characters of a text; those that can't be printed are escaped."""
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
