"""What commands print besides sentences: JSON, tables, progress."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


def show(value: Any) -> None:
    """Print a text, or JSON types as one line."""
    click.echo(value if isinstance(value, str) else json.dumps(value, allow_nan=False))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows, columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def count(number: int, one: str) -> str:
    """'1 level', '2 levels'."""
    return f"{number:,} {one}{'s' if number != 1 else ''}"


@contextmanager
def progress(
    *, shown: bool = True, share: bool = True
) -> Iterator[Callable[[str, int, int], None] | None]:
    """A line on a terminal's stderr, by what takes a stage, its steps done and all its steps.

    Args:
        shown: whether it is wanted.
        share: whether it shows how much is done. Few examinations need the most steps there may be.
    """
    if not (shown and sys.stderr.isatty()):
        yield None
        return
    from tqdm import tqdm  # help does without

    form = None if share else "{desc}"
    with tqdm(unit=" entries", unit_scale=True, leave=False, bar_format=form) as bar:

        def update(what: str, done: int, total: int) -> None:
            if total and not share:
                what += f", {done:,} of at most {total:,} products"
            if bar.desc != what:  # another sweep, with its own rate and time left
                bar.set_description_str(what, refresh=False)
                bar.reset(total)
                bar.initial = done
            bar.n = done
            bar.refresh()

        yield update
