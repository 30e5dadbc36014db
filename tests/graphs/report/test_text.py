"""The text that `clg inspect` prints: first what one decides from, each remark once."""

import math
import re

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.report.inspect import Report

LABELS = ["metric", "connected", "size", "symmetries", "spectrum"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    store = tmp_path_factory.mktemp("short") / "g.zarr"
    mask = np.hypot(*(np.mgrid[:12, :12] - 5.5)) < 6
    pieces = np.zeros((8, 8), bool)
    pieces[1:3, 1:3] = pieces[5:7, 4:7] = True
    specs = {
        "deep": GraphSpec("r2", 128, boundary="periodic", weights="selling", levels=6),
        "torus": GraphSpec("se2", 32, orientations=4, boundary="periodic", weights="selling"),
        "kernel": GraphSpec("se2", 16, orientations=5, eps=0.1, levels=2),
        "masked": GraphSpec("r2", mask=mask, levels=2),
        "pieces": GraphSpec("r2", mask=pieces, levels=1),
        "apart": GraphSpec("se2", "10x8", alpha=1000, neighbors=8, levels=1),
        "random": GraphSpec("s2", points=60, levels=1),
    }
    for name, spec in specs.items():
        build(spec, store, name=name, device="cpu")
    few = {name: 0 if name == "kernel" else 6 for name in specs}
    return {name: inspect(store, name, eigenvalues=few[name]) for name in specs}


def answers(report: Report) -> dict[str, str]:
    """What follows each label, lines joined."""
    block = str(report).split("\n\n")[1]
    found = re.split(r"^  (\w+) +", block, flags=re.MULTILINE)
    return {
        name: " ".join(said.split()) for name, said in zip(found[1::2], found[2::2], strict=True)
    }


def table(report: Report) -> list[list[str]]:
    """The cells of a row for each level."""
    lines = str(report).split("\n\n")[2].splitlines()
    return [re.split(r"  +", line.strip()) for line in lines[2:]]


def test_what_one_decides_from_comes_first(reports: dict[str, Report]) -> None:
    for report in reports.values():
        known = [*answers(report)]
        assert known[:4] == LABELS[:4]
        assert known == [label for label in LABELS if label in known]
        assert len(table(report)) == len(report.levels)
    assert answers(reports["apart"])["metric"] == reports["apart"].levels[0].verdict


def test_lines_fit_a_terminal(reports: dict[str, Report]) -> None:
    for name, report in reports.items():
        before, _, rest = str(report).partition("\n\n   ")
        table_lines, _, after = rest.partition("\n\n")
        assert max(map(len, before.splitlines() + after.splitlines())) <= 80, name
        assert max(map(len, table_lines.splitlines())) <= 97, name
        assert len({len(line) for line in str(report).split("\n\n")[2].splitlines()}) == 1
        assert "\u00a0" not in str(report)
        assert not any(line.endswith(" ") for line in str(report).splitlines())


def test_verdicts_that_differ_in_numbers_are_given_once(reports: dict[str, Report]) -> None:
    report = reports["deep"]
    assert len({level.verdict for level in report.levels}) == len(report.levels) == 6
    said = answers(report)["metric"]
    assert said.count("consistent with its metric") == 1
    assert said.count("too coarse") == 1
    assert said.startswith("levels 0, 1, 2, 3 and 4: ")
    assert "(numbers of level 0)" in said
    errors = [f"{level.spectral_error:.2g}" for level in report.levels]
    assert [float(row[-1].removesuffix(" %")) / 100 for row in table(report)] == pytest.approx(
        [float(error) for error in errors], rel=0.05
    )


def test_remarks_are_made_once(reports: dict[str, Report]) -> None:
    last = " ".join(str(reports["deep"]).split("\n\n")[-1].split())
    assert last.count("below the paper's rule of thumb") == 1
    said = " ".join(str(reports["apart"]).split())
    assert said.count("between which no signal passes") == 1


def test_connections_are_told(reports: dict[str, Report]) -> None:
    assert answers(reports["torus"])["connected"] == "yes"
    assert answers(reports["apart"])["connected"].startswith("no: level 0: falls into 6 components")
    said = answers(reports["pieces"])["connected"]
    assert said.startswith("no: level 0: falls into 2 components")
    assert "what is inside the mask may be in as many pieces" in said


def test_sizes(reports: dict[str, Report]) -> None:
    assert answers(reports["torus"])["size"].startswith("4,096 vertices, 14,336 edges on level 0;")
    assert [row[2] for row in table(reports["torus"])] == ["4,096", "1,024", "256"]
    assert table(reports["apart"])[0][1] == "10x8x6"
    masked = reports["masked"]
    shares = [level.inside for level in masked.levels]
    assert [row[2] for row in table(masked)] == [f"{100 * share:.2g} %" for share in shares]


def test_symmetries_are_exact_or_told_by_their_error(reports: dict[str, Report]) -> None:
    exact = answers(reports["torus"])["symmetries"]
    assert exact == "exact: rotation 90, rotation 180, flip, translation x, translation y"
    assert answers(reports["random"])["symmetries"] == "none that the sampling has"
    levels = reports["kernel"].levels
    error = max(level.equivariance["rotation_90 (approximate)"] for level in levels)
    assert error > 0.01
    assert answers(reports["kernel"])["symmetries"] == (
        f"exact: rotation 180, flip |P'LP - L| of rotation 90 (approximate): up to {error:.2g}"
    )
    square = reports["apart"].levels[0].equivariance
    assert answers(reports["apart"])["symmetries"] == "exact: " + ", ".join(
        name.replace("_", " ") for name in square
    )


def test_the_spectrum_in_a_line(reports: dict[str, Report]) -> None:
    """On the torus a wave of k cycles on n pixels has 2 n^2 (1 - cos 2 pi k / n), 4 times."""
    n = 128
    first = 2 * n**2 * (1 - math.cos(2 * math.pi / n))
    said = answers(reports["deep"])["spectrum"]
    assert said == f"0, {first:.4g} (4x), {2 * first:.4g}, ... (level 0)"
    assert answers(reports["apart"])["spectrum"] == "0 (6x), ... (level 0)"
    assert "spectrum" not in answers(reports["kernel"])  # no eigenvalues were asked for


def test_realized_metrics(reports: dict[str, Report]) -> None:
    row = table(reports["kernel"])[0]
    realized = [m.eps_squared for m in reports["kernel"].levels[0].effective_metric]
    assert row[-2] == f"{min(realized):.2g}..{max(realized):.2g}"
    assert table(reports["apart"])[0][-1] == "-"  # no orientation is linked to another


def test_the_full_text_has_the_rest(reports: dict[str, Report]) -> None:
    for report in reports.values():
        short, full = str(report), report.full_text()
        for said in (report.spec_sha256[:12], report.created, "stored entries", "lambda_max"):
            assert said in full
            assert said not in short
        for level in report.levels:
            assert f"level {level.level}" in full
