"""Records results: runs their commands and writes benchmarks/results/NAME.json.

    python benchmarks/record.py [NAME ...] [--with FOLDER=/data] [--list | --check]

NAME is a result, or a pattern of several, 'spectrum-*'; without one all are recorded. A result has
a command, its output, how long it took, by the clock and of processors, when and on what machine.
Words in capitals stand for what --with gives. A file changes only after its command has succeeded;
then the pages are written anew (`results.py`). A new result is a file with a command, the words
"not recorded yet" and an empty output.

`--check` writes nothing. It runs the commands with 15 rounds and compares ratios, cells such as
"3.12 (3 to 3.3)", with the recorded ones. It fails where the whole interval is beyond 1.25 times a
recorded ratio, or below it divided by 1.25; machines differ, so few ratios are worth a look.
"""

import argparse
import fnmatch
import os
import platform
import re
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

import results

PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_]+")
RATIO = re.compile(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)")
BEYOND, ROUNDS = 1.25, "15"
PACKAGES = ("torch", "numpy", "scipy")


def chosen(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Names of results that are called so or match a pattern; all where none is named.

    Raises:
        ValueError: there is no such result.
    """
    wanted: set[str] = set()
    for name in names:
        matching = fnmatch.filter(known, name)
        if not matching:
            raise ValueError(f"There is no result {name}. --list shows all {len(known)}.")
        wanted.update(matching)
    return [name for name in known if name in wanted or not names]


def filled(command: str, given: Mapping[str, str], root: Path) -> list[str]:
    """The words to run, placeholders replaced, its script in the repository.

    Raises:
        ValueError: a placeholder is not given.
    """
    _, script, *words = shlex.split(command)
    missing = [w for w in words if PLACEHOLDER.fullmatch(w) and w not in given]
    if missing:
        raise ValueError(f"`{command}` needs {missing[0]}. Give it: --with {missing[0]}=...")
    return [sys.executable, str(root / script), *(given.get(word, word) for word in words)]


def printed(words: Sequence[str]) -> str:
    """The text that a command prints, indented as code if it has no table.

    Raises:
        ValueError: it failed, or printed nothing.
    """
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise ValueError(f"exited with {done.returncode}: {last}")
    print(done.stderr, end="", file=sys.stderr)  # such as what a script leaves out
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    if not any(lines):
        raise ValueError("printed nothing")
    if any(line.startswith("|") for line in lines):
        return "\n".join(lines)
    return "\n".join(f"    {line}".rstrip() for line in lines)


def state(seconds: float, busy: float) -> str:
    """The time it took, of processors too, the date and the machine, in one line."""
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    threads = os.environ.get("OMP_NUM_THREADS")
    limited = f", OMP_NUM_THREADS={threads}" if threads else ""
    machine = f"{processor()}, {os.cpu_count()} cores{limited}"
    python = f"Python {platform.python_version()}"
    took = f"{seconds:,.0f} s, {busy:,.0f} s of processors,"
    return f"took {took} on {date.today()}: {machine}; {python}, {packages}"


def processor_seconds() -> float:
    """Processor seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor() -> str:
    """The model of the processor, as far as the system says it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def record(folder: Path, name: str, words: Sequence[str]) -> bool:
    """Run a command and write its result; true if that succeeded."""
    print(f"{name}: {shlex.join(words[1:])}", flush=True)
    began, before = time.perf_counter(), processor_seconds()
    command = results.load(name, folder).command
    try:
        output = printed(words)
        taken = state(time.perf_counter() - began, processor_seconds() - before)
        results.save(name, results.Result.of(command, taken, output), folder)
    except (ValueError, OSError) as error:
        print(f"Error: {name} stays as it was: `{command}` {error}", file=sys.stderr)
        return False
    print(f"{name}: {taken}", flush=True)
    return True


def check(folder: Path, name: str, words: Sequence[str]) -> bool:
    """Run a command and compare its ratios with the recorded ones; true if none is far off."""
    print(f"{name}: {shlex.join(words[1:])}", flush=True)
    known = results.load(name, folder)
    try:
        output = printed([*words, "--rounds", ROUNDS])
        far = drifted(known, results.Result.of(known.command, "", output))
    except (ValueError, OSError) as error:
        print(f"Error: {name} can't be checked: `{known.command}` {error}", file=sys.stderr)
        return False
    print("\n".join(far or ["as recorded"]), flush=True)
    return not far


def drifted(before: results.Result, after: results.Result) -> list[str]:
    """Ratios with an interval that is far from the recorded one, in words.

    Raises:
        ValueError: the results have no ratios in common.
    """
    compared, far = 0, []
    for old, new in zip(tables(before), tables(after), strict=True):
        for row, again in zip(old.rows, new.rows, strict=True):
            for column, recorded, cell in zip(old.columns, row, again, strict=True):
                known, found = RATIO.fullmatch(recorded), RATIO.fullmatch(cell)
                if known and found:
                    compared += 1
                    middle, low, high = float(known[1]), float(found[2]), float(found[3])
                    if low > BEYOND * middle or high < middle / BEYOND:
                        label = ", ".join(part for part in again if not RATIO.search(part))
                        far.append(f"{label}: {column} is {cell}, recorded {recorded}")
    if not compared:
        raise ValueError("has no ratios that are recorded")
    return far


def tables(result: results.Result) -> list[results.Table]:
    """The tables of an output."""
    return [part for part in result.output if isinstance(part, results.Table)]


def placeholder(text: str) -> tuple[str, str]:
    """NAME=VALUE of --with."""
    name, equals, value = text.partition("=")
    if not (PLACEHOLDER.fullmatch(name) and equals and value):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, NAME in capitals. Got {text}.")
    return name, value


def main(arguments: Sequence[str] | None = None, root: Path = results.ROOT) -> int:
    """Record results, list or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of results, or patterns")
    parser.add_argument("--with", dest="given", action="append", type=placeholder, default=[])
    parser.add_argument("--list", action="store_true", help="show the results, run nothing")
    parser.add_argument("--check", action="store_true", help="compare ratios, write nothing")
    options = parser.parse_args(arguments)
    folder = root / "benchmarks/results"
    try:
        names = chosen(options.names, results.names(folder))
        known = {name: results.load(name, folder) for name in names}
        if options.list:
            print("\n".join(f"{n}: `{each.command}` {each.taken}" for n, each in known.items()))
            return 0
        given = dict(options.given)
        commands = {name: filled(known[name].command, given, root) for name in names}
    except (ValueError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    try:
        work = check if options.check else record
        done = [work(folder, name, words) for name, words in commands.items()]
    except KeyboardInterrupt:
        print("Stopped; what was not done stays as it was.", file=sys.stderr)
        return 130
    if any(done) and not options.check:
        results.refresh(root)
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
