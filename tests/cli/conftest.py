"""Where commands are run, in a folder of their own, and how: by their line."""

import shlex
from pathlib import Path
from typing import Any

import failures
import pytest

from cheblienet_cli.main import run


@pytest.fixture(autouse=True)
def _here(here: Path) -> None:
    """Let every command be run in a folder of its own."""


@pytest.fixture
def clg(capsys: pytest.CaptureFixture[str]) -> failures.Clg:
    """Output and messages of a command that must end with a code, 0 if it is to succeed."""

    def called(line: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run(shlex.split(line)) == code
        return capsys.readouterr()

    return called


@pytest.fixture
def failing(capsys: pytest.CaptureFixture[str]) -> failures.Failing:
    """Exit code and message of a command that must fail."""
    return lambda line: failures.failing(capsys, *shlex.split(line))
