"""KeOps' cache on disk, guarded: KeOps takes every file that is there for a whole one."""

import atexit
import contextlib
import fcntl
import hashlib
import io
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import CheblienetError

MARK = "cheblienet-compiling.json"
"""In the cache while KeOps compiles: the files that were there before."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Hold a lock while KeOps is imported or compiles: two processes would disturb each other.

    A process that is killed may leave half a file, which KeOps would load ever after: the next one
    removes what came since the mark was set.

    Raises:
        CheblienetError: KeOps fails; the message says what to do.
    """
    chatter = io.StringIO()
    try:
        cache = cache_folder()
        identity = hashlib.sha256(str(cache).encode()).hexdigest()[:16]
        lock = Path(tempfile.gettempdir()) / f"cheblienet-keops-{os.getuid()}-{identity}.lock"
        with lock.open("w") as held, contextlib.redirect_stdout(chatter):
            fcntl.flock(held, fcntl.LOCK_EX)
            _remove_unfinished(cache)
            # A cache that can't be written to gets no half files either.
            with contextlib.suppress(OSError):
                _set_mark(cache)
            yield
            with contextlib.suppress(OSError):
                (cache / MARK).unlink()
    except (Exception, SystemExit) as error:
        raise CheblienetError(remedy(error, chatter.getvalue())) from error


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
    """
    own = os.environ.get("KEOPS_CACHE_FOLDER")
    folder = Path(own) if own else Path.home() / ".cache" / f"keops{version('keopscore')}"
    return folder / f"{'_'.join(platform.uname()[:3])}_p{platform.python_version()}"


def remedy(error: BaseException, chatter: str) -> str:
    """One line on what is wrong and what to do.

    Args:
        error: what KeOps raised.
        chatter: what it printed.
    """
    cache = cache_folder()
    if not _writable(cache):
        return (
            f"KeOps can't write to its cache in {cache}. Set KEOPS_CACHE_FOLDER to a folder that "
            "can be written, or use `engine='pruned'`."
        )
    compiler = os.environ.get("CXX") or "g++"
    if shutil.which(compiler) is None:
        return (
            f"KeOps can't compile: there is no C++ compiler {compiler}. Install one (Debian: apt "
            "install g++) or set CXX, or use `engine='pruned'`, which needs none."
        )
    said = " ".join(f"{type(error).__name__}: {error} {chatter}".split())[:300]
    return (
        f"KeOps can't compile or run here ({said}). See that {compiler} works and for a GPU that "
        f"the CUDA toolkit with nvrtc is there, delete {cache} if it may be damaged, or use "
        "`engine='pruned'`, which needs none of these."
    )


def _files(cache: Path) -> set[str]:
    return {file.name for file in cache.glob("*") if file.is_file()}


def _set_mark(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    (cache / MARK).write_text(json.dumps(sorted(_files(cache))))


def _remove_unfinished(cache: Path) -> None:
    try:
        before = json.loads((cache / MARK).read_text())
    except (OSError, ValueError):  # no mark, or half of one: it is set before anything comes
        return
    for file in _files(cache) - {*before, MARK}:
        (cache / file).unlink(missing_ok=True)


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
