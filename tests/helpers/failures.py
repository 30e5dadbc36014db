"""Commands that must fail, and files that must be refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusing import refused

from cheblienet_cli.main import run
from cheblienet_graphs.errors import InputError

Clg = Callable[..., Any]
"""The fixture that runs a line of the command line."""
Failing = Callable[[str], tuple[int, str]]
"""The one that runs a line that must fail."""


def failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and message of a command that must fail, with one line and without output."""
    code = run(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    message = captured.err
    if "--json" in arguments:
        message = f"Error: {json.loads(message)['error']}\n"
    assert message.startswith("Error: ")
    assert message.endswith("\n")
    assert message[:-1].isprintable()
    assert len(message) < 2_100
    return code, message


def refusal_by(read: Callable[..., object], source: Path | str, **how: object) -> str:
    """The one line that a file is refused with, which begins with its name."""
    message = refused(r"\.$", read, source, error=InputError, **how)
    assert message.startswith(str(source).partition(":")[0])
    return message
