"""Staging a version beside the store, then publishing it with one rename.

Until the rename nothing is visible; after it nothing changes. An interrupted build leaves files in
the staging folder only, where a later build can resume it.
"""

import errno
import json
import logging
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import index_type
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.machine.interrupts import interrupts_deferred
from cheblienet_graphs.store import durable, layout, leftovers, staged, staging_folder
from cheblienet_graphs.store.durable import locked_folder, sha256_of, write_errors
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.publishing import publish
from cheblienet_graphs.store.sharing import group_rights
from cheblienet_graphs.store.staged import Identity, Records, StagedArray, StagedCsr, Writer
from cheblienet_graphs.store.staging_folder import locked, tidy

HASHED_AT_ONCE = 4
"""Files read at once for the manifest."""
SYNCED_AT_ONCE = 8
"""Files and folders made durable at once: a journal is committed for all that wait for it."""


@dataclass(frozen=True)
class Named:
    """Names of an array's dimensions, and attributes beside ours, for other readers."""

    dimensions: tuple[str, ...] = ()
    attributes: layout.Attributes = field(default_factory=dict)


UNNAMED = Named()
_GRAPH = "name", "spec_sha256"
"""Fields of an identity that say which graph is built."""
Find = Callable[[], str | None]
"""Looks for a version; None where there is none."""


