"""Pages that are run as their readers run them: block after block, in one empty folder."""

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from cheblienet_cli.main import run

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONAL = {"escnn", "torch_geometric"}
"""Libraries that the tests do not install: blocks that import one run where it is."""
PRINTS = re.compile(r"# prints (.*)$", re.MULTILINE)


def blocks(page: str) -> Iterator[tuple[str, str, str | None]]:
    """Language and text of those that run, and the ```text after each: None where there is none."""
    fenced = BLOCK.findall(page)
    for (language, text), (following, printed) in zip(fenced, [*fenced, ("", "")][1:], strict=True):
        if language in ("python", "console"):
            yield language, text, printed if following == "text" else None


def run_page(page: str) -> None:
    """Run all blocks, Python's with one namespace, and compare what they print with the page."""
    names: dict[str, Any] = {"__name__": "page"}
    missing = [name for name in OPTIONAL if find_spec(name) is None]
    for language, text, wanted in blocks(page):
        if any(re.search(rf"^(import|from) {name}\b", text, re.MULTILINE) for name in missing):
            continue
        if language == "console":
            for command, printed in commands(text):
                compare(command, printed, printed_by(run_command, command))
        else:
            lines = PRINTS.findall(text)
            assert not (wanted and lines), "A block says what it prints in one way."
            code = compile(text, "page", "exec")
            compare(text, "\n".join(lines) or wanted, printed_by(exec, code, names))


def commands(text: str) -> Iterator[tuple[str, str | None]]:
    """Each `$ clg ...` of a console block, with the output below it: None where there is none."""
    for part in text.removeprefix("$ ").split("\n$ "):
        command, _, printed = part.replace("\\\n", " ").partition("\n")
        yield command, printed.strip("\n") or None


def run_command(command: str) -> None:
    """Run a command line, which has to succeed."""
    program, *arguments = shlex.split(command, comments=True)
    assert program == "clg", f"Only clg is run in console blocks, not {command!r}; use sh."
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        code = run(arguments)
    assert code == 0, f"{command}: {errors.getvalue()}"


def printed_by(function: Callable[..., object], *arguments: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        function(*arguments)
    return printed.getvalue()


def compare(what: str, wanted: str | None, printed: str) -> None:
    """Output is as the page has it, where the page has any; `...` stands for anything."""
    if wanted is None:
        return
    ends = [re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip() for text in (wanted, printed)]
    same = doctest.OutputChecker().check_output(*ends, doctest.ELLIPSIS)
    assert same, f"{what}\nprints\n{printed}\nnot\n{wanted}"
