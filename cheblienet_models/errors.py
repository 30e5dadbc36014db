"""Everything this package raises on purpose, besides ValueError for wrong shapes."""

import reprlib

VALUE = 80
"""Characters of a value in a message at most,"""
MESSAGE = 2_000
"""and of a message."""
LONGEST_NUMBER = 256
"""Bits of an integer at most; Python itself refuses to write very long ones."""


class _Short(reprlib.Repr):
    """Values of which only the beginning and the end are written."""

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002
        bits = x.bit_length()
        return f"an integer of {bits} bits" if bits > LONGEST_NUMBER else repr(x)


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = VALUE


def quoted(value: object) -> str:
    """A value as Python writes it, of which at most 80 characters are shown."""
    return one_line(_SHORT.repr(value), VALUE)


def one_line(text: str, most: int = MESSAGE) -> str:
    """At most so many characters of a text; those that can't be printed are escaped."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


class StoreError(Exception):
    """A store or graph can't be opened, isn't valid, or isn't the one that was asked for.

    The message is one line of at most 2,000 characters, whatever it quotes.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class UnreadableError(StoreError):
    """The machine refused to read a file; that says nothing of what was published."""


class MissingEigenpairsError(StoreError, AttributeError):
    """A graph has no stored eigenpairs; also an AttributeError, so that hasattr() is False."""
