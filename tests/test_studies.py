"""The studies from digits to a page, and on again after an interruption."""

import json
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from benchmark_scripts import FOLDERS, loaded, npz, two_classes

studies, study_plans, equal_time, natural = loaded(
    "studies", "study_plans", "equal_time", "natural"
)

TINY = replace(study_plans.BASE, levels=2, orientations=2, widen=0.1, steps=2, batch=4)
STUDY = study_plans.Study(
    "Anisotropy",
    "eps^2",
    {"0.1": TINY, "1": replace(TINY, eps_squared=1.0)},
    drawn=True,
    numeric=True,
    paper={"upright": {"0.1": 84.26}},
    source="a section",
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(studies, "STUDIES", {"anisotropy": STUDY})
    for module in (studies, equal_time):
        monkeypatch.setattr(module, "SIDE", 8)
        monkeypatch.setattr(module, "TRAIN", 12)
        monkeypatch.setattr(module, "TEST", 6)
    for folder in FOLDERS:  # for processes that import the scripts by their names
        monkeypatch.syspath_prepend(folder)
    images, labels = two_classes(20)
    return npz(tmp_path / "a.npz", images=images, labels=labels)


def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be in this process, as one test has them in others, each of which imports torch."""
    monkeypatch.setattr(studies, "ProcessPoolExecutor", lambda n, **_: ThreadPoolExecutor(n))


@pytest.mark.slow
def test_from_digits_to_a_page(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    results, written = tmp_path / "results", tmp_path / "page.md"
    written.write_text("# Before\n<!-- anisotropy -->\nold\n<!-- /anisotropy -->\nAfter\n")
    options = [str(o) for o in (data, results, "--seeds", 2, "--workers", 1, "--page", written)]
    assert studies.main(options) == 0
    table = written.read_text()
    assert table.startswith("# Before\n<!-- anisotropy -->\n| eps^2 | upright | any angle |")
    assert "old" not in table
    rows = [line for line in table.splitlines() if line.startswith("| 0.1 |")]
    assert " 84.3 |" in rows[0]
    assert "Of 4 runs on graphs 4 have exactly the same accuracy" in capsys.readouterr().out
    ET.parse(tmp_path / "study-anisotropy.svg")  # it is XML
    before = {file: file.stat().st_mtime_ns for file in results.glob("*.json")}
    assert len(before) == 4
    in_threads(monkeypatch)
    next(iter(before)).unlink()
    assert studies.main(options) == 0
    again = [file for file, made in before.items() if file.stat().st_mtime_ns != made]
    assert again == [next(iter(before))]


@pytest.mark.slow
def test_equal_time(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contenders = {"plain": replace(TINY, network="plain", steps=None), "SE(2)": TINY}
    in_threads(monkeypatch)
    monkeypatch.setattr(equal_time, "CONTENDERS", contenders)
    monkeypatch.setattr(equal_time, "of_one_size", lambda pictures, *_: pictures)
    given = data, tmp_path, "--turned", "--seconds", 0.02, "--seeds", 1, "--workers", 1
    assert equal_time.main([*map(str, given)]) == 0
    times = json.loads((tmp_path / "milliseconds.json").read_text())
    runs = [json.loads(file.read_text())["settings"] for file in tmp_path.glob("*-turned-0.json")]
    steps = {settings["network"]: settings["steps"] for settings in runs}
    assert steps["plain"] == max(1, round(20 / times["plain"]))


@pytest.mark.slow
def test_photographs(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In color, for an epoch."""
    plan = replace(natural.PLANS["contenders"], variants={"SE(2)": replace(TINY, steps=None)})
    in_threads(monkeypatch)
    monkeypatch.setattr(natural, "PLANS", {"contenders": plan})
    monkeypatch.setattr(natural, "SIDE", 8)
    monkeypatch.setattr(natural, "of_one_size", lambda pictures, *_: pictures)
    images, labels = two_classes(20)
    colored = npz(tmp_path / "b.npz", images=images[..., None].repeat(3, 3), labels=labels)
    sizes = "--train", 12, "--test", 6, "--seeds", 1, "--epochs", 1, "--workers", 1
    given = colored, tmp_path, "--only", "contenders", *sizes
    assert natural.main([*map(str, given)]) == 0
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| SE(2) |")]
    assert row.count("|") == 8
    [run] = tmp_path.glob("*-8-12-6-0.json")
    settings = json.loads(run.read_text())["settings"]
    assert (settings["epochs"], settings["steps"]) == (1, None)
