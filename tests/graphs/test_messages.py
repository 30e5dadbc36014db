"""Messages of the libraries name parameters, as `neighbors=24`; never options, nor bare names."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cheblienet_graphs
import cheblienet_models
from cheblienet_cli.commands import clg
from cheblienet_graphs import GraphSpec, build

PACKAGES = [Path(package.__file__).parent for package in (cheblienet_graphs, cheblienet_models)]
WRITES_OPTIONS = PACKAGES[0] / "spec/command.py"
FILES = sorted({file for folder in PACKAGES for file in folder.rglob("*.py")} - {WRITES_OPTIONS})
PARAMETERS = {*inspect.signature(GraphSpec).parameters, *inspect.signature(build).parameters}
OPTIONS = {
    option.name
    for group in (clg, clg.commands["build"])
    for command in group.commands.values()
    for option in command.params
}
NO_OPTIONS = {"allow_inconsistent"}
"""Parameters that the command line has no option for."""


def literals(tree: ast.Module) -> Iterator[str]:
    """Of a module all but docstrings; what is filled into an f-string stands as {}."""
    bare = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    inner = {id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and id(node) not in bare | inner:
            yield str(node.value)


def plain(text: str) -> str:
    """A text without what stands in backticks: parameters, and commands for a shell."""
    return re.sub(r"`[^`]*`", "", text)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_no_message_names_an_option_or_a_bare_parameter(file: Path) -> None:
    for text in literals(ast.parse(file.read_text())):
        assert not re.search(r"(?<![-\w])--[a-z]", plain(text)), text
        if " " in text and PACKAGES[0] in file.parents:  # a sentence, no key, of who has parameters
            bare = set(re.findall(r"\b[a-z]+_[a-z_]+\b", plain(text)))
            assert not bare & PARAMETERS, text


def test_parameters_in_messages_exist() -> None:
    texts = [text for file in FILES for text in literals(ast.parse(file.read_text()))]
    named = {name for text in texts for name in re.findall(r"`([a-z_]+)(?:=[^`]*)?`", text)}
    assert {"neighbors", "weights", "levels", "resume", "engine", "eigenpairs"} <= named & OPTIONS
    assert named - OPTIONS <= NO_OPTIONS
