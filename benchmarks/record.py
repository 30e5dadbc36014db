"""Writes benchmarks/RESULTS.md: runs the commands that the page names, puts down what they print.

    python benchmarks/record.py [NAME ...] [--with FOLDER=/data] [--list | --check]

NAME is a block of the page, or a pattern of several, 'spectrum-*'; without one all are recorded. A
block stands between `<!-- NAME -->` and `<!-- /NAME -->`. Its first line names the command in
backticks. The rest of that line is replaced by how long the command took, by the clock and of
processors, when and on what; what follows, by its output: Markdown, or indented as code where it
has no table. Words in capitals stand for what --with gives. The page changes only after a command
has succeeded, all at once and within its block. A new block is a pair of markers with the command
between them.

`--check` writes nothing. It runs the commands with 15 rounds and compares ratios, cells such as
"3.12 (3 to 3.3)", with those of the page. It fails where the whole interval is beyond 1.25 times a
recorded ratio, or below it divided by 1.25; machines differ, so few ratios are worth a look.
"""

import argparse
import fnmatch
import os
import platform
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).resolve().with_name("RESULTS.md")
MARKER = re.compile(r"^<!-- (/?)([a-z0-9-]+) -->$", re.MULTILINE)
BLOCK = re.compile(
    r"^<!-- ([a-z0-9-]+) -->\n`(python benchmarks/[^`\n]+)`(.*)\n((?s:.)*?)^<!-- /\1 -->$",
    re.MULTILINE,
)
PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_]+")
RATIO = re.compile(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)")
BEYOND, ROUNDS = 1.25, "15"
PACKAGES = ("torch", "numpy", "scipy")


@dataclass(frozen=True)
class Block:
    """What stands between two markers.

    Args:
        command: as its first line names it.
        state: the rest of that line.
        start: where it begins in the text of the page.
        end: where it ends, before the closing marker.
    """

    command: str
    state: str
    start: int
    end: int


def blocks(text: str) -> dict[str, Block]:
    """By name, in the order of the page.

    Raises:
        ValueError: a marker has no partner, a name comes twice, or a block begins otherwise.
    """
    whole = {m[1]: Block(m[2], m[3], m.start(2) - 1, m.end(4)) for m in BLOCK.finditer(text)}
    for name, count in Counter(name for _, name in MARKER.findall(text)).items():
        if name not in whole or count != 2:
            raise ValueError(
                f"<!-- {name} --> must stand in the page once, <!-- /{name} --> after it, and "
                "between them a block that begins with `python benchmarks/...` in backticks."
            )
    return whole


def chosen(names: Sequence[str], known: Mapping[str, Block]) -> list[str]:
    """Names of blocks that are called so or match a pattern; all where none is named.

    Raises:
        ValueError: there is no such block.
    """
    wanted: set[str] = set()
    for name in names:
        matching = fnmatch.filter(known, name)
        if not matching:
            raise ValueError(f"There is no block {name}. --list shows all {len(known)}.")
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
    """What a command prints, as it stands on the page; its warnings are passed on.

    Raises:
        ValueError: it failed, or printed nothing, or something that looks like a marker.
    """
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise ValueError(f"exited with {done.returncode}: {last}")
    print(done.stderr, end="", file=sys.stderr)  # such as what a script leaves out
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    if not any(lines):
        raise ValueError("printed nothing")
    if any(MARKER.match(line) for line in lines):
        raise ValueError("printed a marker, which would end its block")
    if any(line.startswith("|") for line in lines):
        return "\n".join(lines)
    return "\n".join(f"    {line}".rstrip() for line in lines)


def state(seconds: float, busy: float) -> str:
    """How long it took, of processors too, when and on what, in one line."""
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    threads = os.environ.get("OMP_NUM_THREADS")
    limited = f", OMP_NUM_THREADS={threads}" if threads else ""
    machine = f"{processor()}, {os.cpu_count()} cores{limited}"
    python = f"Python {platform.python_version()}"
    took = f"{seconds:,.0f} s, {busy:,.0f} s of processors,"
    return f" took {took} on {date.today()}: {machine}; {python}, {packages}"


