"""Pages that are run as their readers run them: block after block, in one empty folder."""

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from cheblienet_cli.main import run

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONAL = {"escnn", "torch_geometric"}
"""Libraries that the tests do not install: blocks that import one run where it is."""
PRINTS = re.compile(r"# prints (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the ```text after it: None where there is none."""

    language: str
    text: str
    printed: str | None


def blocks(page: str) -> Iterator[Block]:
    """Those that run: python and console."""
    found = BLOCK.findall(page)
    for (language, text), (following, printed) in zip(found, [*found, ("", "")][1:], strict=True):
        if language in ("python", "console"):
            yield Block(language, text, printed if following == "text" else None)


def run_page(page: str) -> None:
    """Run all blocks, Python's with one namespace, and compare what they print with the page."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if any(
            re.search(rf"^(import|from) {name}\b", block.text, re.MULTILINE) for name in missing()
        ):
            continue
        if block.language == "console":
            for command, printed in commands(block.text):
                compare(command, printed, printed_by_command(command))
        else:
            wanted = block.printed
            if lines := PRINTS.findall(block.text):
                assert wanted is None, "A block says what it prints in one way."
                wanted = "\n".join(lines)
            compare(block.text, wanted, printed_by_python(block.text, names))


def missing() -> set[str]:
    """The optional libraries that are not installed."""
    return {name for name in OPTIONAL if find_spec(name) is None}


def commands(text: str) -> Iterator[tuple[str, str | None]]:
    """Each `$ clg ...` of a console block, with the output below it: None where there is none."""
    for part in text.removeprefix("$ ").split("\n$ "):
        command, _, printed = part.replace("\\\n", " ").partition("\n")
        yield command, printed.strip("\n") or None


def printed_by_command(command: str) -> str:
    """Standard output of a command line, which has to succeed."""
    program, *arguments = shlex.split(command, comments=True)
    assert program == "clg", f"Only clg is run in console blocks, not {command!r}; use sh."
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    assert code == 0, f"{command}: {err.getvalue()}"
    return out.getvalue()


def printed_by_python(text: str, names: dict[str, Any]) -> str:
    """Standard output of a block of Python."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "page", "exec"), names)
    return out.getvalue()


def compare(what: str, wanted: str | None, printed: str) -> None:
    """Output is as the page has it, where the page has any; `...` stands for anything."""
    if wanted is None:
        return
    ends = [re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip() for text in (wanted, printed)]
    same = doctest.OutputChecker().check_output(ends[0], ends[1], doctest.ELLIPSIS)
    assert same, f"{what}\nprints\n{printed}\nnot\n{wanted}"
