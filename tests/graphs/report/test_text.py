"""The text that `clg inspect` prints: first what one decides from, each remark once."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from stores import store_of

from cheblienet_graphs import GraphSpec, inspect
from cheblienet_graphs.report.inspect import Report

LABELS = ["metric", "connected", "size", "symmetries", "spectrum"]


PIECES = np.zeros((8, 8), bool)
PIECES[1:3, 1:3] = PIECES[5:7, 4:7] = True
SPECS = {
    "deep": GraphSpec("r2", 128, boundary="periodic", weights="selling", levels=6),
    "torus": GraphSpec("se2", 32, orientations=4, boundary="periodic", weights="selling"),
    "kernel": GraphSpec("se2", 16, orientations=5, eps=0.1, levels=2),
    "pieces": GraphSpec("r2", mask=PIECES, levels=1),
    "apart": GraphSpec("se2", "10x8", alpha=1000, neighbors=8, levels=1),
    "random": GraphSpec("s2", points=60, levels=1),
}
store = store_of(SPECS)


@pytest.fixture(scope="module")
def reports(store: Path) -> dict[str, Report]:
    few = {name: 0 if name == "kernel" else 6 for name in SPECS}
    return {name: inspect(store, name, eigenvalues=few[name]) for name in SPECS}


def answers(report: Report) -> dict[str, str]:
    """What follows each label, lines joined."""
    _, *parts = re.split(r"^  (\w+) +", str(report).split("\n\n")[1], flags=re.MULTILINE)
    return {
        label: " ".join(text.split()) for label, text in zip(parts[::2], parts[1::2], strict=True)
    }


N = 128
WAVE = 2 * N**2 * (1 - math.cos(2 * math.pi / N))
"""On the torus a wave of k cycles on n pixels has 2 n^2 (1 - cos 2 pi k / n), 4 times."""


@pytest.mark.parametrize(
    ("name", "label", "answer"),
    [
        ("torus", "symmetries", "exact: rotation 90, rotation 180, flip, translation x"),
        ("random", "symmetries", "none that the sampling has"),
        ("kernel", "symmetries", r"exact: .*of rotation 90 \(approximate\): up to 0\."),
        ("deep", "spectrum", rf"0, {WAVE:.4g} ± 0.0\d+ \(4x\), {2 * WAVE:.4g} ± 0.0\d+, ... \("),
        ("apart", "spectrum", r"0 \(6x\), ... \(level 0\)$"),
        ("torus", "connected", "yes$"),
        ("apart", "connected", "no: level 0: has 6 components"),
        ("pieces", "connected", "no: .*the mask may have as many parts"),
        ("deep", "metric", "levels 0, 1, 2, 3 and 4: consistent with its metric"),
    ],
)
def test_answers(reports: dict[str, Report], name: str, label: str, answer: str) -> None:
    assert re.match(answer, answers(reports[name])[label])


def test_what_one_decides_from_comes_first_in_lines_that_fit(reports: dict[str, Report]) -> None:
    for report in reports.values():
        assert [*answers(report)] == LABELS[: len(answers(report))]
        text, full = str(report), report.full_text()
        _, before, _, *after = text.split("\n\n")
        assert max(map(len, "\n".join([before, *after]).splitlines())) <= 80
        for detail in (report.spec_sha256[:12], report.created, "stored entries", "lambda_max"):
            assert (detail in full, detail in text) == (True, False)
    assert answers(reports["apart"])["metric"] == reports["apart"].levels[0].verdict


def test_findings_that_differ_in_numbers_are_given_once(reports: dict[str, Report]) -> None:
    report = reports["deep"]
    assert len({level.verdict for level in report.levels}) == len(report.levels) == 6
    verdict = answers(report)["metric"]
    assert verdict.count("(numbers of level 0)") == verdict.count("too coarse") == 1
    assert str(report).count("below the paper's rule") == 1


def test_lengths_are_told_in_units_that_can_be_seen(report_on: Callable) -> None:
    pixels, xi = np.array([48, 24]), math.sqrt(2 * 4)
    plane = report_on(GraphSpec("se2", (48, 24), orientations=4, alpha=2), eigenvalues=0)
    sphere = report_on(GraphSpec("so3", subdivisions=2, levels=2), eigenvalues=0)
    spread = np.sqrt([level.bandwidth for level in plane.levels]) * pixels
    arcs = np.sqrt(6 * 4 * math.pi / np.array([162, 42]))
    for report, title, expected in (
        (plane, "xi, widths per radian", xi / pixels),
        (plane, "xi, pixels per radian", [xi] * 2),
        (plane, "sqrt t, pixels", spread),
        (sphere, "xi, radians of arc per radian", arcs),
        (sphere, "xi, degrees of arc per radian", np.rad2deg(arcs)),
    ):
        [numbers] = re.findall(rf"^ +{title} +(\S+) +(\S+)$", report.full_text(), re.MULTILINE)
        assert [float(number) for number in numbers] == pytest.approx(expected, rel=1e-2)


def test_what_is_unusual_is_remarked(reports: dict[str, Report]) -> None:
    spec = GraphSpec("se2", 16, orientations=5, xi="auto", levels=1)
    faults = {"eigenvalues_converged": False, "multiplicities_may_be_larger": True}
    unusual = faults | {"in_plane_fraction": 0.9, "dropped_edges": 3, "degree": {"max": 99}}
    level = replace(reports["kernel"].levels[0], **unusual)
    text = " ".join(replace(reports["kernel"], spec=spec, levels=(level,)).remarks())
    for part in ("asked for 0.4", "99 neighbors, more", "3 edges left", "did not converge"):
        assert part in text
    assert "multiplicities may be larger" in text
