"""The scripts of examples/ run on pictures of a user's own, and find the lines in them."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

EXAMPLES = Path(__file__).parents[1] / "examples"
WIDTH, HEIGHT = 96, 80


def run(monkeypatch: pytest.MonkeyPatch, name: str, *arguments: str | Path) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)  # as Python does for a script
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def crossing_lines() -> NDArray[np.float64]:
    """(HEIGHT, WIDTH), 1 on two lines that cross, 0 elsewhere."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    lines = [(0.9, 45, 40), (-0.4, 48, 38)]
    distances = [
        abs((x - right) * np.sin(angle) - (y - down) * np.cos(angle))
        for angle, right, down in lines
    ]
    return np.exp(-(np.minimum(*distances) ** 2) / 4)


def saved(file: Path, brightness: NDArray[np.float64]) -> Path:
    Image.fromarray(np.uint8(np.clip(255 * brightness, 0, 255))).save(file)
    return file


def halves(file: Path, count: int = 2) -> list[NDArray[np.float64]]:
    return np.split(np.asarray(Image.open(file), float) / 255, count, axis=1)


def correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


@pytest.mark.parametrize("dark", [False, True])
def test_enhance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dark: bool) -> None:
    truth = 1 - crossing_lines() if dark else crossing_lines()
    noise = np.random.default_rng(0).standard_normal(truth.shape)
    picture = saved(tmp_path / "noisy.png", 0.25 + truth / 2 + 0.2 * noise)
    flags = ["--dark"] if dark else []
    run(monkeypatch, "enhance.py", picture, tmp_path / "out.png", *flags)
    shown, lines = halves(tmp_path / "out.png")
    np.testing.assert_array_equal(shown, np.asarray(Image.open(picture)) / 255)
    assert lines.shape == truth.shape
    assert correlation(lines, truth) > 0.8 > 0.6 > correlation(shown, truth)


def test_vessel_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = crossing_lines()
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    field = np.hypot(x - 48, y - 40) < 36
    noise = np.random.default_rng(0).standard_normal(lines.shape)
    green = np.where(field, 0.6 - 0.2 * lines + 0.1 * noise, 0)
    colors = np.stack([0.8 * field, green, 0 * green], axis=-1)
    photograph = saved(tmp_path / "fundus.png", colors)
    run(monkeypatch, "vessel_map.py", photograph, tmp_path / "out.png", "--side", HEIGHT)
    _, vessels = halves(tmp_path / "out.png")
    assert correlation(vessels[field], lines[field]) > 0.7
    assert not vessels[~field].any()


@pytest.mark.slow
def test_train_vessels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = crossing_lines()
    for n in range(2):
        noise = np.random.default_rng(n).standard_normal(lines.shape)
        green = 0.6 - 0.3 * lines + 0.05 * noise
        saved(tmp_path / f"{n}.jpg", np.stack([green] * 3, axis=-1))
        saved(tmp_path / f"{n}_traced.png", lines > 0.5)
    patterns = tmp_path / "*.jpg", tmp_path / "*_traced.png"
    sizes = "--steps", "12", "--side", str(HEIGHT)
    run(monkeypatch, "train_vessels.py", *patterns, tmp_path / "map.png", *sizes)
    green, traced, vessels = halves(tmp_path / "map.png", 3)
    np.testing.assert_array_equal(traced, lines > 0.5)
    assert correlation(vessels, lines) > 0.7 > correlation(green, lines)


REFUSED = {
    "another file": (["notes.xyz", "out.png"], "cannot identify image file"),
    "no picture": (["gray.png", "out.xyz"], "must be a picture, as .png, in a folder"),
    "a negative time": (["lines.png", "out.png", "--time", "-3"], "must be at least 0 and finite"),
    "no lines": (["gray.png", "out.png"], "of "),
}


@pytest.mark.parametrize("name", ["enhance.py", "vessel_map.py"])
@pytest.mark.parametrize("case", REFUSED)
def test_refusals(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    case: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.xyz").write_text("notes")
    saved(tmp_path / "lines.png", crossing_lines())
    saved(tmp_path / "gray.png", np.full((HEIGHT, WIDTH), 0.5))
    arguments, message = REFUSED[case]
    assert message in refusal(monkeypatch, capsys, name, *arguments)


def test_what_training_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        saved(tmp_path / f"{number}.png", crossing_lines().T[:, :40])
    for patterns, options, message in (
        (("*.png", "*.jpg"), (), "Found 2 photographs, 0 traces"),
        (("*.png", "*.png"), ("--steps", "0"), "must be at least 1. Got 0."),
        (("*.png", "*.png"), ("--side", "64"), "give a larger --side"),
    ):
        arguments = *patterns, "out.png", *options
        assert message in refusal(monkeypatch, capsys, "train_vessels.py", *arguments)


def refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, *arguments: str
) -> str:
    """What Python or argparse prints at the end: one line that says what was wrong."""
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, name, *arguments)
    said = capsys.readouterr().err if caught.value.code == 2 else str(caught.value.code)
    return said.strip().splitlines()[-1]
