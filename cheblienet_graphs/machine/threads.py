"""The number of cores for this process, and of threads for a search.

Distances are evaluated in pieces that fit a core's cache. Several threads wait for one another at
each of their many steps, all the longer on busy cores: a search with two threads took ten times the
processor time of a search with one. Further cores are used by further processes.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""File with the share of the processors that a container, say, may use."""


def cores(cgroup: Path = CGROUP) -> int:
    """Cores that this process may use: those it is bound to, or fewer by a limited share."""
    allowed = len(os.sched_getaffinity(0))
    return max(1, min(allowed, int(_share(cgroup) or allowed)))


def threads_each(engine: str, processes: int) -> int:
    """Threads of each process, such that all processes together use no more than all cores.

    Args:
        engine: "stencil", "pruned" or "keops"; only the last has steps long enough for threads.
        processes: at work at the same time.
    """
    return max(1, cores() // processes) if engine == "keops" else 1


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch compute with this many threads within the context, or fewer where it is so set."""
    import torch  # slow to import, stencil builds do without

    before = torch.get_num_threads()
    torch.set_num_threads(min(count, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _share(cgroup: Path) -> float | None:
    """Cores' worth of processor time that is allowed; None without a limit."""
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            quota, period = (
                (cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")
            )
        return float(quota) / float(period) if float(quota) > 0 else None
    except (OSError, ValueError):  # no such file, or it holds "max"
        return None
