"""The progress of examinations."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cheblienet_graphs.typing import Progress


@contextmanager
def line_on_stderr(*, shown: bool) -> Iterator["Progress | None"]:
    """A line on stderr; few computations need the most steps there may be, so it shows no share."""
    if not shown:
        yield None
        return
    from tqdm import tqdm  # help does without

    with tqdm(bar_format="{desc}", leave=False, file=sys.stderr) as line:

        def update(what: str, done: int, total: int) -> None:
            steps = f", {done:,} of at most {total:,} products" if total else ""
            line.set_description_str(f"{what}{steps}")

        yield update
