"""Builds that are interrupted at a counted moment, and what tells two results apart."""

from pathlib import Path

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.layout import check_version


def manifest(store: Path) -> dict[str, object]:
    """What identifies every byte of the only graph's newest version, and what is recorded of it."""
    [graph] = [path for path in store.iterdir() if path.is_dir()]
    attributes = check_version(graph / layout.versions(graph)[-1])
    return {"manifest": attributes["manifest"], "levels": attributes["levels"]}


def inodes(store: Path) -> dict[Path, int]:
    """Records of finished blocks: a block that is redone makes a new file."""
    staging = layout.staging_folder(store)
    return {path: path.stat().st_ino for path in staging.glob("*/finished/*/*.json")}


class Stop(BaseException):
    """What interrupts a build in these tests."""


def interrupted(spec: GraphSpec, store: Path, after: int, **how: object) -> Stop | None:
    """Build, and stop at the progress call of that number; None where it ends before."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise Stop

    try:
        build(spec, store, progress=count, **how)
    except Stop as stop:
        return stop
    return None
