"""Progress as a bar on a terminal; the library itself reports it to a function."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
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
