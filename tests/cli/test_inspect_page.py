"""clg inspect --html: a page with figures."""

from pathlib import Path

import pytest
from parsed_pages import check_page

from cheblienet_cli.main import run


def test_a_page_is_written_and_named(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["inspect", "torus", "--store", str(store), "--html", "report.html"]
    assert run([*arguments, "--level", "1", "--eigenvalues", "3"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "report.html\n"
    assert captured.err == ""
    document = (here / "report.html").read_text(encoding="utf-8")
    assert len(document.encode()) < 2_000_000
    html = check_page(document)
    assert html.inside("h1")[0].words == "torus@v001"
    assert " edges on level 1; " in html.text
    assert "--weights selling" in html.text  # what to do, in options
    assert "All of level 1." in html.text
