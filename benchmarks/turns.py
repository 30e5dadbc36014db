"""Contenders that take turns: who agrees with the first is timed, who does not is refused.

Times vary with what else a machine does. Contenders that take turns within each round share that,
so their ratios are taken round by round.
"""

import multiprocessing
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import torch
from record import processor

T = TypeVar("T")
Work = Callable[[], object]


def refusals(results: Mapping[str, T], difference: Callable[[T, T], str]) -> dict[str, str]:
    """Why contenders are refused, by name: how their result differs from the first one's.

    Args:
        results: by name.
        difference: in words, of a result and the first one; empty where they agree.
    """
    first = next(iter(results.values()))
    reasons = {name: difference(result, first) for name, result in results.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def in_turns(
    works: Mapping[str, Work],
    rounds: int,
    device: str = "cpu",
    clock: Callable[[], float] = time.perf_counter,
    *,
    warm: bool = False,
) -> dict[str, list[float]]:
    """Seconds of each in each of the rounds.

    Args:
        works: by name.
        rounds: in each of which every contender has a turn.
        device: whose queue is waited for.
        clock: that they are read from.
        warm: whether each runs once before the first round.
    """
    took: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values() if warm else ():
        work()
    for turn in range(rounds):
        progress(f"round {turn + 1} of {rounds}: {', '.join(works)}")
        for name, work in works.items():
            took[name].append(seconds_of(work, device, clock))
    return took


def seconds_of(
    work: Work, device: str = "cpu", clock: Callable[[], float] = time.perf_counter
) -> float:
    """Until the device's queue is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    began = clock()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def resident_memory(kind: str = "VmRSS") -> int:
    """Bytes of this process that are resident now, as Linux tells."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(kind))
    return int(line.split()[1]) * 1024


def peak_memory() -> int:
    """Most bytes that were resident in this process so far.

    `ru_maxrss` would not do: on Linux it counts the process that started this one, too.
    """
    return resident_memory("VmHWM")


def in_fresh_process(work: Callable[..., T], *given: Any, threads: int | None = None) -> T:
    """What a function returns in a process that does nothing else, so that its memory is its own.

    Args:
        work: the function, of a module.
        given: its arguments.
        threads: of torch there; None: as many as here.
    """
    count = torch.get_num_threads() if threads is None else threads
    with multiprocessing.get_context("spawn").Pool(1, torch.set_num_threads, (count,)) as pool:
        return pool.apply(work, given)


def ratio(seconds: Sequence[float], others: Sequence[float]) -> float:
    """Of seconds over others': the median of those of the rounds."""
    return statistics.median(a / b for a, b in zip(seconds, others, strict=True))


def middle_and_spread(times: Sequence[float]) -> str:
    """'12.3 ms (12.1 to 12.9)': the median and the quartiles."""
    low, middle, high = quartiles(times)
    unit, scale = ("s", 1.0) if middle >= 1 else ("ms", 1e3)
    return f"{_digits(scale * middle)} {unit} ({_digits(scale * low)} to {_digits(scale * high)})"


def ratio_and_spread(times: Sequence[float], others: Sequence[float]) -> str:
    """'3.12 (3 to 3.3)': of times over others', round by round; '1' of times over themselves."""
    if times is others:
        return "1"
    low, middle, high = quartiles([a / b for a, b in zip(times, others, strict=True)])
    return f"{_digits(middle)} ({_digits(low)} to {_digits(high)})"


def times_or_refusal(
    name: str, took: Mapping[str, Sequence[float]], first: str, refused: Mapping[str, str]
) -> tuple[str, str]:
    """A contender's time and its ratio to the first one's; or why it was refused."""
    if name in refused:
        return f"refused: {refused[name]}", ""
    ratio = ratio_and_spread(took[name], took[first]) if first in took else ""
    return middle_and_spread(took[name]), ratio


def _digits(number: float) -> str:
    """'0.123', '1.23', '12.3', '1,234'."""
    return f"{number:,.0f}" if number >= 99.5 else f"{number:.3g}"


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The first, the median and the third; of a single value three times that."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def relative_difference(result: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest absolute one over the largest absolute value expected."""
    return float((result - expected).abs().max() / expected.abs().max())


def installed(package: str, how: str) -> bool:
    """Whether a package works here; else it is left out, with a line that says how to get it.

    Args:
        package: name to import.
        how: the command that installs it.
    """
    try:
        import_module(package)
    except ImportError as error:
        why = "is not installed"
        if find_spec(package):  # as one that was built for another numpy
            why = f"does not work here ({str(error).splitlines()[0]:.80})"
        print(f"{package} {why} and is left out: `{how}`.\n", flush=True)
        return False
    return True


def progress(line: str) -> None:
    """On standard error, as standard output is for the record."""
    print(line, file=sys.stderr, flush=True)


def machine(device: str, packages: Sequence[str]) -> str:
    """The processor or GPU, threads, and versions of packages that are here, a line."""
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else processor()
    versions = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return f"{name}, {torch.get_num_threads()} threads; {', '.join(versions)}."
