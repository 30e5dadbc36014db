"""Commands that must fail."""

import pytest

from cheblienet_cli.main import run


def failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and message of a command that must fail, with one line and without output."""
    code = run(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Error: ")
    assert captured.err.endswith("\n")
    assert captured.err[:-1].isprintable()
    assert len(captured.err) < 2_100
    return code, captured.err
