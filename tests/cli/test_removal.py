"""`clg rm` on a terminal: what is deleted for good is asked about first."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from failures import Clg

BUILD = "build r2 --size 8 --levels 1 --quiet --force"
DELETE = "Delete r2-8x8@v002 for good? [y/N]: "
OLDER = "Delete all versions of r2-8x8 except the newest 1 for good? [y/N]: "


@pytest.fixture
def two(clg: Clg) -> None:
    """A store with two versions of a graph."""
    clg(BUILD)
    clg(BUILD)


def on_a_terminal(line: str, typed: str) -> tuple[int, str]:
    """Exit code of a command, and all that its terminal shows."""
    outer, terminal = pty.openpty()
    try:
        os.write(outer, typed.encode())
        command = [sys.executable, "-m", "cheblienet_cli", *line.split()]
        code = subprocess.call(command, stdin=terminal, stdout=terminal, stderr=terminal)
        return code, os.read(outer, 10_000).decode().replace("\r\n", "\n")
    finally:
        os.close(outer)
        os.close(terminal)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("typed", ["n\n", "\n"])
def test_nothing_is_removed_without_a_yes(clg: Clg, typed: str) -> None:
    for line, question in (("r2-8x8@latest", DELETE), ("r2-8x8 --keep 1", OLDER)):
        code, shown = on_a_terminal(f"rm {line}", typed)
        assert code == 1
        assert shown.endswith(f"{question}Nothing was removed.\n")
    assert clg("ls").out.count("r2-8x8@") == 2


@pytest.mark.usefixtures("two")
def test_a_yes_removes(clg: Clg) -> None:
    code, shown = on_a_terminal("rm r2-8x8@latest", "y\n")
    assert code == 0
    assert f"{DELETE}Removed r2-8x8@v002, " in shown
    assert clg("ls").out.count("r2-8x8@") == 1


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    "line", ["r2-8x8", "r2-8x8@v009", "r2-8x8 --keep 0", "r2-8x8@v001 --keep 1"]
)
def test_what_is_refused_is_not_asked_about(line: str) -> None:
    code, shown = on_a_terminal(f"rm {line}", "y\n")
    assert code == 2
    assert "Delete" not in shown


@pytest.mark.usefixtures("two")
def test_scripts_are_not_asked(clg: Clg, tmp_path: Path) -> None:
    assert "Removed r2-8x8@v002" in clg("rm r2-8x8@latest").err
    code, shown = on_a_terminal("rm r2-8x8@latest --force", "")
    assert code == 0
    assert shown.startswith("Removed r2-8x8@v001")
