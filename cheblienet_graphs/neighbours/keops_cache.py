"""KeOps guarded: a cache in which each file is whole, and what to do where it fails."""

import atexit
import contextlib
import fcntl
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from cheblienet_graphs.errors import CheblienetError, Remedy, Words

PRUNED = Remedy("engine", "pruned")
MARK = "cheblienet-compiling"
"""The file in the cache that is locked while KeOps compiles. It names those that were there before,
and is empty when all are whole."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Hold a lock while KeOps is imported or compiles: two processes would disturb each other.

    A process that is killed may leave half a file, which KeOps would load ever after: the next one
    removes what came since the lock was taken.

    Raises:
        CheblienetError: KeOps fails; the message says what to do.
    """
    try:
        with _locked(cache_folder()):
            yield
    except (Exception, SystemExit) as error:
        raise CheblienetError(remedy(error)) from error


def save_whole(formulas: Any) -> None:
    """Let a file in which KeOps keeps formulas be replaced when the process ends, not rewritten.

    KeOps rewrites it in place, a megabyte, and another process that starts may read half of it.

    Args:
        formulas: a `keopscore.utils.Cache.Cache` or `Cache_partial`.
    """
    atexit.unregister(formulas.save_cache)
    atexit.register(_replace, formulas)


def cache_folder() -> Path:
    """Where KeOps keeps what it compiled, of this machine and this Python.

    It is known before KeOps is imported, as that compiles, too, where there is a GPU.

    Raises:
        ModuleNotFoundError: KeOps is not installed.
    """
    own = os.environ.get("KEOPS_CACHE_FOLDER")
    folder = Path(own) if own else Path.home() / ".cache" / f"keops{version('keopscore')}"
    return folder / f"{'_'.join(platform.uname()[:3])}_p{platform.python_version()}"


def remedy(error: BaseException) -> Words:
    """One line on what is wrong and what to do.

    Args:
        error: what KeOps raised.
    """
    if isinstance(error, ModuleNotFoundError) and error.name in ("keopscore", "pykeops"):
        return Words("KeOps is not installed: pip install pykeops, or use ", PRUNED, ".")
    cache = cache_folder()
    if not _writable(cache):
        return Words(
            f"KeOps can't write to its cache in {cache}. Set KEOPS_CACHE_FOLDER to a folder that "
            "can be written, or use ",
            PRUNED,
            ".",
        )
    compiler = os.environ.get("CXX") or "g++"
    if shutil.which(compiler) is None:
        return Words(
            f"KeOps can't compile: there is no C++ compiler {compiler}. Install one (Debian: apt "
            "install g++) or set CXX, or use ",
            PRUNED,
            ", which needs none.",
        )
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return Words(
        f"KeOps can't compile or run here ({said}). See that {compiler} works and for a GPU that "
        f"the CUDA toolkit with nvrtc is there, delete {cache} if it may be damaged, or use ",
        PRUNED,
        ", which needs none of these.",
    )


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    mark = _mark_of(cache)
    if mark is None:
        yield
        return
    with mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        mark.seek(0)
        _remove_unfinished(cache, mark.read())
        mark.truncate(0)
        mark.write(json.dumps(sorted(_files(cache))))
        mark.flush()
        yield
        mark.truncate(0)


def _mark_of(cache: Path) -> TextIO | None:
    """The file to lock; None where nothing can be written, and so nothing half, either."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return (cache / MARK).open("a+")
    except OSError:
        return None


def _remove_unfinished(cache: Path, mark: str) -> None:
    try:
        before = json.loads(mark)
    except ValueError:  # empty, or half of one: it is written before anything comes
        return
    for file in _files(cache) - set(before):
        (cache / file).unlink(missing_ok=True)


def _files(cache: Path) -> set[str]:
    return {file.name for file in cache.glob("*") if file.is_file()}


def _replace(formulas: Any) -> None:
    file = Path(formulas.cache_file)
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    formulas.cache_file = str(temporary)
    # No room, or a cache that can't be written to: the file stays as it was.
    with contextlib.suppress(OSError):
        try:
            formulas.save_cache()
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)


def _writable(folder: Path) -> bool:
    """Whether a folder can be written to; it is made if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
