"""Ways to damage a file of a store."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from sealing import writable


def edit(path: Path, change: Callable[[dict], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def extend(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def to_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def to_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def shape(value: object) -> Callable[[Path], None]:
    return lambda path: edit(path, lambda d: d.update(shape=value))


def field(**values: object) -> Callable[[Path], None]:
    return lambda path: edit(path, lambda d: d.update(values))


def writable_copy(store: Path, target: Path) -> Path:
    """A copy of a store, or of a graph, that may be changed."""
    return writable(Path(shutil.copytree(store, target)))
