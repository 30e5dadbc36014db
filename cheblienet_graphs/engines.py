"""Which engine, on which device."""

import fcntl
import logging
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cheblienet_graphs.errors import SpecError

ENGINES = ("auto", "stencil", "pruned", "keops")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class Choice:
    """An engine, "stencil", "pruned" or "keops", and its device, "cpu" or "cuda"."""

    engine: str
    device: str


def choose(
    sampling: str, engine: str = "auto", device: str = "auto", *, weights: str = "kernel"
) -> Choice:
    """The engine and device that a build will use.

    On lattices "auto" is the stencil engine, which needs no GPU; elsewhere, and on a lattice where
    cuda is asked for, it is the pruned one. The device "auto" is cuda where torch sees one.

    Args:
        sampling: name of the sampling.
        engine: one of ENGINES.
        device: one of DEVICES.
        weights: kind of the edge weights; on lattices all but "kernel" are made from stencils.

    Raises:
        SpecError: an unknown name, a combination that does not exist, or no such device here.
    """
    if engine not in ENGINES:
        raise SpecError("engine", f"one of {', '.join(ENGINES)}", engine)
    if device not in DEVICES:
        raise SpecError("device", f"one of {', '.join(DEVICES)}", device)
    lattice = sampling == "lattice"
    if lattice and weights != "kernel":
        remedy = "They are made from stencils, on the CPU."
        if engine not in {"auto", "stencil"}:
            accepted = f"auto or stencil with {weights} weights on a lattice"
            raise SpecError("engine", accepted, engine, remedy)
        if device == "cuda":
            accepted = f"auto or cpu with {weights} weights on a lattice"
            raise SpecError("device", accepted, device, remedy)
    if engine == "stencil":
        if not lattice:
            accepted = f"auto, pruned or keops with {sampling} sampling"
            raise SpecError("engine", accepted, engine, "Stencils exist on lattices only.")
        if device == "cuda":
            remedy = "Use `engine='pruned'` for a GPU; stencils need none."
            raise SpecError("device", "auto or cpu with the stencil engine", device, remedy)
    if engine == "auto":
        engine = "stencil" if lattice and device != "cuda" else "pruned"
    return Choice(engine, "cpu" if engine == "stencil" else _found(device))


@lru_cache
def own_device(device: str) -> str:
    """The device for this process: of several GPUs one that no process of this user's builds has.

    Whoever does the blocks may have GPUs where the one who builds has none, and searches on its
    CPU what it does itself. What is found is the same.

    Args:
        device: "cpu" or "cuda".

    Returns:
        "cpu", or "cuda:0" and so on.
    """
    if device != "cuda":
        return device
    import torch

    count = torch.cuda.device_count()
    if count == 0:
        logging.getLogger(__name__).info("This process sees no CUDA device and takes its CPU.")
        return "cpu"
    return f"cuda:{free_index(count, Path(tempfile.gettempdir()))}"


def free_index(count: int, folder: Path) -> int:
    """The least of `count` numbers that no living process holds; held from now on by this one.

    Where all are held they are shared.

    Args:
        count: at least 1.
        folder: of this machine, for a lock file for each.
    """
    for index in range(count):
        file = folder / f"cheblienet-device-{os.getuid()}-{index}.lock"
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            return index  # the descriptor stays open, and with it the lock, until the process ends
    return os.getpid() % count


def _found(device: str) -> str:
    if device == "cpu":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        remedy = "Use `device='cpu'`, or see what `clg doctor` says."
        raise SpecError(
            "device", "auto or cpu here, where torch sees no CUDA device", device, remedy
        )
    return "cpu"
