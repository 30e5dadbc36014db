"""How many cores there are for this process, and how many threads a search takes of them.

Distances are evaluated in pieces that fit a core's cache. More threads wait for one another at each
of their many steps, and with busy cores for those: a search by two took ten times the processor
time of a search by one. More cores are for more processes.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""Where Linux tells what share of the processors a group of processes, such as a container, has."""


def cores(cgroup: Path = CGROUP) -> int:
    """Cores that this process may use: those it is bound to, or fewer where it has a share."""
    allowed = len(os.sched_getaffinity(0))
    return max(1, min(allowed, int(_share(cgroup) or allowed)))


def threads_each(engine: str, processes: int) -> int:
    """Threads of each process, so that all of them together take no more than the cores there are.

    Args:
        engine: "stencil", "pruned" or "keops", of which the last has long steps to share.
        processes: at work at the same time.
    """
    return max(1, cores() // processes) if engine == "keops" else 1


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch compute with so many threads meanwhile, or with fewer where it has been told to."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(min(count, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _share(cgroup: Path) -> float | None:
    """Processor time for each unit of time; None where there is no limit."""
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            quota, period = (
                (cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")
            )
        return float(quota) / float(period) if float(quota) > 0 else None
    except (OSError, ValueError):  # there is no such file, or it says "max"
        return None
