"""The workflow that publishes a release: what it installs is pinned."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINNED = dict(
    re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
)
CONSTRAINED = "-c constraints.txt "
SCRIPTS = (".github/workflows/release.yml", ".ci/smoke")


def installed_by(script: str) -> list[str]:
    """What follows each `pip install` of tools, without its options."""
    lines = re.findall(r"\bpip\"? install (.+)", (ROOT / script).read_text())
    return [line for line in lines if "$file" not in line]  # what users install


@pytest.mark.parametrize("script", SCRIPTS)
def test_tools_are_installed_under_constraints(script: str) -> None:
    lines = installed_by(script)
    assert lines
    for line in lines:
        _, constrained, names = line.partition(CONSTRAINED)
        assert constrained, line
        for name in shlex.split(names):
            assert name == ".[docs]" or name in PINNED, line


def test_what_builds_a_release_is_pinned() -> None:
    """Nothing is built in isolation, where pip would take other versions."""
    for script in SCRIPTS:
        text = (ROOT / script).read_text()
        assert re.findall(r"-m build(?! --no-isolation)", text) == []
        assert ".[docs]" not in text or "--no-build-isolation -c constraints.txt '.[docs]'" in text
    pages = [
        name for name in PROJECT["project"]["optional-dependencies"]["docs"] if "[" not in name
    ]
    for needed in [*PROJECT["build-system"]["requires"], *pages, "matplotlib"]:
        assert needed.partition(">=")[0] in PINNED
