"""The text that `clg inspect` prints: first what one decides from, each remark once."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.report.inspect import Report
from cheblienet_graphs.report.text import remarks

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


def test_symmetries_are_exact_or_told_by_their_error(reports: dict[str, Report]) -> None:
    symmetries = {name: answers(report)["symmetries"] for name, report in reports.items()}
    assert symmetries["torus"].startswith("exact: rotation 90, rotation 180, flip, translation x")
    assert symmetries["random"] == "none that the sampling has"
    levels = reports["kernel"].levels
    error = max(level.equivariance["rotation_90 (approximate)"] for level in levels)
    assert error > 0.01
    assert symmetries["kernel"] == (
        f"exact: rotation 180, flip |P'LP - L| of rotation 90 (approximate): up to {error:.2g}"
    )


def test_the_spectrum_in_a_line(reports: dict[str, Report]) -> None:
    """On the torus a wave of k cycles on n pixels has 2 n^2 (1 - cos 2 pi k / n), 4 times."""
    n = 128
    first = 2 * n**2 * (1 - math.cos(2 * math.pi / n))
    said = answers(reports["deep"])["spectrum"]
    assert said == f"0, {first:.4g} (4x), {2 * first:.4g}, ... (level 0)"
    assert answers(reports["apart"])["spectrum"] == "0 (6x), ... (level 0)"
    assert "spectrum" not in answers(reports["kernel"])  # no eigenvalues were asked for


def test_what_one_decides_from_comes_first_in_lines_that_fit(reports: dict[str, Report]) -> None:
    for report in reports.values():
        known = [*answers(report)]
        assert known[:4] == LABELS[:4]
        assert known == [label for label in LABELS if label in known]
        assert len(table(report)) == len(report.levels)
        text, full = str(report), report.full_text()
        before, columns, *after = text.split("\n\n")[1:]
        assert max(map(len, "\n".join([before, *after]).splitlines())) <= 80
        assert len({len(line) for line in columns.splitlines()}) == 1
        assert "\u00a0" not in text
        for said in (report.spec_sha256[:12], report.created, "stored entries", "lambda_max"):
            assert said in full
            assert said not in text
    assert answers(reports["apart"])["metric"] == reports["apart"].levels[0].verdict


def test_findings_that_differ_in_numbers_are_given_once(reports: dict[str, Report]) -> None:
    report = reports["deep"]
    assert len({level.verdict for level in report.levels}) == len(report.levels) == 6
    verdict = answers(report)["metric"]
    assert verdict.startswith("levels 0, 1, 2, 3 and 4: consistent with its metric")
    assert verdict.count("(numbers of level 0)") == verdict.count("too coarse") == 1
    zeros = [f"{100 * level.sparsity:.4g} %" for level in report.levels if level.sparsity < 0.985]
    dense = f"{', '.join(zeros[:-1])} and {zeros[-1]} zeros, below the paper's rule of thumb"
    assert " ".join(str(report).split()).count(dense) == 1


def test_connections_are_told(reports: dict[str, Report]) -> None:
    assert answers(reports["torus"])["connected"] == "yes"
    assert answers(reports["apart"])["connected"].startswith("no: level 0: falls into 6 components")
    assert "the mask may be in as many pieces" in answers(reports["pieces"])["connected"]


def row(report: str, title: str) -> list[float]:
    """The numbers of a row of the report's table."""
    (line,) = (line for line in report.splitlines() if line.strip().startswith(title))
    return [float(x) for x in re.split(r"\s{2,}", line.strip())[1:]]


def test_lengths_are_told_in_units_that_can_be_seen(tmp_path: Path) -> None:
    spec = GraphSpec("se2", (48, 24), orientations=4, alpha=2)
    build(spec, tmp_path / "g.zarr", name="plane")
    build(GraphSpec("so3", subdivisions=2, levels=2), tmp_path / "g.zarr", name="sphere")
    known = inspect(tmp_path / "g.zarr", "plane", eigenvalues=0)
    assert "x (right) and y (down)" in known.full_text()
    report, pixels, xi = known.full_text(), np.array([48, 24]), math.sqrt(2 * 4)
    assert row(report, "xi, widths per radian") == pytest.approx(xi / pixels, rel=1e-3)
    assert row(report, "xi, pixels per radian") == pytest.approx([xi] * 2, rel=1e-2)
    spread = np.sqrt([level.bandwidth for level in known.levels]) * pixels
    assert row(report, "sqrt t, pixels") == pytest.approx(spread, rel=1e-2)
    report = inspect(tmp_path / "g.zarr", "sphere", eigenvalues=0).full_text()
    xis = np.sqrt(6 * 4 * math.pi / np.array([162, 42]))
    assert row(report, "xi, radians of arc per radian") == pytest.approx(xis, rel=1e-3)
    assert row(report, "xi, degrees of arc per radian") == pytest.approx(np.rad2deg(xis), rel=1e-2)


def test_what_is_unusual_is_remarked(reports: dict[str, Report]) -> None:
    spec = GraphSpec("se2", 16, orientations=5, xi="auto", levels=1)
    faults = {"eigenvalues_converged": False, "multiplicities_may_be_larger": True}
    unusual = faults | {"in_plane_fraction": 0.9, "dropped_edges": 3, "degree": {"max": 99}}
    text = " ".join(remarks(spec, [replace(reports["kernel"].levels[0], **unusual)]))
    assert "level 0: in-plane fraction 0.900, asked for 0.4" in text
    assert "up to 99 neighbors, more than K = 16" in text
    assert "3 edges left out" in text
    assert "the solver gave up" in text
    assert "may have more copies" in text
