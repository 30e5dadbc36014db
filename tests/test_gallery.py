"""The scripts of the gallery run, draw, and leave nothing behind."""

import getpass
import runpy
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest
from PIL import Image

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))


@pytest.fixture
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """matplotlib.pyplot that draws into no window, whose figures stay open after `show`."""
    with mpl.rc_context():
        mpl.use("Agg")
        from matplotlib import pyplot as plt  # after its backend was chosen

        monkeypatch.setattr(plt, "show", lambda: None)
        yield plt
        plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_draws(
    script: Path, pyplot: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runpy.run_path(str(script))
    numbers = pyplot.get_fignums()
    assert numbers
    for number in numbers:
        figure = pyplot.figure(number)
        figure.savefig(tmp_path / f"{number}.png")
        assert any(axes.has_data() for axes in figure.axes)
    left = {path.name for path in tmp_path.iterdir() if path.suffix != ".png"}
    assert left <= {f"torchinductor_{getpass.getuser()}"}  # torch's own cache


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first", "ensemble", "wind", "polarization"])
def test_pictures_of_pages(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both answers of the first one are alike, as its script asserts."""
    drawn_now = tmp_path / "now.png"
    monkeypatch.setattr(sys, "argv", [name, str(drawn_now)])
    runpy.run_path(str(DOCS / f"images/{name}.py"), run_name="__main__")
    with Image.open(drawn_now) as drawn, Image.open(DOCS / f"images/{name}.png") as shown:
        assert drawn.size == shown.size
