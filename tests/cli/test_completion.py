"""Completion by the shell: as the page on commands sets it up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/reference/commands.md"
COMPLETED = {
    "ver": "verify",
    "build se": "se2",
    "build se2 --ori": "--orientations",
    "build map --sou": "--source",
    "export --to z": "zip",
    # Lines that a command would refuse complete without a word.
    "build se2 --size 8 --size 9 --ori": "--orientations",
    "build se2 --size 8 --store": "--store",
    "build nonsense --s": "",
    "nonsense v": "verify",
}
COMPLETING = """
. ./clg.bash
COMP_WORDS=(clg $1)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_clg_completion clg "${COMP_WORDS[COMP_CWORD]}"
echo "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the completion of bash, and with `clg`."""
    folder = tmp_path_factory.mktemp("shell")
    program = folder / "clg"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cheblienet_cli "$@"\n')
    program.chmod(0o755)
    done = in_bash(
        folder, "_CLG_COMPLETE=bash_source clg > clg.bash; complete -p clg || . ./clg.bash"
    )
    assert done.returncode == 0
    return folder


def in_bash(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    command = ["bash", "--norc", "-c", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("line", COMPLETED)
def test_bash_completes(shell: Path, line: str) -> None:
    done = in_bash(shell, COMPLETING, "bash", line)
    assert (done.stdout, done.stderr) == (f"{COMPLETED[line]}\n", "")


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_page_names_what_clg_prints(shell: Path, name: str) -> None:
    setting = f"_CLG_COMPLETE={name}_source"
    assert f"{setting} clg >" in PAGE.read_text()
    done = in_bash(shell, f"{setting} clg")
    assert done.returncode == 0
    assert f"_CLG_COMPLETE={name}_complete" in done.stdout
