"""Files outside of a store that no command may touch, and what shows that none did."""

import uuid
from pathlib import Path

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
