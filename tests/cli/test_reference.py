"""The page of the command line says what `--help` says."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_as_the_commands_are() -> None:
    written = (DOCS / "reference/cli.md").read_text()
    made = runpy.run_path(str(DOCS / "cli_reference.py"))["reference"]()
    assert written == made, "Write docs/reference/cli.md anew: python docs/cli_reference.py"


def test_every_command_and_option_is_there() -> None:
    page = (DOCS / "reference/cli.md").read_text()
    assert page.count("\n## clg") == len(set(page.split("\n## ")[1:])) >= 20
    assert "- `--in-plane-fraction F`: " in page
    assert page.count("- `--workers N`: ") == 7
