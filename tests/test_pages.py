"""Examples of README and docs: Python runs on graphs small enough, builds are planned."""

import contextlib
import doctest
import gc
import io
import re
import shlex
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import OFF_THEIR_METRIC
from masks import disc
from PIL import Image

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, build

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


ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = {str(file.relative_to(ROOT)): file.read_text() for file in FILES}
EXAMPLES = {
    page: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for page, text in PAGES.items()
}
BUILDS = {
    command
    for text in PAGES.values()
    for command in re.findall(r"clg (build (?:\w+ --|recipe [a-z])[^`\n]*)", text)
}
TESTED_ELSEWHERE = {"docs/how-to/from-deepsphere.md": "test_from_deepsphere.py"}
WHOLE = {
    page
    for page, text in PAGES.items()
    if page.startswith(("docs/tutorials/", "docs/how-to/"))
    and page not in TESTED_ELSEWHERE
    and any(blocks(text))
}
"""Pages that are run from beginning to end."""
LINKS = [
    (page, link)
    for page, text in PAGES.items()
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    if "://" not in link
]
PLACEHOLDERS = re.compile(r"--help|\b[A-Z]+\b|mine\.toml")
SMALL = {'"se2", 96': '"se2", 16', "96, 96": "16, 16", "64, 96": "16, 24", "96x64": "24x16"}
"""Of sizes of examples."""


pytestmark = pytest.mark.usefixtures("here")


def namespace_after(example: str) -> dict[str, Any]:
    """What an example's names stand for once it has run by itself: each has its own imports."""
    names: dict[str, Any] = {}
    for size, small in SMALL.items():
        example = example.replace(size, small)
    exec(compile(example, "page", "exec"), names)
    return names


@OFF_THEIR_METRIC
@pytest.mark.slow
def test_examples_run_in_order_each_by_itself() -> None:
    build(GraphSpec("se2", 16), "graphs.zarr")
    (first,) = map(namespace_after, EXAMPLES["README.md"])
    _, last, drawn = map(namespace_after, EXAMPLES["docs/reference/python.md"])
    assert "orientation" in drawn["caption"]
    assert first["log_probabilities"].shape == (8, 10)
    x = last["lift"](last["torch"].zeros(2, 3, 16, 24))
    y = last["project"](last["unpool"](last["pool"](last["conv"](x))))
    assert y.shape == (2, 16, 16 * 24)


@pytest.mark.parametrize("command", [c for c in sorted(BUILDS) if not PLACEHOLDERS.search(c)])
def test_builds_are_valid(here: Path, command: str) -> None:
    """With the files that users bring along."""
    Image.fromarray(np.uint8(255 * disc(16))).save("disc.png")
    Path("scheduler.json").write_text('{"address": "tcp://10.0.0.1:8786"}')
    points = "\n".join(f"{n * 7 % 90},{n * 31 % 180}" for n in range(20))
    Path("stations.csv").write_text(f"latitude,longitude\n{points}")
    before = sorted(here.iterdir())
    assert run([*shlex.split(command), "--dry-run"]) == 0
    assert sorted(here.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(WHOLE))
def test_pages_run_and_print_what_they_say(page: str) -> None:
    gc.collect()
    gc.freeze()  # what is there already is not looked through again
    run_page(PAGES[page])
    gc.collect()  # a file that the page leaves open is this page's fault, not a later test's


def test_nothing_is_left_out() -> None:
    assert {
        "build se2 --size 96 --orientations 6 --eps-squared 0.1",
        "build recipe climatenet",
    } <= BUILDS
    pages = {page for page, examples in EXAMPLES.items() if examples}
    assert pages - WHOLE == {"README.md", "docs/reference/python.md", *TESTED_ELSEWHERE}
    assert all((ROOT / "tests" / file).exists() for file in TESTED_ELSEWHERE.values())


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_links_lead_somewhere(page: str, link: str) -> None:
    assert (ROOT / page).parent.joinpath(link).exists()


def test_one_page_reads_pickles_and_says_why() -> None:
    """A file of weights needs none, so no other page may suggest it."""
    [(page, text)] = [named for named in PAGES.items() if "weights_only=False" in named[1]]
    assert page == "docs/how-to/from-anemoi.md"
    assert "`weights_only=False` reads it again, because" in text