def processor_seconds() -> float:
    """Of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor() -> str:
    """Its model, where the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def write(page: Path, name: str, command: str, new_state: str, output: str) -> None:
    """Replace a block of the page, read anew as others may have edited it meanwhile.

    Raises:
        ValueError: the block is gone or has another command by now.
    """
    text = page.read_text()
    block = blocks(text).get(name)
    if block is None or block.command != command:
        raise ValueError("ran, but its block was changed meanwhile")
    body = f"`{command}`{new_state}\n\n{output}\n"
    part = page.with_name(f".{page.name}.{os.getpid()}")
    try:
        part.write_text(text[: block.start] + body + text[block.end :])
        shutil.copymode(page, part)
        part.replace(page)
    finally:
        part.unlink(missing_ok=True)


def record(page: Path, name: str, command: str, words: Sequence[str]) -> bool:
    """Run a command and write its block; whether that succeeded, and why not, is said."""
    print(f"{name}: {shlex.join(words[1:])}", flush=True)
    began, before = time.perf_counter(), processor_seconds()
    try:
        output = printed(words)
        new_state = state(time.perf_counter() - began, processor_seconds() - before)
        write(page, name, command, new_state, output)
    except (ValueError, OSError) as error:
        print(f"Error: {name} stays as it was: `{command}` {error}", file=sys.stderr)
        return False
    print(f"{name}:{new_state}", flush=True)
    return True


def check(page: Path, name: str, command: str, words: Sequence[str]) -> bool:
    """Run a command and compare its ratios with its block's; whether none is far off."""
    print(f"{name}: {shlex.join(words[1:])}", flush=True)
    text = page.read_text()
    block = blocks(text)[name]
    try:
        far = drifted(text[block.start : block.end], printed([*words, "--rounds", ROUNDS]))
    except (ValueError, OSError) as error:
        print(f"Error: {name} can't be checked: `{command}` {error}", file=sys.stderr)
        return False
    print("\n".join(far or ["as recorded"]), flush=True)
    return not far


def cells(text: str) -> list[list[str]]:
    """Of the lines of a table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def drifted(before: str, after: str) -> list[str]:
    """Ratios of a table whose whole interval is far from what another table has, each in words.

    Raises:
        ValueError: the tables have no ratios in common.
    """
    (head, _, *old), (_, _, *new) = cells(before), cells(after)
    compared, far = 0, []
    for row, again in zip(old, new, strict=True):
        for column, recorded, cell in zip(head, row, again, strict=True):
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


def placeholder(text: str) -> tuple[str, str]:
    """NAME=VALUE of --with."""
    name, equals, value = text.partition("=")
    if not (PLACEHOLDER.fullmatch(name) and equals and value):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, NAME in capitals. Got {text}.")
    return name, value


def main(arguments: Sequence[str] | None = None, page: Path = PAGE) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of blocks, or patterns of them")
    parser.add_argument("--with", dest="given", action="append", type=placeholder, default=[])
    parser.add_argument("--list", action="store_true", help="show the blocks, run nothing")
    parser.add_argument("--check", action="store_true", help="compare ratios, write nothing")
    options = parser.parse_args(arguments)
    try:
        known = blocks(page.read_text())
        names = chosen(options.names, known)
        if options.list:
            print("\n".join(f"{n}: `{known[n].command}`{known[n].state}" for n in names))
            return 0
        commands = {
            n: filled(known[n].command, dict(options.given), page.parents[1]) for n in names
        }
    except (ValueError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    try:
        work = check if options.check else record
        done = [work(page, n, known[n].command, words) for n, words in commands.items()]
    except KeyboardInterrupt:
        print("Stopped; what was not done stays as it was.", file=sys.stderr)
        return 130
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
