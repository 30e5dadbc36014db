"""Blocks of a tutorial, run: what pictures of pages are drawn from."""

import os
import re
import tempfile
from collections.abc import Iterator
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
