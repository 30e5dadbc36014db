"""Blocks of a tutorial, run, from which the scripts here draw its picture."""

import argparse
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "tutorials"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@contextmanager
def names_of(page: str) -> Iterator[dict[str, Any]]:
    """The names that blocks of a page define, run in a folder that then goes away."""
    names: dict[str, Any] = {}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in BLOCK.findall((PAGES / f"{page}.md").read_text()):
                exec(block, names)  # noqa: S102 - it is a page of ours
            yield names
        finally:
            os.chdir(here)


def draw_page(page: str, draw: Callable[[Path, dict[str, Any]], None]) -> None:
    """Draw a page's picture into the file that the command line names.

    Args:
        page: its name, without a suffix.
        draw: called with the file and the names of the page's blocks.
    """
    parser = argparse.ArgumentParser(description=f"Draw the picture of {page}.md.")
    parser.add_argument("path", type=Path)
    target = parser.parse_args().path.resolve()
    with names_of(page) as names:
        draw(target, names)
