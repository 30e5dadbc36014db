"""Values in messages: cut to what a reader needs, on one line, without control characters.

Rows of a table are aligned here, too.
"""

import reprlib
from collections.abc import Iterable, Sequence

VALUE = 80
"""Most characters of a value."""
MESSAGE = 2_000
"""Most characters of a message."""
NAMES = 20
"""Most names of a list."""

LONGEST_NUMBER = 256
"""Most bits of an integer; Python itself refuses to write very long ones."""


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