class Staging:
    """A staged version. Use as a context manager: leaving it unpublished removes it.

    It stays, to be resumed, where ranges of rows are recorded as finished. Its folder is locked as
    long as the building process lives, so that folders of killed builds can be recognized.

    Args:
        store: the store it will be published in; need not exist yet.
        name: of the graph.
        nbytes: disk space the arrays will take.
        identity: of the specification and the software; a resumed build must have the same.
        resume: continue a build of the same identity, if there is one.

    Attributes:
        folder: of the staged version, once the context is entered.
        resumed: whether an earlier build is continued.
        published: the version's name, once it is published.
    """

    folder: Path

    def __init__(
        self,
        store: Path,
        name: str,
        nbytes: int,
        *,
        identity: Identity | None = None,
        resume: bool = False,
    ) -> None:
        self._store, self._name, self._nbytes = store, name, nbytes
        self._identity, self._resume = identity, resume
        self._held = ExitStack()
        self._open = self.resumed = False
        self._notes: list[str] = []
        self.published: str | None = None

    @property
    def path(self) -> Path:
        """The version's folder."""
        return self.folder / staged.VERSION

    @property
    def records(self) -> Records:
        """The records of finished ranges."""
        return Records(self.folder / staged.FINISHED)

    def __enter__(self) -> Self:
        """Make the folder, or take that of the build to resume.

        Raises:
            StoreError: it can't be written to.
        """
        self.check()
        try:
            with write_errors(self._store):
                with locked(self._store) as staging:
                    self._take_folder(staging)
                self._prepare()
        except BaseException as error:
            self.close(error)
            raise
        return self

    def check(self) -> None:
        """Check, without writing, that the version could be staged and published.

        Raises:
            StoreError: as entering the context.
        """
        staging_folder.check(self._store)
        with write_errors(self._store):
            places = layout.staging_folder(self._store), self._store / self._name
            nearest, target = map(durable.check_writable, places)
            if nearest.stat().st_dev != target.stat().st_dev:
                apart = f"it is on another file system than {nearest}, where builds are staged"
                raise OSError(errno.EXDEV, apart)
            if not self._resume:  # which has some of its space already
                self._check_space(nearest)

    def _check_space(self, folder: Path, taken: int = 0) -> None:
        free = shutil.disk_usage(folder).free
        if self._nbytes > free + taken:
            missing = f"{self._nbytes - taken:,} bytes are needed, {free:,} are free"
            raise OSError(errno.ENOSPC, missing)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(error)

    def _take_folder(self, staging: int) -> None:
        """Take a folder for this build and lock it; the caller must hold the store's lock.

        Folders of killed builds that can't be resumed are deleted.

        Args:
            staging: descriptor of the staging folder.
        """
        place = layout.staging_folder(self._store)
        owner = staging_folder.owner_of_new_files(staging) if self._resume else None
        for name in leftovers.builds(staging) if self._resume else ():
            with ExitStack() as held:
                try:
                    folder = held.enter_context(locked_folder(name, staging))
                except OSError:  # a build at work, another user's, no folder, or gone
                    continue
                if not leftovers.is_plain(folder, owner):
                    continue
                identity = staged.identity_of(place / name)
                if identity is None:
                    leftovers.discard(name, staging)
                elif identity == self._identity:
                    self.folder, self._held = place / name, held.pop_all()
                    self._open = self.resumed = True
                    return
                elif self._identity and all(identity.get(k) == self._identity[k] for k in _GRAPH):
                    begun_again = (
                        "The unfinished build of %s is another version's, and is begun again; "
                        "`clg verify --clean` deletes what is left of it."
                    )
                    logging.getLogger(__name__).warning(begun_again, self._name)
        self.folder = place / uuid.uuid4().hex
        self.folder.mkdir(0o700)  # others can put no links into it
        self._open = True
        self._held.enter_context(locked_folder(self.folder))

    def _prepare(self) -> None:
        taken = 0
        if self.resumed:
            for file in (path for path in self.folder.rglob("*") if path.is_file()):
                file.chmod(0o644)  # read-only if it was about to be published
                taken += file.stat().st_blocks * 512
        self._check_space(self.folder, taken)
        if not self.resumed:
            for part in (staged.VERSION, staged.FINISHED):
                (self.folder / part).mkdir()
            if self._identity is not None:
                identity = json.dumps(self._identity).encode()
                durable.write(self.folder / leftovers.IDENTITY, identity)

    def close(self, error: BaseException | None = None) -> None:
        """Keep the folder where a later build can resume it, else remove it; note what stays.

        Signals are deferred. Closing it again adds the same notes to another error.

        Args:
            error: the one that ended the build, if any; the notes are added to it.
        """
        with interrupts_deferred():
            if self._open:
                self._open = False
                with self._held:
                    self._notes += self._kept_or_discarded(error)
            tidy(self._store)
            if error is None:
                for note in self._notes:
                    logging.getLogger(__name__).warning(note)
                return
            named = f"{self._name}@{self.published}"
            notes = [f"{named} is published."] if self.published else []
            known = getattr(error, "__notes__", [])
            for note in (note for note in [*notes, *self._notes] if note not in known):
                error.add_note(note)

    def _kept_or_discarded(self, error: BaseException | None) -> Iterator[str]:
        """Notes on the files that stay."""
        resumable = not (self.published or error is None or isinstance(error, SpecError))
        if kept := len(self.records) if resumable else 0:
            blocks = "1 finished block is" if kept == 1 else f"{kept:,} finished blocks are"
            yield (
                f"{blocks} kept: the same build with `resume=True` continues from there, `clg "
                "verify --clean` deletes them."
            )
            return
        try:
            with durable.opened_folder(self.folder.parent) as staging:
                leftovers.discard(self.folder.name, staging)
        except FileNotFoundError:  # somebody else deleted all that is staged
            return
        except OSError as refused:
            where = self.folder.parent
            yield f"{where} can't be cleared: {refused.strerror}; try `clg verify --clean`."

    def csr(self, path: str, shape: tuple[int, int], nnz: int) -> StagedCsr:
        """Reserve a float32 CSR matrix; indices are int32 while everything fits."""
        index = index_type(shape, nnz)
        with write_errors(self._store):
            (self.path / path).mkdir(parents=True, exist_ok=True)
            document = layout.group_document(layout.csr_attributes(shape))
            staged.write_document(self.path / path, document)
        parts = {"data": (nnz, "float32"), "indices": (nnz, index), "indptr": (shape[0] + 1, index)}
        return StagedCsr(
            *(self._array(self.path / path / k, (n,), kind, {}) for k, (n, kind) in parts.items())
        )

    def dense(
        self,
        path: str,
        shape: Sequence[int],
        dtype: str,
        columns: Sequence[str] = (),
        named: Named = UNNAMED,
    ) -> StagedArray:
        """Reserve a dense array; dtype is a key of layout.DTYPES."""
        attributes = layout.dense_attributes(columns, named.attributes)
        return self._array(self.path / path, shape, dtype, attributes, named.dimensions)

    def fill(self, array: StagedArray, values: npt.ArrayLike, *, durable: bool = False) -> None:
        """Write a whole array; durable where others read it, or records follow from it."""
        with write_errors(self._store), Writer(durable=durable) as out:
            out.write(array, 0, values)

    def places(
        self, folder: str, places: npt.NDArray[np.integer], points: int, named: Named = UNNAMED
    ) -> None:
        """Write where points inside a mask are among all, of which there are so many."""
        kind = index_type((points, 1), len(places))
        path = f"{folder}/{layout.BASE_INDEX}"
        self.fill(self.dense(path, places.shape, kind, named=named), places)

    def empty(self, path: str, named: Named) -> StagedArray:
        """Reserve an array without elements, which is there for its attributes."""
        return self._array(self.path / path, (0,), "int32", named.attributes, named.dimensions)

    def scratch(self, path: str, shape: Sequence[int], dtype: str) -> StagedArray:
        """Reserve an array that is never published."""
        return self._array(self.folder / staged.SCRATCH / path, shape, dtype, {})

    def _array(
        self,
        node: Path,
        shape: Sequence[int],
        dtype: str,
        attributes: layout.Attributes,
        names: Sequence[str] = (),
    ) -> StagedArray:
        with write_errors(self._store):
            return StagedArray(node, tuple(shape), dtype).reserve(attributes, names)

    def publish(self, attributes: layout.Attributes, find: Find | None = None) -> str:
        """Seal the version under these attributes, make it durable and visible.

        Args:
            attributes: of the version.
            find: looks for an equal version, which another process may have published meanwhile;
                where there is one, this one is not published.

        Returns:
            Its version, "v001" or the next free number, or that of the equal one.

        Raises:
            StoreError: the store can't be written to, or holds something else of that name.
        """
        with write_errors(self._store):
            (self.path / DOCUMENT).unlink(missing_ok=True)
            above = {node for file in self.path.rglob(DOCUMENT) for node in file.parent.parents}
            for node in sorted(node for node in above if self.path in node.parents):
                if not (node / DOCUMENT).exists():
                    staged.write_document(node, layout.group_document({}))
            sealed = attributes | {"manifest": self._manifest()}
            sealed["attributes_sha256"] = layout.canonical_sha256(sealed)
            staged.write_document(self.path, layout.group_document({"clg": sealed}))
        return self.publish_as_is(find)

    def publish_as_is(self, find: Find | None = None) -> str:
        """Make what is staged durable and visible; `publish` seals it first.

        Args:
            find: as of `publish`.

        Returns:
            As `publish`.

        Raises:
            StoreError: as `publish`.
        """
        with write_errors(self._store):
            paths = [self.path, *self.path.rglob("*")]
            rights = self._group_rights()
            for path in paths:
                if path.is_file():
                    path.chmod(0o444)
                elif rights:
                    path.chmod(stat.S_IMODE(path.stat().st_mode) | rights)
            durable.in_threads(durable.sync, paths, SYNCED_AT_ONCE)
            with locked(self._store) as staging:
                if find and (known := find()):
                    return known
                self.published = publish(self._store, self._name, Folder(self.path), staging)
        return self.published

    def _group_rights(self) -> int:
        """Rights that the group gets in the folders of the version."""
        around = (path for path in (self._store, self._store.parent) if path.is_dir())
        return next((group_rights(path.stat()) for path in around), 0)

    def _manifest(self) -> dict[str, dict[str, str | int]]:
        """Digest and size of each array's bytes, by its path, and of each metadata document."""
        files = [path for path in self.path.rglob("*") if path.is_file()]
        files.sort(key=lambda file: -file.stat().st_size)  # the largest are begun first
        keys = [layout.manifest_key(str(file.relative_to(self.path))) for file in files]
        sizes = [file.stat().st_size for file in files]
        digests = durable.in_threads(sha256_of, files, HASHED_AT_ONCE)
        entries = sorted(zip(keys, digests, sizes, strict=True))
        return {key: {"sha256": digest, "nbytes": size} for key, digest, size in entries}
