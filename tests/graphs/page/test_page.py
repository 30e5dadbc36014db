"""The page: whole, alone, escaped, and in agreement with the report."""

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from matplotlib.figure import Figure as Canvas
from parsed_pages import Element, check_page, named
from pictured import opened

from cheblienet_cli.main import run
from cheblienet_graphs import inspect
from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.measure import spectra
from cheblienet_graphs.measure.finding import Finding
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.page import page as pages
from cheblienet_graphs.page.page import page, write_page
from cheblienet_graphs.plot import figure_named
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.report.inspect import Report, examined

HOSTILE = "</svg></figure><script>alert(1)</script> & \"'"


def line(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    canvas.subplots().plot([0, graph.level(asked.level).of_level.vertices])
    return f"A line on level {asked.level} of {graph.name}; `weights='selling'` and {HOSTILE}"


def nothing(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    raise NotDrawnError(f"there is nothing of the kind. {HOSTILE}")


def twins(graph: OpenedGraph, asked: Asked, canvas: Canvas) -> str:
    for axis in canvas.subplots(1, 2):
        axis.imshow([[0.0, 1.0], [2.0, 3.0]])
    return "The same picture, twice."


LINE = Figure("line", f"A line {HOSTILE}", (5, 3), line)
TWINS = Figure("twins", "Twins", (5, 3), twins)
NOTHING = Figure("nothing", "Nothing", (5, 3), nothing)


NAMES = ("plane", "group", "torus isotropic", "masked", "scan", "region", "columns")
"""Of graphs of `pictured`."""


@functools.cache
def reported(name: str) -> tuple[Report, OpenedGraph]:
    """A report on a graph, and the graph."""
    return examined(opened(name), 6, None, None), opened(name)


def made(which: str, figures: Sequence[Figure] = (), **fields: Any) -> Element:
    """The page of a report of which some fields are others."""
    report, graph = reported(which)
    return check_page(page(replace(report, **fields), graph, figures=figures))


def rows(html: Element, name: str) -> dict[str, list[str]]:
    """The rows of a table by their titles."""
    table = named(html, f"{name}-caption").parent
    assert table is not None
    lines = ([cell.words for cell in row.children] for row in table.inside("tr"))
    return {title: cells for title, *cells in lines}


def answers(html: Element) -> dict[str, list[str]]:
    """What is said at first, by question."""
    [glance] = [e for e in html.inside("dl") if e.attributes.get("class") == "glance"]
    terms = (answer.children for answer in glance.children)
    return {question.words: [text.words for text in texts] for question, *texts in terms}


def test_page_and_report_compute_eigenvalues_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known = opened("torus isotropic")
    graph = OpenedGraph(known.version, known.facts)
    solver = Mock(wraps=spectra.smallest_eigenvalues)
    monkeypatch.setattr(spectra, "smallest_eigenvalues", solver)
    page(examined(graph, 6, None, None), graph, figures=[figure_named("spectrum")])
    solver.assert_called_once()


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_whole_and_alone(name: str, tmp_path: Path) -> None:
    report, graph = reported(name)
    document = page(report, graph, figures=[LINE, NOTHING])
    write_page(page(report, graph, figures=[LINE, NOTHING]), tmp_path / "a.html")
    assert document == (tmp_path / "a.html").read_text(encoding="utf-8")
    html = check_page(document)
    assert html.inside("h1")[0].words == f"{report.name}@v001"
    assert not re.search(r"`\w+(=[^`]*)?`|\bNone\b|\bnan\b", html.inside("body")[0].text)
    assert rows(html, "levels-table")["vertices"] == [f"{x.vertices:,}" for x in report.levels]
    assert rows(html, "files").keys() - {"file"} == graph.facts.files.keys()
    for digest in (report.spec_sha256, graph.facts.sha256):
        assert digest in named(html, "provenance").text


def test_the_remedy_is_a_command_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = named(made("group"), "consistency")
    assert part.inside("h2")[0].words == "Consistency"
    assert "The same graph for diffusion and spectra:" in part.words
    [line] = [e.words for e in part.inside("pre")]
    assert line.endswith(" --weights matched --name se2-24x24x4-levels3-matched")
    monkeypatch.chdir(tmp_path)
    assert run([*line.split()[1:], "--quiet", "--store", "g.zarr"]) == 0
    assert reported("group")[0].levels[0].consistency == "kernel weights"
    assert inspect("g.zarr").levels[0].consistency == "not compared"
    assert answers(made("group"))["Consistent with its metric?"][0] == "The paper's weights"
    part = named(made("torus isotropic"), "consistency")
    assert (part.inside("h2")[0].words, part.inside("pre")) == ("Consistency", [])


def test_nothing_that_a_store_says_is_markup() -> None:
    hostile = replace(reported("plane")[0].levels[0], equivariance={HOSTILE: 0.0, "b": 1.0})
    names = dict.fromkeys(("name", "created", "spec_sha256"), HOSTILE)
    generator = {"name": HOSTILE, "version": HOSTILE}
    others = {"refs": (HOSTILE,), "generator": generator, "levels": (hostile,)}
    html = made("plane", [LINE, NOTHING], **names, **others)
    assert html.text.count("<script>alert(1)</script>") > 10


def test_what_one_decides_from() -> None:
    torus, columns = (answers(made(name)) for name in ("torus isotropic", "columns"))
    assert (torus["Consistent with its metric?"], torus["Connected?"]) == (["Yes"], ["Yes"])
    assert torus["Which symmetries?"][0] == "5 exact"
    no, why = columns["Connected?"]
    assert (no, why.partition(";")[0]) == ("No", "level 0: has 64 components")
    first, second, third = reported("group")[0].levels
    changed = replace(second, finding=Finding("not measured", (1,)))
    differing = answers(made("group", levels=(first, changed, third)))[
        "Consistent with its metric?"
    ]
    assert differing == ["Not on every level", "why"]


def test_figures_of_one_level_come_with_titles_and_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    report, graph = reported("group")
    one = replace(report, levels=report.levels[1:])
    drawn = [LINE, NOTHING, TWINS]
    shown = {"figures": drawn}
    html = check_page(page(one, graph, **shown))
    assert "A line on level 1 of" in named(html, "figure-line-caption").words
    assert " edges on level 1; " in answers(html)["How large?"][0]
    _, second = named(html, "figures").inside("figure")
    assert len(second.inside("image")) == 2  # equal pictures, which have no equal names
    [left_out] = [e.words for e in named(html, "figures").inside("li")]
    assert left_out.startswith("Nothing: there is nothing of the kind.")
    monkeypatch.setattr(pages, "MOST_BYTES", 10_000)
    part = named(check_page(page(one, graph, **shown)), "figures")
    assert part.inside("figure") == []
    assert "clg plot line" in [e.words for e in part.inside("code")]


def test_a_heading_promises_no_exact_eigenvalues_where_there_are_none() -> None:
    html = made("group", [figure_named("spectrum")])
    assert "drawn alone, as no spectrum is known exactly" in named(html, "figures").words
    assert "exact" not in named(html, "figure-spectrum-title").words


def test_the_certificate_has_what_was_measured() -> None:
    [level] = reported("torus isotropic")[0].levels
    html = made("torus isotropic")
    assert rows(html, "equivariance")["flip"] == ["0"]
    moments = rows(html, "moments")
    assert [*moments][2:] == ["−90°", "−45°", "0°", "45°"]
    assert float(moments["0°"][0]) == pytest.approx(level.effective_metric[2].eps_squared, rel=0.01)
    delta, _, known, error = rows(html, "eigenvalues")[f"{level.multiplicities[1]}"]
    true = level.exact_eigenvalues[1]
    numbers = [float(text.split()[0]) for text in (delta, known, error)]
    off = 100 * (level.eigenvalues[1] / true - 1)
    assert numbers == pytest.approx([level.eigenvalues[1], true, off], rel=1e-4, abs=0.1)
    none = {"eigenvalues": [], "multiplicities": [], "exact_eigenvalues": None}
    none |= {"effective_metric": [], "equivariance": {}}
    part = named(made("torus isotropic", levels=(replace(level, **none),)), "certificate")
    assert part.inside("table") == []
    assert "nothing was measured" in part.words
