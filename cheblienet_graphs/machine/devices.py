"""The GPU that a process takes, of several."""

import fcntl
import logging
import os
import tempfile
from functools import lru_cache
from pathlib import Path


@lru_cache
def own_device(device: str) -> str:
    """The device for this process: of several GPUs one that no other build of this user has.

    Worker processes may have GPUs where the building process has none, which then searches its own
    blocks on its CPU. The neighbours found are the same.

    Args:
        device: "cpu" or "cuda".

    Returns:
        "cpu", or "cuda:0" and so on.
    """
    if device != "cuda":
        return device
    import torch  # slow to import, stencil builds do without

    count = torch.cuda.device_count()
    if count == 0:
        logging.getLogger(__name__).info("This process sees no CUDA device and takes its CPU.")
        return "cpu"
    return f"cuda:{free_index(count, Path(tempfile.gettempdir()))}"


def free_index(count: int, folder: Path) -> int:
    """The least of `count` numbers that no living process holds; from now on this process holds it.

    Where all are held, or can't be locked, one is shared.

    Args:
        count: at least 1.
        folder: on this machine, for one lock file per number.
    """
    for index in range(count):
        file = folder / f"cheblienet-device-{os.getuid()}-{index}.lock"
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:  # of another user, or a link: all may write to the folder
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
        else:
            return index  # the descriptor, and so the lock, stays until the process ends
    return os.getpid() % count
