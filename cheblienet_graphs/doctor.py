"""The doctor of this machine: each engine on each device, tried on a tiny graph."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.machine.processes import opened_processes
from cheblienet_graphs.search.choice import Choice, choose
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Indices

NEEDED = ("stencil", "cpu"), ("pruned", "cpu")
"""Pairs of an engine and a device that builds depend on."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one try.

    Args:
        subject: the engine.
        device: "cpu" or "cuda".
        works: whether it found the right edges.
        needed: whether builds depend on it.
        remedy: one line on how to make it work; empty where it works.
    """

    subject: str
    device: str
    works: bool
    needed: bool
    remedy: str


def examine() -> Iterator[Outcome]:
    """Try each engine on its devices in turn; KeOps compiles first, which takes seconds."""
    expected = _columns(Choice("stencil", "cpu"))
    for engine, device in [*NEEDED, ("pruned", "cuda"), ("keops", "cpu"), ("keops", "cuda")]:
        remedy = _remedy(partial(_try_engine, engine, device, expected))
        yield Outcome(engine, device, not remedy, (engine, device) in NEEDED, remedy)


def _remedy(attempt: Callable[[], str]) -> str:
    """The remedy that an attempt returns, empty if it works, or the one for its error."""
    try:
        return attempt()
    except CheblienetError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  # whatever is wrong with the machine is the answer
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return f"{reason:.300} Use another engine or device until that is mended."


def in_own_process(attempt: Callable[[], str]) -> str:
    """The result of an attempt in a process of its own, since KeOps has crashed on a GPU."""
    try:
        with opened_processes(1) as pool:
            ((_, remedy),) = pool.each(_remedy, [(attempt,)])
    except CheblienetError:
        return "It crashes the process that uses it. Use another engine or device."
    return remedy


def _try_engine(engine: str, device: str, expected: Indices) -> str:
    attempt = partial(_compare, engine, device, expected)
    return attempt() if device == "cpu" else _cuda_remedy() or in_own_process(attempt)


def _compare(engine: str, device: str, expected: Indices) -> str:
    columns = _columns(choose("lattice", engine, device))
    if not np.array_equal(columns, expected):
        return "It finds wrong edges here: do not use it, and report this."
    return ""


def _cuda_remedy() -> str:
    import torch  # slow to import, stencil builds do without

    if torch.cuda.is_available():
        return ""
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA; install a build with it."
    return "torch sees no CUDA device; `nvidia-smi` tells whether the driver does."


def _columns(choice: Choice) -> Indices:
    spec = GraphSpec("se2", 8, orientations=4, neighbors=8, levels=1)
    engine = level_plans(spec, choice)[0].neighbors.engine()
    return engine.neighbors(0, spec.num_vertices)[1]
