"""The page in a file."""

import uuid
from pathlib import Path

from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.store.durable import replace, write_errors
from cheblienet_graphs.store.export import check_output


def check_file(file: Path) -> None:
    """Check that a page can be written to a file, before there is one.

    Raises:
        SpecError: it is a folder.
        StoreError: its folder is missing, or part of a store.
    """
    if file.is_dir():
        raise SpecError("html", "a file", f"{file}, a folder")
    if not file.parent.is_dir():
        raise StoreError(
            f"{file} can't be written: there is no folder {file.parent}; make it or choose another "
            "`html`."
        )
    check_output(file, "html")


def write_page(document: str, file: Path) -> None:
    """Write a page, or replace a file by it, whole or not at all.

    Raises:
        SpecError: the file is a folder.
        StoreError: it can't be written.
    """
    check_file(file)
    with write_errors(file, "No report was written"):
        replace(file, document.encode(), file.with_name(f".{uuid.uuid4().hex}.html"))
