"""A smoke run of each script of benchmarks/ that says what it is worth; others print tables alone.

Robustness scripts are run in short. The page that they write is checked in `test_results.py`.
"""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmark_scripts import FOLDER, FOLDERS, loaded
from programs import printed_by

classify, climatenet, peers, studies, study_plans, study_tables, equal_time, natural = loaded(
    *("classify", "climatenet", "peers", "studies", "study_plans", "study_tables", "equal_time"),
    "natural",
)
Run = Callable[..., str]
SIDE, TRAIN, TEST = 8, 12, 6


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """What a script prints, which must succeed."""

    def output(script: Any, *options: object) -> str:
        assert not script.main([*map(str, options)])
        return capsys.readouterr().out

    return output


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Pictures of two classes: a bright or a dark square on gray, unmistakable."""
    labels = np.arange(24) % 2
    images = np.random.default_rng(1).integers(100, 140, (24, SIDE, SIDE, 1))
    images[:, 2:6, 2:6] = np.where(labels, 250, 5)[:, None, None, None]
    np.savez(tmp_path / "a.npz", images=images.astype(np.uint8).repeat(3, 3), labels=labels)
    return tmp_path / "a.npz"


@pytest.mark.slow
def test_classifiers(data: Path, tmp_path: Path, run: Run) -> None:
    """They learn, and turned pictures have the same answer; a checkpoint is gone on from."""
    sizes = "--levels", 1, "--orientations", 2, "--widen", 0.25, "--batch", 8, "--seeds", 2
    kept = "--device", "cpu", "--checkpoint", tmp_path / "c.pt", "--json", tmp_path / "a.json"
    given = data, *sizes, *kept, "--epochs", 15
    printed = run(classify, *given)
    assert "Accuracy in % on 5 test images, 19 to train on" in printed
    for one in json.loads((tmp_path / "a.json").read_text())["runs"]:
        assert one["upright"] == one["90 degrees"] >= 75  # it was 100; half would be chance
        assert one["change at 90 degrees"] <= 1e-4
    assert run(classify, *given) == printed


@pytest.mark.slow
def test_climatenet(tmp_path: Path, run: Run) -> None:
    generator = np.random.default_rng(0)
    fields = generator.normal(5, 3, (4, 16, 42)).astype(np.float32)
    labels = np.where(fields[:, 0] > 6, 1, np.where(fields[:, 1] > 6, 2, 0))
    np.savez(tmp_path / "a.npz", fields=fields, labels=labels)
    sizes = "--subdivisions", 1, "--epochs", 2, "--batch", 2, "--seeds", 2, "--device", "cpu"
    printed = run(climatenet, tmp_path / "a.npz", *sizes, "--store", tmp_path / "g.zarr")
    assert "F1 on 1 test samples, 3 to train on" in printed
    row = [line for line in printed.splitlines() if line.startswith("|")][2]
    means = [float(cell.split(" +- ")[0]) for cell in row.strip("| ").split(" | ")]
    assert len(means) == 5
    assert all(0 <= f1 <= 1 for f1 in means)


def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be in this process, as one test has them in others, each of which imports torch."""
    monkeypatch.setattr(studies, "ProcessPoolExecutor", lambda n, **_: ThreadPoolExecutor(n))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Settings of a small network; scripts of studies have few and small pictures."""
    for folder in FOLDERS:  # for processes that import the scripts by their names
        monkeypatch.syspath_prepend(folder)
    for module in (studies, equal_time, natural):
        monkeypatch.setattr(module, "SIDE", SIDE)
    for module in (studies, equal_time):
        monkeypatch.setattr(module, "TRAIN", TRAIN)
        monkeypatch.setattr(module, "TEST", TEST)
    for module in (equal_time, natural):
        monkeypatch.setattr(module, "of_one_size", lambda pictures, *_: pictures)
    return replace(study_plans.BASE, levels=2, orientations=2, widen=0.1, steps=2, batch=4)


@pytest.mark.slow
def test_studies(
    data: Path, tmp_path: Path, run: Run, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They write tables and figures, from runs in processes of their own."""
    variants = {"0.1": tiny, "1": replace(tiny, eps_squared=1.0)}
    study = replace(study_plans.STUDIES["anisotropy"], variants=variants, numeric=True)
    monkeypatch.setattr(studies, "STUDIES", {"anisotropy": study})
    page = tmp_path / "page.md"
    page.write_text("# Before\n<!-- anisotropy -->\nold\n<!-- /anisotropy -->\nAfter\n")
    given = data, tmp_path / "results", "--seeds", 2, "--workers", 1, "--page", page
    assert "Of 4 runs on graphs 4 have exactly the same accuracy" in run(studies, *given)
    assert page.read_text().startswith("# Before\n<!-- anisotropy -->\n| eps^2 | upright | any")
    assert (tmp_path / "page-anisotropy.svg").exists()


