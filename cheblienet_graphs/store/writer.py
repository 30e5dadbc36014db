"""Staging a version beside the store, then publishing it with one rename.

Until the rename nothing is visible; after it nothing changes. What an interrupted build leaves
behind lies in the staging folder only, from where a later one can go on.
"""

import errno
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder, sync, write, write_errors
from cheblienet_graphs.store.records import Records
from cheblienet_graphs.store.refs import check_graph, locked, publish, tidy
from cheblienet_graphs.store.staged import (
    StagedArray,
    StagedCsr,
    index_type,
    write_document,
)

HASHED_AT_ONCE = 4
"""Files read together for the manifest."""


class Staging:
    """A version in the making. Use as a context manager: leaving it unpublished removes it.

    Unless ranges of rows are recorded as finished: then it stays, for a build that resumes. Its
    folder is locked as long as the builder lives, so that what was left can be told apart.

    Args:
        store: the store it will be published in; need not exist yet.
        name: of the graph.
        nbytes: disk space the arrays will take.
        identity: what is built and by what; a resumed build must have the same.
        resume: go on with what a build of the same identity left, if there is such.

    Attributes:
        path: the version's folder.
        folder: what everything lies in.
        records: what is finished.
        resumed: whether something was there to go on with.

    Raises:
        StoreError: the place can't be written to, or holds something else of that name.
    """

    def __init__(
        self,
        store: Path,
        name: str,
        nbytes: int,
        *,
        identity: dict[str, Any] | None = None,
        resume: bool = False,
    ) -> None:
        self._store, self._name = store, name
        check_graph(store, name)
        staging, self.resumed = layout.staging_folder(store), False
        self._lock = ExitStack()
        with write_errors(store):
            with locked(store):
                left = self._left(staging, identity) if resume else None
                self.folder = left or staging / uuid.uuid4().hex
                if left is None:
                    self.folder.mkdir()
                    self._lock.enter_context(locked_folder(self.folder))
                self.resumed = left is not None
            self.path = self.folder / "version"
            self.records = Records(self.folder / "finished")
            try:
                self._prepare(nbytes, identity)
            except OSError:
                self._close(None)
                raise

    def _left(self, staging: Path, identity: dict[str, Any] | None) -> Path | None:
        """What another build of this identity left; locked from now on."""
        for folder in sorted(staging.iterdir()):
            file = folder / "build.json"
            try:
                if json.loads(file.read_bytes()) == identity:
                    self._lock.enter_context(locked_folder(folder, wait=False))
                    return folder
            except (OSError, ValueError):  # at work, not a build, or not whole
                continue
        return None

    def _prepare(self, nbytes: int, identity: dict[str, Any] | None) -> None:
        free, taken = shutil.disk_usage(self.folder).free, 0
        if self.resumed:
            for file in (path for path in self.folder.rglob("*") if path.is_file()):
                file.chmod(0o644)  # it may have been about to be published
                taken += file.stat().st_blocks * 512
        elif identity is not None:
            write(self.folder / "build.json", json.dumps(identity).encode())
        for folder in (self.path, self.folder / "finished"):
            folder.mkdir(exist_ok=True)
        if nbytes > free + taken:
            raise OSError(errno.ENOSPC, f"{nbytes - taken:,} bytes are needed, {free:,} are free")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        """Keep what a later build can go on with, and say so; remove everything else."""
        kept = 0 if error is None or isinstance(error, SpecError) else len(self.records)
        if error is not None and (kept or self.resumed) and not isinstance(error, SpecError):
            blocks = "1 finished block is" if kept == 1 else f"{kept:,} finished blocks are"
            error.add_note(
                f"{blocks} kept: the same build with `resume=True` goes on from there, `clg verify "
                "--clean` deletes them."
            )
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()
        with suppress(OSError):
            tidy(self._store)

    def csr(self, path: str, shape: tuple[int, int], nnz: int) -> StagedCsr:
        """Reserve a float32 CSR matrix; indices are int32 while everything fits."""
        with write_errors(self._store):
            (self.path / path).mkdir(parents=True, exist_ok=True)
            document = layout.group_document(layout.csr_attributes(shape))
            write_document(self.path / path, document)
            index = index_type(shape, nnz)
            parts = {"data": (nnz, "float32"), "indices": (nnz, index)}
            parts["indptr"] = (shape[0] + 1, index)
            return StagedCsr(
                *(
                    StagedArray(self.path / path / part, (size,), dtype).reserve({})
                    for part, (size, dtype) in parts.items()
                )
            )

    def dense(
        self, path: str, shape: Sequence[int], dtype: str, columns: Sequence[str] = ()
    ) -> StagedArray:
        """Reserve a dense array; dtype is a key of layout.DTYPES."""
        with write_errors(self._store):
            return StagedArray(self.path / path, tuple(shape), dtype).reserve(
                layout.dense_attributes(columns)
            )

    def scratch(self, path: str, shape: Sequence[int], dtype: str) -> StagedArray:
        """Reserve an array that is never published."""
        with write_errors(self._store):
            return StagedArray(scratch_folder(self.folder) / path, tuple(shape), dtype).reserve({})

    def publish(self, attributes: layout.Attributes) -> str:
        """Seal the version under these attributes, make it durable and visible.

        Returns:
            Its version, "v001" or the next free number.

        Raises:
            StoreError: the store can't be written to, or holds something else of that name.
        """
        with write_errors(self._store):
            (self.path / "zarr.json").unlink(missing_ok=True)
            for node in self._nodes():
                if node != self.path and not (node / "zarr.json").exists():
                    write_document(node, layout.group_document({}))
            sealed = attributes | {"manifest": self._manifest()}
            sealed["attributes_sha256"] = layout.canonical_sha256(sealed)
            write_document(self.path, layout.group_document({"clg": sealed}))
        return self.publish_as_is()

    def publish_as_is(self) -> str:
        """Make what is staged durable and visible; `publish` seals it first.

        Raises:
            StoreError: as `publish`.
        """
        with write_errors(self._store):
            for folder, _, files in os.walk(self.path):
                for file in (Path(folder) / name for name in files):
                    file.chmod(0o444)
                    sync(file)
                sync(Path(folder))
            return publish(self._store, self._name, self.path)

    def _nodes(self) -> Iterator[Path]:
        """Folders that are zarr nodes, which those of chunks are not."""
        for folder, folders, _ in os.walk(self.path):
            folders[:] = [name for name in folders if name != "c"]
            yield Path(folder)

    def _manifest(self) -> dict[str, dict[str, str | int]]:
        """Digest and size of each array's bytes, by its path, and of each metadata document."""
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        largest_first = sorted(files, key=lambda file: -file.stat().st_size)
        with ThreadPoolExecutor(HASHED_AT_ONCE) as pool:
            digests = dict(zip(largest_first, pool.map(_sha256, largest_first), strict=True))
        return {
            layout.manifest_key(str(file.relative_to(self.path))): {
                "sha256": digests[file],
                "nbytes": file.stat().st_size,
            }
            for file in files
        }


def scratch_folder(staging: Path) -> Path:
    """Where a staged version keeps arrays that are never published."""
    return staging / "scratch"


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
