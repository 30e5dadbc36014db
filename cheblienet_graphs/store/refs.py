"""The versions of a graph and their names, changed under a lock."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cheblienet_graphs.errors import StoreError, UnknownGraphError, listed, quoted
from cheblienet_graphs.limits import Number, integer
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.durable import FULL_DISK, check_writable, write_errors
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.groups import drop_copies, set_refs
from cheblienet_graphs.store.removal import delete
from cheblienet_graphs.store.staging_folder import locked, locked_alone

LIKE_VERSION = re.compile(r"v[0-9]+")
UNCHANGED = "Nothing was changed"


@dataclass(frozen=True)
class Removed:
    """Versions of a graph that were deleted.

    Args:
        graph: its name.
        versions: their names, oldest first.
        nbytes: size of their files; processes that have them mapped still use that disk space.
        spared: version -> refs, for versions that stay only because refs name them.
    """

    graph: str
    versions: tuple[str, ...]
    nbytes: int
    spared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def tag(store: str | Path, name: str, ref: str) -> Path:
    """Give a version a further name, or move that name to it.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF.
        ref: the name to give.

    Returns:
        The version's folder.

    Raises:
        UnknownGraphError: there is no such version, or `ref` can't be a name.
        StoreError: the store can't be written to.
    """
    _check_ref(ref)
    with _changing(store) as (place, staging):
        version = catalog.resolve(place, name)
        check_writable(Path(version.parent))
        set_refs(version.parent, catalog.refs(version.parent) | {ref: version.name}, staging)
    return Path(version)


def untag(store: str | Path, name: str, ref: str) -> None:
    """Remove a ref of a graph.

    Raises:
        UnknownGraphError: there is no such graph or ref.
        StoreError: the store can't be written to.
    """
    _check_ref(ref)
    with _changing(store) as (place, staging):
        graph = catalog.resolve(place, name).parent
        refs = catalog.refs(graph)
        if refs.pop(ref, None) is None:
            raise UnknownGraphError(f"{graph.name} has no ref {quoted(ref)}.")
        check_writable(Path(graph))
        set_refs(graph, refs, staging)


def remove(store: str | Path, name: str, *, force: bool = False) -> Removed:
    """Delete a version. Processes that have mapped it keep it; its number is never used again.

    Args:
        store: path of the store.
        name: NAME@v001 or NAME@REF.
        force: delete it even if refs other than `latest` name it, and these with it.

    Returns:
        What was deleted.

    Raises:
        UnknownGraphError: there is no such version, or `name` names none.
        StoreError: refs name it, or the store can't be written to.
    """
    with _removing(store) as (place, staging):
        version = catalog.resolve(place, name)
        graph = version.parent.name
        if "@" not in (name or ""):
            raise UnknownGraphError(
                f"Say which version: {graph}@v001, or {graph}@latest; or how many to `keep`.",
            )
        removed = _deleted(version.parent, [version.name], staging, force=force)
        if removed.spared:
            named = f"{graph}@{version.name} is named {listed(removed.spared[version.name])}"
            raise StoreError(f"{named}; `force=True` removes it anyway.")
        return removed


def prune(store: str | Path, name: str, keep: Number, *, force: bool = False) -> Removed:
    """Delete all versions of a graph but the newest.

    Args:
        store: path of the store.
        name: of the graph.
        keep: number of the newest versions that stay, at least 1. Older ones that refs other than
            `latest` name stay too.
        force: delete these as well, with the refs.

    Returns:
        What was deleted, possibly nothing.

    Raises:
        SpecError: `keep` is less than 1.
        UnknownGraphError: there is no such graph, or `name` names a version.
        StoreError: the store can't be written to; some versions may be deleted by then.
    """
    keep = integer("keep", keep, 1, layout.LAST_VERSION, "an integer from 1")
    if not isinstance(name, str) or "@" in name:
        raise UnknownGraphError(f"Name the graph alone, not a version of it. Got {quoted(name)}.")
    with _removing(store) as (place, staging):
        graph = catalog.resolve(place, name).parent
        older = catalog.versions(graph)[:-keep]
        return _deleted(graph, older, staging, force=force)


def _deleted(graph: Folder, versions: list[str], staging: int | None, *, force: bool) -> Removed:
    """Delete versions of a graph; without force no version with another ref than `latest`."""
    refs, nbytes = catalog.refs(graph), 0
    removed: list[str] = []
    spared: dict[str, tuple[str, ...]] = {}
    for version in versions:
        naming = sorted(ref for ref, v in refs.items() if v == version and ref != "latest")
        if naming and not force:
            spared[version] = tuple(naming)
            continue
        verb = "was" if len(removed) == 1 else "were"
        outcome = f"{listed(removed)} {verb} removed before that" if removed else UNCHANGED
        with write_errors(graph.parent, outcome):
            check_writable(Path(graph))
            nbytes += delete(graph, version, staging)
        removed.append(version)
    if staging is not None:
        with suppress(OSError, StoreError):  # of a full disk; then `clg verify` names them
            drop_copies(graph.parent, staging)
    return Removed(graph.name, tuple(removed), nbytes, spared)


@contextmanager
def _changing(store: str | Path) -> Iterator[tuple[Folder, int]]:
    """Hold the lock of a store that must exist; errors of the system become a StoreError.

    Yields:
        The store, and a descriptor of its staging folder.
    """
    place = catalog.existing_store(store)
    with write_errors(place, UNCHANGED), locked(Path(place)) as staging:
        yield place, staging


@contextmanager
def _removing(store: str | Path) -> Iterator[tuple[Folder, int | None]]:
    """Hold the lock of a store as `_changing` does, also on a disk that is full.

    Yields:
        The store, and a descriptor of its staging folder; None where there is no space for one.
    """
    place = catalog.existing_store(store)
    with write_errors(place, UNCHANGED), ExitStack() as held:
        staging: int | None = None
        try:
            staging = held.enter_context(locked(Path(place)))
        except OSError as error:
            if error.errno not in FULL_DISK:
                raise
            held.enter_context(locked_alone(Path(place)))
        yield place, staging


def _check_ref(ref: str) -> None:
    named = isinstance(ref, str) and layout.NAME.fullmatch(ref)
    if not named or LIKE_VERSION.fullmatch(ref) or ref == "latest":
        raise UnknownGraphError(
            "A ref must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or "
            f"digit, not look like a version and not be 'latest'. Got {quoted(ref)}."
        )
