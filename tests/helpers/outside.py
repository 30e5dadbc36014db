"""Files outside of a store that no command may touch, and what shows that none did."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map, open_or_build
from cheblienet_graphs.archives.zips import import_zip
from cheblienet_graphs.assembly.pipeline import dry_run
from cheblienet_graphs.store import refs
from cheblienet_graphs.store.leftovers import clean

SPEC = GraphSpec("r2", 8)
NAME = "r2-8x8"
OTHER = GraphSpec("r2", 12, levels=1)
SPHERE = GraphSpec("s2", subdivisions=1)

COMMANDS: dict[str, Callable[[Path], object]] = {
    "clean": clean,
    "build": lambda store: build(OTHER, store),
    "build again": lambda store: build(SPEC, store, force=True),
    "resume": lambda store: build(OTHER, store, resume=True),
    "dry run": lambda store: dry_run(OTHER, store),
    "open or build": lambda store: open_or_build(OTHER, store),
    "map": lambda store: build_map(MapSpec(SPHERE, SPHERE, neighbors=3), store),
    "import": lambda store: import_zip(store.parent / "g.zip", store, "copy"),
    "tag": lambda store: refs.tag(store, NAME, "paper"),
    "untag": lambda store: refs.untag(store, NAME, "kept"),
    "remove": lambda store: refs.remove(store, f"{NAME}@v001"),
    "prune": lambda store: refs.prune(store, NAME, 1),
}
"""All that writes beside a store."""

HEX = [uuid.UUID(int=n, version=4).hex for n in range(8)]
"""Names as builds give them to what they stage."""


def victim(folder: Path) -> Path:
    """A folder with all that deleting by name could take for what a killed build left."""
    for name in ("sub", HEX[0], f"{HEX[1]}/version", f"{HEX[1]}/finished", f"opening-{'0' * 32}"):
        (folder / name).mkdir(parents=True)
    for name in ("a", "sub/b", f"{HEX[0]}/c", f"{HEX[2]}.json", f"{HEX[1]}/build.json"):
        (folder / name).write_text("mine")
    (folder / "a").chmod(0o400)
    return folder


def state(folder: Path) -> dict[str, tuple[int, object]]:
    """Mode of everything below a folder, with contents of files and targets of links."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, _contents(path))
        for path in [folder, *folder.rglob("*")]
    }


def _contents(path: Path) -> object:
    if path.is_symlink():
        return path.readlink()
    return path.read_bytes() if path.is_file() else None


def whole_path(path: str | int | os.PathLike[str], folder: int | None = None) -> str:
    """The path of a file that is named as a call of the system has it: by a descriptor, or in a
    folder that is open.
    """
    if isinstance(path, int):
        return str(Path(f"/proc/self/fd/{path}").readlink())
    return os.fspath(path) if folder is None else f"{whole_path(folder)}/{os.fspath(path)}"
