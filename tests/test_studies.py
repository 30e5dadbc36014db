"""The studies from digits to a page, and on again after an interruption."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from labelled_files import FOLDER, loaded, npz, two_classes

studies, study_plans, study_tables = map(loaded, ("studies", "study_plans", "study_tables"))
equal_time = loaded("equal_time")

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
    monkeypatch.syspath_prepend(FOLDER)  # for processes that import the scripts by their names
    images, labels = two_classes(20)
    return npz(tmp_path / "a.npz", images=images, labels=np.array(labels))


def page(folder: Path, *names: str) -> Path:
    """With a place for each table, and text around."""
    folder.mkdir()
    parts = "\n".join(f"<!-- {name} -->\nold\n<!-- /{name} -->" for name in names)
    (folder / "page.md").write_text(f"# Before\n{parts}\nAfter\n")
    return folder / "page.md"


@pytest.mark.slow
def test_from_digits_to_a_page(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, written = tmp_path / "results", page(tmp_path / "docs", "anisotropy")
    options = [str(o) for o in (data, results, "--seeds", 2, "--workers", 1, "--page", written)]
    assert studies.main(options) == 0
    table = written.read_text()
    assert table.startswith("# Before\n<!-- anisotropy -->\n| eps^2 | upright | any angle |")
    assert "old" not in table
    rows = [line for line in table.splitlines() if line.startswith("| 0.1 |")]
    assert len(rows) == 1
    assert " 84.3 |" in rows[0]
    assert "Of 4 runs on graphs 4 have exactly the same accuracy" in capsys.readouterr().out
    ET.parse(tmp_path / "docs" / "study-anisotropy.svg")  # it is XML

    files = sorted(results.glob("*.json"))
    assert len(files) == 4
    before = {file: (file.stat().st_mtime_ns, file.read_text()) for file in files}
    files[1].unlink()
    assert studies.main(options) == 0
    assert written.read_text().splitlines()[0] == "# Before"
    for file, (made, text) in before.items():
        if file == files[1]:
            again, first = json.loads(file.read_text()), json.loads(text)
            for one in (again, first):
                one["scores"].pop("processor seconds")
            assert again == first
        else:
            assert file.stat().st_mtime_ns == made


@pytest.mark.slow
def test_equal_time(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    contenders = {"plain": replace(TINY, network="plain", steps=None), "SE(2)": TINY}
    monkeypatch.setattr(equal_time, "CONTENDERS", contenders)
    monkeypatch.setattr(equal_time, "of_one_size", lambda found, *_: found)
    results = tmp_path / "results"
    options = [str(o) for o in (data, results, "--seconds", 0.02, "--seeds", 1, "--workers", 1)]
    assert equal_time.main(options) == 0
    times = json.loads((results / "equal-time-0.02.json").read_text())
    assert set(times) == {"plain", "SE(2)"}
    steps = {
        settings["network"]: settings["steps"]
        for file in results.glob("*-0.json")
        for settings in [json.loads(file.read_text())["settings"]]
    }
    assert steps["plain"] == max(1, round(20 / times["plain"]))
    monkeypatch.setattr(equal_time, "CONTENDERS", {"plain": contenders["plain"]})
    assert equal_time.main(options) == 2
    assert "has times of other networks. Remove it to measure plain." in capsys.readouterr().err