@pytest.mark.slow
def test_networks_at_equal_time(
    data: Path, tmp_path: Path, run: Run, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_threads(monkeypatch)
    contenders = {"plain": replace(tiny, network="plain", steps=None), "SE(2)": tiny}
    monkeypatch.setattr(equal_time, "CONTENDERS", contenders)
    sizes = "--seconds", 0.02, "--seeds", 1, "--workers", 1
    run(equal_time, data, tmp_path, "--turned", *sizes)
    times = json.loads((tmp_path / "milliseconds.json").read_text())
    runs = [json.loads(file.read_text())["settings"] for file in tmp_path.glob("*-turned-0.json")]
    steps = {settings["network"]: settings["steps"] for settings in runs}
    assert steps["plain"] == max(1, round(20 / times["plain"]))


@pytest.mark.slow
def test_photographs(
    data: Path, tmp_path: Path, run: Run, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_threads(monkeypatch)
    plan = replace(
        natural.PLANS["contenders"], variants={"SE(2)": replace(tiny, steps=None, batch=32)}
    )
    monkeypatch.setattr(natural, "PLANS", {"contenders": plan})
    sizes = "--train", TRAIN, "--test", TEST, "--seeds", 1, "--epochs", 1, "--workers", 1
    for module in (studies, study_tables):
        monkeypatch.setattr(module, "SECONDS", "of no training on a GPU")
    printed = run(natural, data, tmp_path, "--only", "contenders", *sizes)
    [row] = [line for line in printed.splitlines() if line.startswith("| SE(2) |")]
    assert (row.count("|"), row.split("|")[-2].strip()[0]) == (8, "~")


@pytest.mark.slow
def test_side_by_side(run: Run) -> None:
    """No layer of others is refused, and ours are equivariant."""
    printed = run(peers, "--quick", "--rounds", 1)
    rows = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith("| ")]
    refused = {row[3] for row in rows if "refused" in " ".join(row)}
    assert refused <= {"scikit-learn, ball tree"}
    heads = [number for number, row in enumerate(rows) if "turned image" in row]
    changes = {row[0]: float(row[2]) for row in rows[heads[0] + 1 :]}
    assert changes.pop("plain 3 x 3") > 0.1
    assert max(changes.values()) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "expected"),
    [("kill.py --kills 1 --processes 1", "killed: 1"), ("fuzz.py --mutants 5", "refused: ")],
)
def test_stores_are_disturbed(command: str, expected: str) -> None:
    script, *options = command.split()
    assert expected in printed_by(FOLDER / "robustness" / script, *options)


EXAMINE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from mutants import Part, Results, examine, table
root = Path(sys.argv[2])
part = Part(("tiny/larger.py",), ("tests",))
print(table({"tiny": examine(root, part, 20, "0", Results(root / "results.json"))}))
"""


@pytest.mark.slow
def test_code_is_changed(tmp_path: Path) -> None:
    """Tests run on the changed code: of a maximum they notice all but a change that makes none."""
    for folder in ("tiny", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tiny/larger.py").write_text("def larger(a, b):\n    return a if a > b else b\n")
    test = "from tiny.larger import larger\n\ndef test_larger(): assert larger(1, 2) == 2\n"
    (tmp_path / "tests/test_larger.py").write_text(test)
    options = os.environ | {"PYTEST_ADDOPTS": "-k nothing"}  # which is not for tests within
    printed = printed_by("-c", EXAMINE, FOLDER / "robustness", tmp_path, env=options)
    assert "| tiny | 3 | 2 | 0 | 1 |" in printed
    assert "`a > b` -> `(a >= b)`" in printed
