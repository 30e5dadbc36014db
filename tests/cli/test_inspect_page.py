"""clg inspect --html: a page with figures."""

import subprocess
import sys
from pathlib import Path

import pytest
from failures import failing
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


def test_refusals_are_one_line_and_leave_no_file(
    here: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inspect = ["inspect", "torus", "--store", str(store), "--html"]
    code, message = failing(capsys, *inspect, "a.html", "--json")
    assert (code, "not both" in message) == (2, True)
    code, message = failing(capsys, *inspect, str(here))
    assert (code, "--html must be a file" in message) == (2, True)
    code, message = failing(capsys, *inspect, "missing/a.html")
    assert (code, "there is no folder missing; make it or choose another --html" in message) == (
        *(1, True),
    )
    code, message = failing(capsys, *inspect, str(store / "a.html"))
    assert (code, "choose another --html" in message) == (1, True)
    code, message = failing(capsys, *inspect, "a.html", "--level", "5")
    assert (code, "--level" in message) == (2, True)
    assert list(here.iterdir()) == []


def test_without_matplotlib_one_line_says_how_to_install_it(here: Path, store: Path) -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from cheblienet_cli.main import run\n"
        f"sys.exit(run(['inspect', 'torus', '--store', {str(store)!r}, '--html', 'a.html']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: Figures need matplotlib, which is not installed")
    assert "pip install 'cheblienet[plot]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(here.iterdir()) == []


def test_the_report_in_a_terminal_draws_nothing(store: Path) -> None:
    script = (
        "import sys\nfrom cheblienet_cli.main import run\n"
        f"assert run(['inspect', 'torus', '--store', {str(store)!r}, '--json']) == 0\n"
        "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "cheblienet_graphs.report.inspect" in loaded
    assert {"matplotlib", "cheblienet_graphs.page", "html"}.isdisjoint(loaded)
